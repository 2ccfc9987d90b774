import { spawnSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { mock } from 'node:test';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ConfigRefused, type Problem } from '../../host/config/problems.ts';
import { type Discovered, discover, type DiscoverOptions } from '../../host/registry/discover.ts';
import { loadConfiguration } from '../../host/start/steps.ts';
import { atEnd, temporaryFolder } from '../kit/index.ts';
import { anything, bareHost, CONFIG, writeTree } from './support.ts';

function find(folder: string, options: Partial<DiscoverOptions> = {}): Promise<Discovered> {
  return discover({
    folders: [folder],
    packages: [],
    packagesFrom: folder,
    isShipped: () => false,
    loading: (_module, load) => load(),
    ...options,
  });
}

/** What was found: kind, expected name and the file from the folder on. */
function told({ candidates }: Discovered, folder: string): string[] {
  return candidates.map(({ kind, expectedName, origin }) => `${kind} ${expectedName} ${relative(folder, origin)}`);
}

describe('module discovery', () => {
  it('finds files and folders of each kind, sorted by name, providers before strategies before plugins', async () => {
    const folder = await writeTree({
      'plugins/b.ts': anything('b'),
      'plugins/a/index.ts': anything('a'),
      'strategies/s.js': anything('s'),
      'providers/z.mjs': anything('z'),
      'providers/y/index.mts': anything('y'),
      'providers/x/index.js': anything('x'),
    });
    expect(told(await find(folder), folder)).to.deep.equal([
      'provider x providers/x/index.js',
      'provider y providers/y/index.mts',
      'provider z providers/z.mjs',
      'strategy s strategies/s.js',
      'plugin a plugins/a/index.ts',
      'plugin b plugins/b.ts',
    ]);
  });

  it('hands on what a file exports by default', async () => {
    const folder = await writeTree({ 'plugins/a.ts': "const a: object = { name: 'a' };\nexport default a;\n" });
    const { candidates, problems } = await find(folder);
    expect(candidates.map(({ value }) => value)).to.deep.equal([{ name: 'a' }]);
    expect(problems).to.deep.equal([]);
  });

  it('reads only files: what a pipe or a device brings may never end', async () => {
    const folder = await writeTree({ 'plugins/inner/other.ts': '', 'listed/other.ts': '' });
    for (const place of ['plugins/device.ts', 'plugins/inner/index.ts', 'listed/device.js'])
      await symlink('/dev/null', join(folder, place));
    const { candidates, problems } = await find(folder, { packages: ['./listed/device.js'] });
    expect(candidates).to.deep.equal([]);
    expect(problems.map(({ rule, message }) => [rule, message])).to.deep.equal([
      ['MV10', 'it cannot be imported: it is not a file, but a pipe or a device'],
      ['MV10', 'it cannot be imported: it is not a file, but a pipe or a device'],
      ['MV10', 'file ./listed/device.js: it cannot be imported: it is not a file, but a pipe or a device'],
    ]);
  });

  it('skips names with _ or . in front, type declarations and files that hold no code', async () => {
    const folder = await writeTree({
      'plugins/_shared.ts': anything('x'),
      'plugins/_more/index.ts': anything('x'),
      'plugins/.hidden.ts': anything('x'),
      'plugins/.git/index.ts': anything('x'),
      'plugins/types.d.ts': 'export {};',
      'plugins/README.md': '#',
      'plugins/data.json': '{}',
      'plugins/a.ts': anything('a'),
    });
    expect(told(await find(folder), folder)).to.deep.equal(['plugin a plugins/a.ts']);
  });

  it('skips what stands beside modules of one file: their packages, fixtures and tests', async () => {
    const folder = await writeTree({
      'plugins/own.ts': anything('own'),
      'plugins/own.spec.ts': 'throw 1;',
      'plugins/package.json': '{"type":"module"}',
      'plugins/node_modules/a/index.js': 'throw 1;',
      'plugins/node_modules/index.js': 'throw 1;',
      'plugins/fixtures/settings.json': '{}',
      'strategies/fixtures/index.ts': anything('fixtures'),
    });
    const found = await find(folder);
    expect(found.problems).to.deep.equal([]);
    expect(told(found, folder)).to.deep.equal([
      'strategy fixtures strategies/fixtures/index.ts',
      'plugin own plugins/own.ts',
    ]);
  });

  it('looks one level deep, and only into the three folders', async () => {
    const folder = await writeTree({
      'plugins/a/index.ts': anything('a'),
      'plugins/a/inner/index.ts': anything('x'),
      'plugins/a/b.ts': anything('x'),
      'c.ts': anything('x'),
      'src/d.ts': anything('x'),
    });
    expect(told(await find(folder), folder)).to.deep.equal(['plugin a plugins/a/index.ts']);
  });

  it('finds nothing where there are no such folders', async () => {
    const folder = await writeTree({ 'config.yaml': '' });
    expect(await find(folder)).to.deep.equal({ candidates: [], problems: [], refused: [] });
  });

  it('takes one folder after the other', async () => {
    const first = await writeTree({ 'plugins/b.ts': anything('b') });
    const second = await writeTree({ 'plugins/a.ts': anything('a') });
    const { candidates } = await find(first, { folders: [first, second] });
    expect(candidates.map(({ expectedName }) => expectedName)).to.deep.equal(['b', 'a']);
  });

  it('does not import what is shipped', async () => {
    const folder = await writeTree({
      'plugins/shipped.ts': "throw new Error('imported');",
      'plugins/own.ts': anything('own'),
    });
    const found = await find(folder, { isShipped: (kind, name) => kind === 'plugin' && name === 'shipped' });
    expect(found.problems).to.deep.equal([]);
    expect(told(found, folder)).to.deep.equal(['plugin own plugins/own.ts']);
  });

  it('finds a folder and a file that are linked', async () => {
    const elsewhere = await writeTree({ 'acme/index.ts': anything('acme'), 'guard.ts': anything('guard') });
    const folder = await writeTree({ 'providers/own/index.ts': anything('own'), 'plugins/own.ts': anything('own') });
    await symlink(join(elsewhere, 'acme'), join(folder, 'providers/acme'));
    await symlink(join(elsewhere, 'guard.ts'), join(folder, 'plugins/guard.ts'));
    expect(told(await find(folder), folder)).to.deep.equal([
      'provider acme providers/acme/index.ts',
      'provider own providers/own/index.ts',
      'plugin guard plugins/guard.ts',
      'plugin own plugins/own.ts',
    ]);
  });

  it('reports a folder without an index file', async () => {
    const folder = await writeTree({ 'providers/acme/request.ts': anything('x') });
    const { candidates, problems } = await find(folder);
    expect(candidates).to.deep.equal([]);
    expect(problems).to.have.lengthOf(1);
    expect(problems[0]).to.include({ rule: 'MV10', path: join(folder, 'providers/acme') });
  });

  it('reports a file or a link that leads nowhere where one of the three folders belongs', async () => {
    const folder = await writeTree({ plugins: 'plugins of mine\n' });
    await symlink('nowhere', join(folder, 'strategies'));
    const { problems, candidates } = await find(folder);
    expect(candidates).to.deep.equal([]);
    expect(problems.map(({ path, rule, message }) => [relative(folder, path), rule, message])).to.deep.equal([
      ['strategies', 'MV10', 'it is a link that leads nowhere'],
      ['plugins', 'MV10', 'it is not a folder, and modules are looked for in a folder of this name'],
    ]);
  });

  it('reports every file that cannot be imported, and imports the others', async () => {
    const folder = await writeTree({
      'plugins/a.ts': 'export default {',
      'plugins/b.ts': "throw new Error('no licence\\nsecond line');",
      'plugins/c.ts': "throw 'text';",
      'plugins/d.ts': "import './nothing.ts';",
      'plugins/e.ts': 'enum A { B }',
      'plugins/f.ts': anything('f'),
    });
    const { candidates, problems } = await find(folder);
    expect(candidates).to.have.lengthOf(1);
    expect(problems.map(({ path, rule }) => `${rule} ${relative(folder, path)}`)).to.deep.equal(
      ['a', 'b', 'c', 'd', 'e'].map((name) => `MV10 plugins/${name}.ts`),
    );
    expect(problems[1]?.message).to.equal('it cannot be imported: no licence');
    expect(problems[2]?.message).to.equal('it cannot be imported: text');
    expect(problems[3]?.message).to.include('nothing.ts');
  });

  it('reports what changes all objects and lists, and puts them back', async () => {
    const folder = await writeTree({
      'plugins/a.js': 'Object.prototype.extra = 1;\nexport default {};',
      'plugins/b.js': "Array.prototype.map = () => { throw new Error('mine'); };\nexport default {};",
      'plugins/c.js':
        'Object.defineProperty(Array.prototype, "latest", { value: 1, configurable: true });\nexport default {};',
      'config.json': '{"targets":[{"virtual_key":"echo"}]}',
    });
    // A process of its own, in which these may be changed: in those of other tests they are frozen.
    const { stderr } = spawnSync(
      process.execPath,
      [fileURLToPath(new URL('../../host/gw.js', import.meta.url)), 'validate', join(folder, 'config.json')],
      { encoding: 'utf8' },
    );
    expect(stderr.replaceAll(folder, '.'))
      .to.include(
        './plugins/a.js: MV10: it cannot be imported: it adds "extra" to Object.prototype, and so to every object of the process; fix: ',
      )
      .and.include(
        './plugins/b.js: MV10: it cannot be imported: it replaces Array.prototype.map, which everything in the process uses; fix: ',
      )
      .and.include('./plugins/c.js: MV01');
  });

  it('gives up on an import that does not finish, and goes on with the next', async () => {
    const folder = await writeTree({ 'plugins/a.ts': 'await new Promise(() => {});', 'plugins/b.ts': anything('b') });
    mock.timers.enable({ apis: ['setTimeout'] });
    atEnd(() => mock.timers.reset());
    const finding = find(folder);
    const time = setInterval(() => mock.timers.tick(1000), 1); // the limit is ten seconds; nothing here waits that long
    const found = await finding.finally(() => clearInterval(time));
    expect(found.problems.map(({ path, message }) => [relative(folder, path), message])).to.deep.equal([
      ['plugins/a.ts', 'it cannot be imported: its import did not finish within 10000 ms'],
    ]);
    expect(told(found, folder)).to.deep.equal(['plugin b plugins/b.ts']);
  });
});

