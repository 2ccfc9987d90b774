import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { PLACES } from '../../builtins/cli/modules/shipped/shipped-places.ts';
import { copyCheckout, forSuite, inSoak, isSoak, mochaIn, some } from '../kit/index.ts';
import { skipWithGaps } from '../providers/places.ts';
import { takenAway } from '../providers/take-away.ts';
import { type CommandResult, ROOT, runCommand } from './commands.ts';

const run = promisify(execFile);

/** In the middle of the others; with a hyphen and a digit; the name of a plugin, whose identifier the manifest has already. */
const NAMES = ['kumo', ...(isSoak() ? ['lemon-3', 'budget'] : [])];
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
    let before = await textsIn(folder);
    for (const name of NAMES) {
      const result = await ship(folder, name);
      const after = await textsIn(folder);
      shipped.push({ name, result, before, after });
      before = after;
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

  inSoak(
    'writes what passes the tests of providers, docs and manifest; a place that is forgotten then is one failure, which names provider and file',
    async () => {
      const { folder } = opened();
      const place = PLACES[6]!; // each of them: test/providers/forgotten.test.ts
      const file = join(folder, place.file);
      const text = await readFile(file, 'utf8');
      if (!isSoak()) await writeFile(file, takenAway(place, text, 'kumo'));
      const { passes, failures } = await mochaIn(folder, [
        'test/architecture/manifest.test.ts',
        'test/contract/providers/coverage.test.ts',
        ...some(
          [
            'test/catalog/shipped.test.ts',
            'test/config/docs.test.ts',
            'test/contract/providers/matrix.test.ts',
            'test/docs/catalogue.test.ts',
            'test/docs/chat-fields.test.ts',
          ],
          { every: 5, from: 1 },
        ),
        'test/providers/gaps.test.ts',
        'test/providers/places.test.ts',
        ...NAMES.map((name) => `test/providers/${name}.test.ts`),
      ]);
      await writeFile(file, text);
      expect(failures, failures.join('\n')).to.have.lengthOf(isSoak() ? 0 : 1);
      if (!isSoak()) expect(failures.flat().join(' ')).to.include('kumo').and.to.include(place.file);
      expect(passes).to.be.greaterThan(isSoak() ? 150 : 40);
    },
  );

  it('refuses a name that it has added, and leaves everything as it is', async () => {
    const { folder, shipped } = opened();
    const before = shipped.at(-1)!.after;
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
