import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
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
const KINDS = ['litellm', 'portkey', 'bifrost'] as const;
/** Documents of other gateways, in the shapes that their documentation shows: sources.json says where. */
const SOURCES = KINDS.flatMap((kind) =>
  readdirSync(new URL(`${kind}/`, FIXTURES)).map((file) => [kind, `${kind}/${file}`] as const),
);
/** Names of it would go elsewhere: one of two providers is unknown here. */
const ELSEWHERE = 'litellm/half-carried.yaml';
const PROVIDERS = new Map(
  MODULES.flatMap((module) => (module.kind === 'provider' ? [[module.name, module] as const] : [])),
);

const nameOf = (file: string): string => file.replace(/\.\w+$/, '');
const documentOf = (file: string): object => parse(readFileSync(new URL(file, FIXTURES), 'utf8')) as object;

const surroundings = { providers: PROVIDERS, lookUp: () => undefined };

async function folderWith(...files: readonly string[]): Promise<string> {
  const cwd = await temporaryFolder();
  for (const file of files) await writeFile(join(cwd, basename(file)), await readFile(new URL(file, FIXTURES)));
  return cwd;
}

describe('gw import', () => {
  for (const [kind, file] of SOURCES) {
    it(`reads ${file}: what it becomes and what is said of it; the result is valid, and explains to where it went`, async () => {
      const cwd = await folderWith(file);
      const accepts = file === ELSEWHERE ? ['--accept-elsewhere'] : [];
      const { code, stdout, stderr } = await runCommand(['import', kind, basename(file), ...accepts], { cwd });
      expect(code, stderr).to.equal(0);
      expect(stdout).to.equal(golden(`import/expected/${nameOf(file)}.yaml`));
      expect(stderr).to.equal(golden(`import/expected/${nameOf(file)}.txt`));
      expect(stdout + stderr).to.not.contain('secret-of');
      expect(stderr.includes('\nElsewhere: ')).to.equal(file === ELSEWHERE);
      await writeFile(join(cwd, 'config.yaml'), stdout);
      const valid = await runCommand(['validate', 'config.yaml'], { cwd });
      expect([valid.code, valid.stderr]).to.deep.equal([0, '']);
    });
  }

  it('names for each of these documents where its shape is shown, and when it was read', () => {
    const sources = JSON.parse(readFileSync(new URL('sources.json', FIXTURES), 'utf8')) as Record<string, any>;
    expect(Object.keys(sources)).to.have.members(SOURCES.map(([, file]) => nameOf(file)));
    expect(SOURCES.length).to.be.at.least(30);
    for (const { source, read } of Object.values(sources)) {
      expect(source).to.match(/^[\w.-]+\.\w+[/,]/);
      expect(read).to.match(/^2026-\d\d-\d\d$/);
    }
  });

  it('writes nothing while a name would go to another place than before, and names both', async () => {
    const cwd = await folderWith(ELSEWHERE);
    const before = await readdir(cwd);
    const { code, stdout, stderr } = await runCommand(['import', 'litellm', basename(ELSEWHERE), '-o', 'config.yaml'], {
      cwd,
    });
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.contain('nothing is written: 1 of the names would go to another place');
    expect(stderr).to.contain(
      'granite: watsonx ibm/granite-3-8b 50 %, replicate ibm-granite/granite-3-8b 50 % → replicate ibm-granite/granite-3-8b 100 %',
    );
    expect(await readdir(cwd)).to.deep.equal(before);
    const accepted = await runCommand(
      ['import', 'litellm', basename(ELSEWHERE), '-o', 'config.yaml', '--accept-elsewhere'],
      { cwd },
    );
    expect(accepted.code).to.equal(0);
    expect(accepted.stderr.split('\n')[2]).to.equal('Elsewhere: 1');
  });

  it('takes addresses and settings that are variables from here, and never a secret', async () => {
    const cwd = await folderWith('litellm/references.yaml');
    const variables = {
      AZURE_API_BASE: 'https://eu.openai.azure.com',
      AZURE_API_BASE_2: 'https://user:secret-of-user@us.openai.azure.com',
      AZURE_API_VERSION: '2024-10-21',
      AZURE_API_KEY: 'secret-of-azure-here',
      AWS_REGION_NAME: 'eu-central-1',
    };
    const { code, stdout, stderr } = await runCommand(['import', 'litellm', 'references.yaml'], { cwd, variables });
    expect(code, stderr).to.equal(0);
    const { providers } = parse(stdout) as { providers: Record<string, any> };
    expect(providers['azure-openai']).to.deep.include({
      base_url: 'https://eu.openai.azure.com',
      settings: { api_version: '2024-10-21' },
      api_key: '${AZURE_API_KEY}',
    });
    expect(providers['azure-openai-2'].base_url).to.equal('https://us.openai.azure.com');
    expect(providers['bedrock'].settings).to.deep.equal({ region: 'eu-central-1' });
    expect(stdout + stderr).to.not.contain('secret-of');
  });

  it('reports by patterns with a count, and every line with --full', async () => {
    const cwd = await folderWith('litellm/uncarried.yaml');
    const short = await runCommand(['import', 'litellm', 'uncarried.yaml'], { cwd });
    const full = await runCommand(['import', 'litellm', 'uncarried.yaml', '--full'], { cwd });
    expect(short.stdout).to.equal(full.stdout);
    expect(short.stderr).to.match(
      /model_list\[\*\]\.model_info\.\* {2}4 × gw has no setting for it, such as model_list\[0\]\.model_info\./,
    );
    expect(full.stderr).to.contain('model_list[0].model_info.input_cost_per_token: gw has no setting for it');
  });

  it('names only variables that the providers read, or that the result refers to', () => {
    const known = new Set(
      [...PROVIDERS.values()].flatMap(({ name, connection: { env, optionalEnv = [], baseUrlEnv } }) => [
        ...env.flat(),
        ...optionalEnv,
        baseUrlEnv ?? `${name.toUpperCase().replaceAll('-', '_')}_BASE_URL`,
      ]),
    );
    for (const [kind, file] of SOURCES) {
      const { document, variables } = importDocument(kind, documentOf(file), surroundings);
      const referred: readonly string[] = JSON.stringify(document).match(/(?<=\$\{)\w+(?=\})/g) ?? [];
      for (const { name, state } of variables)
        expect(
          known.has(name) || name === 'MASTER_KEY' || state === 'place' || referred.includes(name),
          `${name} of ${file}`,
        ).to.equal(true);
      for (const name of referred) expect(variables.map((one) => one.name)).to.include(name);
    }
  });

  it('as a process: writes the file that -o names, for its owner alone, and leaves what exists', async () => {
    const cwd = await folderWith('bifrost/custom-providers.json');
    const first = await runGw(['import', 'bifrost', 'custom-providers.json', '-o', 'config.json'], { cwd });
    expect([first.code, first.stdout]).to.deep.equal([0, '']);
    expect(first.stderr).to.contain(', into config.json\n');
    expect((await stat(join(cwd, 'config.json'))).mode & 0o777).to.equal(0o600);
    expect((await runGw(['validate', 'config.json'], { cwd })).code).to.equal(0);
    const second = await runGw(['import', 'bifrost', 'custom-providers.json', '-o', 'config.json'], { cwd });
    expect([second.code, second.stdout]).to.deep.equal([1, '']);
    expect(second.stderr).to.match(/^Error: config\.json exists[^\n]*\n$/);
  });

  it('prints JSON where it is asked for', async () => {
    const cwd = await folderWith('portkey/everything.json');
    const { stdout } = await runCommand(['import', 'portkey', 'everything.json', '--format', 'json'], { cwd });
    expect(JSON.parse(stdout)).to.deep.equal(parse(golden('import/expected/portkey/everything.yaml')));
  });

  it('refuses in one line what it cannot read, and writes nothing', async () => {
    const cwd = await folderWith('litellm/plain.yaml');
    await writeFile(join(cwd, 'broken.yaml'), 'model_list: [\n');
    await writeFile(join(cwd, 'other.yaml'), 'a: 1\n');
    const before = await readdir(cwd);
    const uses: readonly (readonly [args: readonly string[], said: string])[] = [
      [['litelm', 'plain.yaml'], 'did you mean "litellm"?'],
      [['litellm', 'none.yaml'], 'none.yaml'],
      [['litellm', 'broken.yaml'], 'broken.yaml'],
      [['litellm', 'other.yaml'], 'no provider that gw has'],
      [['litellm', 'plain.txt'], 'extension'],
      [['litellm'], '<file>'],
      [['bifrost', 'plain.yaml'], 'no provider that gw has'],
      [['litellm', 'plain.yaml', '-o', 'a.toml'], 'a.toml'],
      [['litellm', 'plain.yaml', '-o', 'a.yaml', '--format', 'json'], 'change one of the two'],
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
      const [kind, file] = new Dice(seed).pick(SOURCES);
      const document = mutated(documentOf(file), new Dice(seed));
      const imported = importDocument(kind, document, surroundings);
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
