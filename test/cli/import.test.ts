import { readFileSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { importDocument } from '../../builtins/cli/import/formats.ts';
import { leavesOf } from '../../builtins/cli/import/reading.ts';
import { importReport } from '../../builtins/cli/import/report.ts';
import { MODULES } from '../../builtins/manifest.ts';
import { decodeText } from '../../host/config/decode.ts';
import { problemLine } from '../../host/config/problems.ts';
import { checkConfig } from '../../host/generation/check.ts';
import { cases, Dice, golden, runGw, temporaryFolder } from '../kit/index.ts';
import { commandHost, runCommand } from './commands.ts';

const FIXTURES = new URL('../fixtures/import/', import.meta.url);
/** Documents of other gateways, in the shapes that their documentation shows. */
const SOURCES = [
  ['litellm', 'litellm.yaml'],
  ['portkey', 'portkey.json'],
  ['portkey', 'portkey-conditional.json'],
  ['bifrost', 'bifrost.json'],
] as const;
const PROVIDERS = new Map(
  MODULES.flatMap((module) => (module.kind === 'provider' ? [[module.name, module] as const] : [])),
);

const nameOf = (file: string): string => file.replace(/\.\w+$/, '');
const documentOf = (file: string): object => parse(readFileSync(new URL(file, FIXTURES), 'utf8')) as object;

async function folderWith(...files: readonly string[]): Promise<string> {
  const cwd = await temporaryFolder();
  for (const file of files) await writeFile(join(cwd, file), await readFile(new URL(file, FIXTURES)));
  return cwd;
}

describe('gw import', () => {
  for (const [kind, file] of SOURCES) {
    it(`reads ${file}: what it becomes and what is said of it, and the result is valid`, async () => {
      const cwd = await folderWith(file);
      const { code, stdout, stderr } = await runCommand(['import', kind, file], { cwd });
      expect(code, stderr).to.equal(0);
      expect(stdout).to.equal(golden(`import/expected/${nameOf(file)}.yaml`));
      expect(stderr).to.equal(golden(`import/expected/${nameOf(file)}.txt`));
      expect(stdout + stderr).to.not.contain('secret-of');
      await writeFile(join(cwd, 'config.yaml'), stdout);
      const valid = await runCommand(['validate', 'config.yaml'], { cwd });
      expect([valid.code, valid.stderr]).to.deep.equal([0, '']);
    });
  }

  it('routes as the other gateway did: aliases, weights, what follows where one fails', async () => {
    const cwd = await folderWith('litellm.yaml');
    const ordered = {
      model_list: [
        ['claude', 'anthropic/claude-sonnet-4-5'],
        ['gpt-4o', 'openai/gpt-4o'],
      ].map(([model_name, model]) => ({ model_name, litellm_params: { model } })),
      router_settings: { fallbacks: [{ 'gpt-4o': ['claude'] }] },
    };
    await writeFile(join(cwd, 'ordered.json'), JSON.stringify(ordered));
    await writeFile(
      join(cwd, 'request.json'),
      JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] }),
    );
    const variables = {
      OPENAI_API_KEY: 'x',
      ANTHROPIC_API_KEY: 'x',
      AZURE_OPENAI_API_KEY: 'x',
      AZURE_OPENAI_ENDPOINT: 'https://x.openai.azure.com',
      AZURE_OPENAI_DEPLOYMENT: 'gpt-4o-eu',
      AWS_REGION: 'eu-central-1',
    };
    const orderOf = async (file: string): Promise<string[]> => {
      await runCommand(['import', 'litellm', file, '-o', `of-${nameOf(file)}.yaml`], { cwd });
      const { stdout, stderr } = await runCommand(
        ['explain', '--config', `of-${nameOf(file)}.yaml`, '--request', 'request.json', '--format', 'json'],
        { cwd, variables },
      );
      expect(stderr).to.equal('');
      return JSON.parse(stdout).order.map(({ target }: { target: string }) => target);
    };
    expect(await orderOf('ordered.json')).to.deep.equal(['openai', 'anthropic']);
    const drawn = await orderOf('litellm.yaml');
    expect(drawn).to.have.members(['azure-openai', 'openai', 'anthropic']);
    expect(drawn[0]).to.not.equal('anthropic');
  });

  it('names only variables that the providers read', () => {
    const known = new Set(
      [...PROVIDERS.values()].flatMap(({ name, connection: { env, optionalEnv = [], baseUrlEnv } }) => [
        ...env.flat(),
        ...optionalEnv,
        baseUrlEnv ?? `${name.toUpperCase().replaceAll('-', '_')}_BASE_URL`,
      ]),
    );
    for (const [kind, file] of SOURCES) {
      for (const { name } of importDocument(kind, documentOf(file), { providers: PROVIDERS, lookUp: () => undefined }).variables)
        expect(known.has(name) || name === 'MASTER_KEY', name).to.equal(true);
    }
  });

  it('as a process: writes the file that -o names, for its owner alone, and leaves what exists', async () => {
    const cwd = await folderWith('bifrost.json');
    const first = await runGw(['import', 'bifrost', 'bifrost.json', '-o', 'config.json'], { cwd });
    expect([first.code, first.stdout]).to.deep.equal([0, '']);
    expect(first.stderr).to.contain(', into config.json\n');
    expect((await stat(join(cwd, 'config.json'))).mode & 0o777).to.equal(0o600);
    expect((await runGw(['validate', 'config.json'], { cwd })).code).to.equal(0);
    const second = await runGw(['import', 'bifrost', 'bifrost.json', '-o', 'config.json'], { cwd });
    expect([second.code, second.stdout]).to.deep.equal([1, '']);
    expect(second.stderr).to.match(/^Error: config\.json exists[^\n]*\n$/);
  });

  it('prints JSON where it is asked for', async () => {
    const cwd = await folderWith('portkey.json');
    const { stdout } = await runCommand(['import', 'portkey', 'portkey.json', '--format', 'json'], { cwd });
    expect(JSON.parse(stdout)).to.deep.equal(parse(golden('import/expected/portkey.yaml')));
  });

  it('refuses in one line what it cannot read, and writes nothing', async () => {
    const cwd = await folderWith('litellm.yaml');
    await writeFile(join(cwd, 'broken.yaml'), 'model_list: [\n');
    await writeFile(join(cwd, 'other.yaml'), 'a: 1\n');
    const before = await readdir(cwd);
    const uses: readonly (readonly [args: readonly string[], said: string])[] = [
      [['litelm', 'litellm.yaml'], 'did you mean "litellm"?'],
      [['litellm', 'none.yaml'], 'none.yaml'],
      [['litellm', 'broken.yaml'], 'broken.yaml'],
      [['litellm', 'other.yaml'], 'no provider that gw has'],
      [['litellm', 'litellm.txt'], 'extension'],
      [['litellm'], '<file>'],
      [['bifrost', 'litellm.yaml'], 'no provider that gw has'],
      [['litellm', 'litellm.yaml', '-o', 'a.toml'], 'a.toml'],
      [['litellm', 'litellm.yaml', '-o', 'a.yaml', '--format', 'json'], 'change one of the two'],
    ];
    for (const [args, said] of uses) {
      const { code, stdout, stderr } = await runCommand(['import', ...args], { cwd });
      expect([code, stdout], args.join(' ')).to.deep.equal([1, '']);
      expect(stderr)
        .to.match(/^Error: [^\n]+\n$/)
        .and.to.contain(said);
    }
    expect(await readdir(cwd)).to.deep.equal(before);
  });
});

