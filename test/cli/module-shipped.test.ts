import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { PLACES } from '../../builtins/cli/modules/shipped/shipped-places.ts';
import { copyCheckout, forSuite, inSoak, mochaIn } from '../kit/index.ts';
import { skipWithGaps } from '../providers/places.ts';
import { type CommandResult, ROOT, runCommand } from './commands.ts';

const run = promisify(execFile);

/** In the middle of the others; with a hyphen and a digit; the name of a plugin, whose identifier the manifest has already. */
const NAMES = ['kumo', 'lemon-3', 'budget'] as const;
const CHANGED = [...new Set(PLACES.map(({ file }) => file))].toSorted();
const createdOf = (name: string): string[] => [
  `providers/${name}/index.ts`,
  ...['error-401.json', 'error-404.json', 'reply.json', 'stream.txt'].map(
    (file) => `test/fixtures/${name}/chat/${file}`,
  ),
  `test/providers/${name}.test.ts`,
];

/** The texts of the files of a copy, by path. */
async function textsIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const files = globSync('**/*.{ts,json,md,txt}', { cwd: folder, exclude: ['node_modules'] });
  const texts = new Map<string, string>();
  for (const file of files.map((path) => path.replaceAll('\\', '/')))
    texts.set(file, await readFile(join(folder, file), 'utf8'));
  return texts;
}

/** Paths whose text is not as it was. */
const differing = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((file) => before.get(file) !== after.get(file)).toSorted();

interface Shipped {
  readonly name: string;
  readonly result: CommandResult;
  readonly before: ReadonlyMap<string, string>;
  readonly after: ReadonlyMap<string, string>;
}

const isSorted = (names: readonly string[]): boolean => names.toSorted().join() === names.join();

describe('gw module new provider --shipped', () => {
  before(skipWithGaps);
  const ship = (folder: string, name: string): Promise<CommandResult> =>
    runCommand(['module', 'new', 'provider', name, '--shipped'], { cwd: folder });
  const opened = forSuite(async () => {
    const folder = await copyCheckout();
    const shipped: Shipped[] = [];
    for (const name of NAMES) {
      const before = await textsIn(folder);
      const result = await ship(folder, name);
      shipped.push({ name, result, before, after: await textsIn(folder) });
    }
    return { folder, shipped };
  });

  for (const [at, name] of NAMES.entries())
    it(`writes the files of ${name}, adds it to every place, and changes nothing else`, () => {
      const { result, before, after } = opened().shipped[at]!;
      expect([result.code, result.stdout], result.stderr).to.deep.equal([0, '']);
      const written = [...createdOf(name), ...CHANGED].toSorted();
      expect(differing(before, after)).to.deep.equal(written);
      expect(
        written.filter((file) => !result.stderr.includes(file)),
        'files that it does not name',
      ).to.deep.equal([]);
      for (const { file, what, names } of PLACES) {
        const [were, are] = [names(before.get(file) ?? ''), names(after.get(file) ?? '')];
        expect(are, what).to.include(name);
        expect(
          are.filter((each) => each !== name),
          what,
        ).to.deep.equal(were);
        if (isSorted(were)) expect(are, what).to.satisfy(isSorted);
      }
    });

  it('writes what passes the tests of providers, docs and manifest', async () => {
    const { passes, failures } = await mochaIn(opened().folder, [
      'test/architecture/manifest.test.ts',
      'test/catalog/shipped.test.ts',
      'test/config/docs.test.ts',
      'test/contract/providers/coverage.test.ts',
      'test/contract/providers/matrix.test.ts',
      'test/docs/catalogue.test.ts',
      'test/docs/chat-fields.test.ts',
      'test/providers/places.test.ts',
      ...NAMES.map((name) => `test/providers/${name}.test.ts`),
    ]);
    expect(failures).to.deep.equal([]);
    expect(passes).to.be.greaterThan(150);
  });

  it('refuses a name that it has added, and leaves everything as it is', async () => {
    const { folder } = opened();
    const before = await textsIn(folder);
    const { code, stderr } = await ship(folder, 'kumo');
    expect(code).to.equal(1);
    expect(stderr).to.include('builtins/manifest.ts names the provider "kumo" already');
    expect(differing(before, await textsIn(folder))).to.deep.equal([]);
  });

  inSoak('writes what compiles, and is laid out', async () => {
    const bin = (program: string): string => join(ROOT, 'node_modules/.bin', program);
    await run(bin('tsc'), [], { cwd: opened().folder });
    await run(bin('oxfmt'), ['--check'], { cwd: opened().folder });
  });
});
