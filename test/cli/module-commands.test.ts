import { execFile } from 'node:child_process';
import { readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { CONTRACT_VERSION } from 'gw/contract';
import { systemClock } from '../../host/common/clock.ts';
import { runGw, some, temporaryFolder } from '../kit/index.ts';
import { runCommand } from './commands.ts';
import { SOURCES, writeTree } from '../registry/support.ts';

const REGISTER = fileURLToPath(new URL('../../host/registry/register.ts', import.meta.url));
const run = promisify(execFile);

const NEW: readonly (readonly [args: readonly string[], path: string])[] = [
  [['provider', 'my-own'], 'providers/my-own'],
  [['provider', 'my-native', '--wire', 'native'], 'providers/my-native'],
  [['strategy', 'my-own'], 'strategies/my-own'],
  [['plugin', 'my-own'], 'plugins/my-own'],
  [['plugin', 'packed', '--package'], 'gw-packed/src'],
];

describe('gw module new', () => {
  it('writes modules that pass their contract, their own tests and validate, without anything installed', async () => {
    const cwd = await writeTree({
      'config.json': JSON.stringify({
        strategy: { mode: 'my-own', settings: { first: 'my-own' } },
        targets: [{ virtual_key: 'my-native' }, { virtual_key: 'my-own' }],
        plugins: [{ name: 'my-own', stage: 'before_request', enabled: true, config: { words: ['x'] } }],
      }),
    });
    for (const [args] of NEW) {
      const made = await runCommand(['module', 'new', ...args], { cwd });
      expect([made.code, made.stdout], made.stderr).to.deep.equal([0, '']);
    }
    for (const [, path] of some(NEW, { from: 1 })) {
      const tested = await runGw(['module', 'test', path], { cwd });
      expect([tested.code, tested.stderr], tested.stdout).to.deep.equal([0, '']);
      expect(tested.stdout).to.match(/\d+ checks, all hold\n$/);
    }
    const { code, stderr } = await runGw(['validate', 'config.json'], { cwd });
    expect([code, stderr]).to.deep.equal([0, '']);
    const tests = NEW.map(([, path]) => join(path, 'index.test.ts'));
    const { stdout } = await run(
      process.execPath,
      ['--import', REGISTER, '--test', '--test-reporter', 'tap', '--test-isolation', 'none', ...tests],
      { cwd, env: { PATH: process.env['PATH'] } },
    );
    expect(stdout).to.match(/^# fail 0$/m);
  });

  it('writes a package that states its contract and builds into its own folder', async () => {
    const cwd = await temporaryFolder();
    await runCommand(['module', 'new', 'plugin', 'packed', '--package'], { cwd });
    const manifest = JSON.parse(await readFile(join(cwd, 'gw-packed/package.json'), 'utf8')) as Record<string, any>;
    expect([manifest['name'], manifest['type'], manifest['gw'].contract]).to.deep.equal([
      'gw-packed',
      'module',
      `^${CONTRACT_VERSION}`,
    ]);
    expect(JSON.parse(await readFile(join(cwd, 'gw-packed/tsconfig.json'), 'utf8')).compilerOptions).to.include({
      outDir: 'dist',
      rootDir: 'src',
    });
  });

  it('refuses an unknown kind or wire, a bad name, and what is shipped or there already, and writes nothing', async () => {
    const cwd = await writeTree({ 'plugins/mine/notes.txt': '' });
    const refusals: readonly (readonly [args: readonly string[], said: string])[] = [
      [['guardrail', 'x'], '"guardrail" is not a kind of module'],
      [['plugin', 'My_Own'], '"My_Own" cannot be the name'],
      [['provider', 'x', '--wire', 'grpc'], '--wire is common or native'],
      [['provider', 'openai'], 'is shipped'],
      [['plugin', 'mine'], 'exists already'],
      [['provider', 'x', '--shipped'], 'run it in the root folder of a checkout'],
      [['plugin', 'x', '--shipped'], '--shipped is of a provider of the common wire'],
    ];
    for (const [args, said] of refusals) {
      const { code, stdout, stderr } = await runCommand(['module', 'new', ...args], { cwd });
      expect([code, stdout], said).to.deep.equal([1, '']);
      expect(stderr)
        .to.match(/^Error: /)
        .and.to.include(said);
    }
    expect(await readdir(cwd)).to.deep.equal(['plugins']);
    expect(await readdir(join(cwd, 'plugins/mine'))).to.deep.equal(['notes.txt']);
  });
});

describe('gw module test', () => {
  it('exits with 1 and names each check that fails, as a table or as JSON', async () => {
    const cwd = await writeTree({
      'plugins/typo.ts': SOURCES.plugin('typo').replace("type: 'logging'", "type: 'loging'"),
    });
    const { code, stdout } = await runGw(['module', 'test', 'plugins/typo.ts'], { cwd });
    expect(code).to.equal(1);
    expect(stdout)
      .to.include('FAIL  keeps the rules of the gateway\n        MV04: type must be one of')
      .and.to.match(/\d+ checks, 1 failed\n$/);
    const results = JSON.parse(
      (await runGw(['module', 'test', 'plugins/typo.ts', '--format', 'json'], { cwd })).stdout,
    ) as { title: string; ok: boolean }[];
    expect(results.filter(({ ok }) => !ok).map(({ title }) => title)).to.deep.equal(['keeps the rules of the gateway']);
  });

  const ODD: readonly (readonly [does: string, source: string, said: string])[] = [
    [
      'has no text for a name',
      'export default { kind: "plugin", contract: 1, name: Symbol("odd"), type: "logging", summary: "s", stages: ["before_request"], create: () => ({}) };',
      'MV04: name must be',
    ],
    [
      'lists nothing where a list belongs',
      'export default { kind: "plugin", contract: 1, name: "odd", surfaces: 7 };',
      'MV04: surfaces must be a list',
    ],
    [
      'has a name that cannot be shown',
      'export default { kind: "plugin", contract: 1, name: { toString() { throw new Error("no name"); } } };',
      'MV04: name must be',
    ],
    [
      'has a kind that is none',
      'export default { kind: { toString() { throw new Error("no kind"); } } };',
      'MV01: it has no default export',
    ],
    [
      'cannot be looked at',
      'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); export default proxy;',
      'MV04: it cannot be looked at',
    ],
  ];
  for (const [does, source, said] of ODD) {
    it(`says by rule what is wrong with one that ${does}`, async () => {
      const cwd = await writeTree({ 'plugins/odd.js': source });
      const { code, stdout, stderr } = await runCommand(['module', 'test', 'plugins/odd.js'], { cwd });
      expect(code).to.equal(1);
      expect(stdout + stderr).to.include(said);
      expect(/^ {2}FAIL {2}keeps the rules|plugins\/odd\.js: MV/m.test(stdout + stderr), stdout + stderr).to.equal(
        true,
      );
    });
  }

  it('ends a check that never ends, and names it', async () => {
    const cwd = await writeTree({
      'plugins/waits.js':
        'export default { kind: "plugin", contract: 1, name: "waits", type: "logging", summary: "s", stages: ["before_request"], settings: { validate: (value) => ({ value }) }, create: () => ({ then() {} }) };',
    });
    const soon = { ...systemClock, timer: (_ms: number, then: () => void) => systemClock.timer(20, then) };
    const { code, stdout, stderr } = await runCommand(['module', 'test', 'plugins/waits.js'], { cwd, clock: soon });
    expect(code, stderr).to.equal(1);
    expect(stdout).to.match(
      /FAIL {2}has a handler for each of its stages.*\n {8}it did not finish within 10000 ms\n\n3 checks, 3 failed\n$/,
    );
  });

  it('tells a path where nothing stands from a link that leads nowhere', async () => {
    const folder = await temporaryFolder();
    await symlink(join(folder, 'gone'), join(folder, 'link'));
    const said = async (path: string): Promise<string> =>
      (await runCommand(['module', 'test', path], { cwd: folder })).stderr;
    expect(await said('plugins/none'))
      .to.include('there is no such file or folder')
      .and.include('fix: correct the path');
    expect(await said('link')).to.include('it is a link that leads nowhere');
  });

  it('says what keeps a file from being loaded', async () => {
    const cwd = await writeTree({
      'a.ts': 'export default {',
      'b.ts': 'export const b = 1;',
      'notes.txt': '',
      'empty/notes.txt': '',
    });
    for (const [path, said] of [
      ['a.ts', 'MV10: it cannot be imported'],
      ['b.ts', 'MV01: it has no default export'],
      ['notes.txt', 'MV10: it is not a file of code'],
      ['empty', 'MV10: the folder holds no index'],
      ['nothing.ts', 'MV10: '],
    ] as const) {
      const { code, stderr } = await runCommand(['module', 'test', path], { cwd });
      expect(code, path).to.equal(1);
      expect(stderr).to.include(said);
    }
  });
});

describe('gw module list', () => {
  it('shows what is loaded, from where and in which version, those of others first', async () => {
    const folder = await writeTree({
      'config.yaml': 'targets: [{ virtual_key: echo }]\nmodules: [gw-one, ./two.js]\n',
      'plugins/watch.ts': SOURCES.plugin('watch'),
      'two.js': SOURCES.strategy('two'),
      'node_modules/gw-one/package.json': JSON.stringify({
        name: 'gw-one',
        version: '1.2.3',
        type: 'module',
        exports: './index.js',
      }),
      'node_modules/gw-one/index.js': SOURCES.strategy('one'),
    });
    const { code, stdout } = await runGw([
      'module',
      'list',
      '--config',
      join(folder, 'config.yaml'),
      '--format',
      'json',
    ]);
    const rows = JSON.parse(stdout) as { kind: string; name: string; from: string; version: string | null }[];
    expect(code).to.equal(0);
    expect(rows.slice(0, 3)).to.deep.equal([
      { kind: 'strategy', name: 'one', from: 'package gw-one', version: '1.2.3' },
      { kind: 'strategy', name: 'two', from: 'file ./two.js', version: null },
      { kind: 'plugin', name: 'watch', from: join(folder, 'plugins/watch.ts'), version: null },
    ]);
    expect(rows.find(({ name }) => name === 'openai')).to.deep.equal({
      kind: 'provider',
      name: 'openai',
      from: 'shipped',
      version: 'dev',
    });
    const table = await runGw(['module', 'list'], { cwd: folder });
    expect(table.stdout)
      .to.match(/^KIND +NAME +FROM +VERSION\n/)
      .and.to.match(/^strategy +one +package gw-one +1\.2\.3$/m);
  });

  it('reports modules that are refused', async () => {
    const folder = await writeTree({
      'config.yaml': 'targets: [{ virtual_key: echo }]\n',
      'plugins/a.ts': 'export default {',
    });
    const { code, stdout, stderr } = await runCommand(['module', 'list'], { cwd: folder });
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.include('plugins/a.ts: MV10');
  });

  it('reports a configuration that cannot be read: what it lists is not known', async () => {
    const { code, stdout, stderr } = await runCommand(['module', 'list', '--config', 'nope.yaml']);
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.include('nope.yaml: DC05');
  });
});