describe('whatever is imported', () => {
  const isWithin = (path: readonly unknown[], above: readonly unknown[]): boolean =>
    above.every((part, at) => part === path[at]);

  it('stands in the report by its path or in the result, no secret in either, and the result is valid', async () => {
    const host = commandHost({ cwd: await temporaryFolder() });
    host.registry.seal();
    for (let seed = 0; seed < cases(3000); seed += 1) {
      const [kind, file] = SOURCES[seed % SOURCES.length] ?? SOURCES[0];
      const document = mutated(documentOf(file), new Dice(seed));
      const imported = importDocument(kind, document, { providers: PROVIDERS, lookUp: () => undefined });
      const { carried, different, left } = imported.outcome;
      const where = `seed ${seed}: ${JSON.stringify(document)}`;
      for (const leaf of leavesOf(document, []))
        expect(
          [...carried, ...different, ...left].some(({ path }) => isWithin(leaf, path)),
          `${JSON.stringify(leaf)} of ${where}`,
        ).to.equal(true);
      for (const { path } of carried)
        expect(
          left.some((mark) => isWithin(path, mark.path)),
          `${JSON.stringify(path)} of ${where}`,
        ).to.equal(false);
      for (const { path, reason } of [...left, ...different]) expect(reason, JSON.stringify(path)).to.not.equal('');
      const said =
        JSON.stringify(imported.document) +
        JSON.stringify(imported.variables.map(({ name, value, from }) => [name, value, from])) +
        importReport(imported, {
          kind,
          file,
          title: '',
          output: undefined,
          isFull: true,
          proof: { lost: [], elsewhere: [], asked: 0 },
          keys: [],
        });
      expect(said, where).to.not.contain('secret-of');
      const targets = imported.document['targets'] as readonly object[];
      if (targets.length > 0)
        expect(
          checkConfig(host, decodeText(JSON.stringify(imported.document), 'json')).map(problemLine),
          where,
        ).to.deep.equal([]);
    }
    await host.close();
  });

  /** Values that a document may hold where another one is meant. */
  const JUNK: readonly unknown[] = [
    null,
    '',
    ' ',
    'x',
    'openai/gpt-4o',
    'os.environ/NAME',
    'env.NAME',
    '*',
    -1,
    0,
    1.5,
    1e9,
    true,
    [],
    {},
    ['a'],
    [{ a: ['claude'] }],
    { a: 'b' },
    { __proto__: null, constructor: 'x' },
  ];

  /** Some of its values exchanged, left out, repeated or renamed. */
  function mutated(document: object, dice: Dice): object {
    const copy = structuredClone(document) as Record<string, any>;
    for (let count = dice.below(6); count >= 0; count -= 1) {
      const path = dice.pick(leavesOf(copy, []));
      const depth = 1 + dice.below(path.length);
      const holder = path.slice(0, depth - 1).reduce<any>((value, part) => value[part], copy);
      const name = path[depth - 1] as string;
      if (name === undefined) continue;
      const what = dice.below(5);
      const isList = Array.isArray(holder);
      if (what === 0 && !isList)
        holder[
          dice.pick(['weight', 'model', 'provider', 'api_key', 'targets', 'keys', 'unknown', 'num_retries', 'timeout'])
        ] = dice.pick(JUNK);
      else if (what === 1 && isList) holder.push(structuredClone(holder[Number(name)]));
      else if (what === 2 && !isList) delete holder[name];
      else holder[name] = structuredClone(dice.pick(JUNK));
    }
    return copy;
  }
});