describe('packages of the modules list', () => {
  const manifest = (name: string, more: object): string => JSON.stringify({ name, type: 'module', ...more });
  const stamped = (kind: string, name: string): string => `{ kind: '${kind}', name: '${name}' }`;

  it('give one module or a list, of the kind that each states, in the order they are listed', async () => {
    const folder = await writeTree({
      'node_modules/gw-one/package.json': manifest('gw-one', { main: 'index.js' }),
      'node_modules/gw-one/index.js': `export default ${stamped('strategy', 'one')};`,
      'node_modules/@acme/gw-many/package.json': manifest('@acme/gw-many', { exports: './index.js' }),
      'node_modules/@acme/gw-many/index.js': `export default [${stamped('provider', 'p')}, ${stamped('plugin', 'q')}];`,
    });
    const { candidates, problems } = await find(folder, { packages: ['gw-one', '@acme/gw-many'] });
    expect(problems).to.deep.equal([]);
    expect(candidates.map(({ kind, origin, expectedName }) => [kind, origin, expectedName])).to.deep.equal([
      ['strategy', 'package gw-one', undefined],
      ['provider', 'package @acme/gw-many', undefined],
      ['plugin', 'package @acme/gw-many', undefined],
    ]);
  });

  it("are found by the usual rules, from the configuration's folder upwards", async () => {
    const folder = await writeTree({
      'node_modules/gw-one/package.json': manifest('gw-one', { exports: './index.js' }),
      'node_modules/gw-one/index.js': `export default ${stamped('plugin', 'one')};`,
      'etc/gw/config.yaml': '',
    });
    const { candidates } = await find(join(folder, 'etc/gw'), { packages: ['gw-one'] });
    expect(candidates).to.have.lengthOf(1);
  });

  it('may export for import alone, as packages of modules do', async () => {
    const folder = await writeTree({
      'node_modules/gw-one/package.json': manifest('gw-one', { exports: { '.': { import: './index.js' } } }),
      'node_modules/gw-one/index.js': `export default ${stamped('plugin', 'one')};`,
    });
    const { candidates, problems } = await find(folder, { packages: ['gw-one'] });
    expect(problems).to.deep.equal([]);
    expect(candidates).to.have.lengthOf(1);
  });

  it('may be linked, and then hold TypeScript', async () => {
    const folder = await writeTree({
      'work/gw-one/package.json': manifest('gw-one', { exports: './index.ts' }),
      'work/gw-one/index.ts': `const one: object = ${stamped('plugin', 'one')};\nexport default one;`,
      'node_modules/.keep': '',
    });
    await symlink(join(folder, 'work/gw-one'), join(folder, 'node_modules/gw-one'));
    const { candidates, problems } = await find(folder, { packages: ['gw-one'] });
    expect(problems).to.deep.equal([]);
    expect(candidates).to.have.lengthOf(1);
  });

  it('are reported when they are absent, hold TypeScript under node_modules, or cannot be imported', async () => {
    const folder = await writeTree({
      'node_modules/gw-typed/package.json': manifest('gw-typed', { exports: './index.ts' }),
      'node_modules/gw-typed/index.ts': 'export default 1;',
      'node_modules/gw-throws/package.json': manifest('gw-throws', { exports: './index.js' }),
      'node_modules/gw-throws/index.js': "throw new Error('no');",
    });
    const { candidates, problems } = await find(folder, { packages: ['gw-absent', 'gw-typed', 'gw-throws'] });
    expect(candidates).to.deep.equal([]);
    expect(problems.map(({ path, rule }) => `${path} ${rule}`)).to.deep.equal([
      'modules[0] MV10',
      'modules[1] MV10',
      'modules[2] MV10',
    ]);
    expect(problems[0]?.message).to.include('gw-absent');
    expect(problems[1]?.message).to.include('node_modules');
  });

  it('are reported when they export an empty list', async () => {
    const folder = await writeTree({
      'node_modules/gw-none/package.json': manifest('gw-none', { exports: './index.js' }),
      'node_modules/gw-none/index.js': 'export default [];',
    });
    const { candidates, problems } = await find(folder, { packages: ['gw-none'] });
    expect(candidates.length + problems.length, 'something to report').to.be.greaterThan(0);
  });
});

describe('the folders that are searched', () => {
  const broken = 'export default 1;\n';
  const ofModules = (problems: readonly Problem[] = []): string[] =>
    problems.filter(({ rule }) => rule.startsWith('MV')).map(({ path }) => path);

  it("are the installation's and the one of the configuration file", async () => {
    const install = await writeTree({ 'plugins/a.ts': broken });
    const folder = await writeTree({ 'config.yaml': CONFIG, 'plugins/b.ts': broken });
    const loaded = await loadConfiguration(bareHost(install), join(folder, 'config.yaml'));
    expect(ofModules(loaded?.problems)).to.deep.equal([join(install, 'plugins/a.ts'), join(folder, 'plugins/b.ts')]);
  });

  it('are one where they are the same, however the path is written', async () => {
    const folder = await writeTree({ 'config.yaml': CONFIG, 'plugins/a.ts': broken });
    const loaded = await loadConfiguration(bareHost(folder), relative(process.cwd(), join(folder, 'config.yaml')));
    expect(ofModules(loaded?.problems)).to.have.lengthOf(1);
  });

  it('are one where a link leads to the other', async () => {
    const folder = await writeTree({ 'config.yaml': CONFIG, 'plugins/a.ts': broken });
    const link = join(await temporaryFolder(), 'link');
    await symlink(folder, link);
    const loaded = await loadConfiguration(bareHost(folder), join(link, 'config.yaml'));
    expect(ofModules(loaded?.problems)).to.have.lengthOf(1);
  });

  it("are the installation's alone without a configuration file, and a broken module stops the start then too", async () => {
    const install = await writeTree({ 'plugins/a.ts': broken });
    const refusal = await loadConfiguration(bareHost(install), undefined).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(ConfigRefused);
    expect(ofModules((refusal as ConfigRefused).problems)).to.deep.equal([join(install, 'plugins/a.ts')]);
  });

  it('are read although the file itself cannot be, so that one report tells everything', async () => {
    const folder = await writeTree({ 'config.yaml': 'targets: [', 'plugins/a.ts': broken });
    const loaded = await loadConfiguration(bareHost(await temporaryFolder()), join(folder, 'config.yaml'));
    expect(loaded?.problems.map(({ rule }) => rule.slice(0, 2))).to.deep.equal(['DC', 'MV']);
  });
});
