import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { operationsOf, type PlaceFlag } from '../../builtins/cli/configuration/config-patch.ts';
import { type AdminHost, startAdmin } from '../admin/kit.ts';
import { MASTER_KEY, temporaryFolder } from '../kit/index.ts';
import { type CommandOptions, type CommandResult, runCommand } from './commands.ts';
import { expectOneError } from './support.ts';

const SECRET = 'planted-4Zq7-header';
const CONFIG = {
  targets: [{ virtual_key: 'echo', weight: 1 }],
  aliases: { fast: 'echo-1', 'gpt-4.1': 'echo-1' },
  plugins: [
    { name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: ['aardvark'] } },
    { name: 'word-filter', stage: 'after_request', enabled: true, config: { blocked_words: ['aardvark'] } },
  ],
  mcp_servers: [{ name: 'a', url: 'http://127.0.0.1:9/mcp', headers: { Authorization: SECRET } }],
};

interface Scene {
  readonly t: AdminHost;
  readonly cwd: string;
  readonly gw: (args: readonly string[], io?: CommandOptions['io']) => Promise<CommandResult>;
  readonly kept: () => any;
}

async function scene(): Promise<Scene> {
  const t = await startAdmin({}, CONFIG);
  const cwd = await temporaryFolder();
  const variables = { GW_URL: t.url, MASTER_KEY, NO_COLOR: '1' };
  return {
    t,
    cwd,
    kept: () => t.host.applier.running.document,
    gw: (args, io = {}) => runCommand(['admin', 'config', ...args], { cwd, variables, io }),
  };
}

describe('gw admin config patch', () => {
  it('changes parts beside what is withheld, in the order of the flags, and shows what changes', async () => {
    const { gw, kept } = await scene();
    const flags = ['--set', 'targets.echo.weight=3', '--set', 'aliases["gpt-5.6"]="echo-1"', '--unset', 'aliases.fast'];
    const patched = await gw(['patch', ...flags, '--set', 'aliases.plain=echo-1', '--unset', 'plugins[0]']);
    expect(patched.stderr).to.equal('');
    expect(patched.stdout)
      .to.include('targets[0].weight\n  - 1\n  + 3\n')
      .and.to.match(/\[OK\] Configuration updated\.\n$/);
    expect(kept().targets).to.deep.equal([{ virtual_key: 'echo', weight: 3 }]);
    expect(kept().aliases).to.deep.equal({ 'gpt-4.1': 'echo-1', 'gpt-5.6': 'echo-1', plain: 'echo-1' });
    expect(kept().plugins.map(({ stage }: any) => stage)).to.deep.equal(['after_request']);
    expect(kept().mcp_servers[0].headers.Authorization).to.equal(SECRET);
    const added = await gw(['patch', '--add', 'targets={"virtual_key": "openai"}', '--format', 'json']);
    expect(JSON.parse(added.stdout)).to.deep.include({ status: 'updated', version: 2 });
    const nothing = await gw(['patch', '--set', 'targets.echo.weight=3']);
    expect(nothing.stdout).to.equal('No changes.\n[OK] Nothing to change.\n');
    expect(JSON.parse((await gw(['source', '--format', 'json'])).stdout)).to.include({ version: 2, in_force: 'store' });
  });

  it('asks a person, and changes nothing without a yes', async () => {
    const { gw, kept } = await scene();
    const asked: string[] = [];
    const answering = (answer: string): CommandOptions['io'] => ({
      terminal: { columns: 80, isColoured: false },
      ask: async (question) => {
        asked.push(question);
        return answer;
      },
    });
    const refused = await gw(['patch', '--unset', 'aliases.fast'], answering('n'));
    expect([refused.code, refused.stderr, kept().aliases.fast]).to.deep.equal([1, 'Nothing was changed.\n', 'echo-1']);
    expect((await gw(['patch', '--unset', 'aliases.fast'], answering('y'))).code).to.equal(0);
    expect(kept().aliases).to.deep.equal({ 'gpt-4.1': 'echo-1' });
    expect((await gw(['patch', '--set', 'aliases.fast=echo-1', '--yes'], answering('n'))).code).to.equal(0);
    expect(asked).to.have.lengthOf(2);
  });

  it('sends a JSON Patch from a file as it is', async () => {
    const { gw, kept, cwd } = await scene();
    await writeFile(join(cwd, 'p.json'), '[{"op": "copy", "from": "/aliases/fast", "path": "/aliases/copy"}]');
    expect((await gw(['patch', '--file', 'p.json'])).stderr).to.equal('');
    expect(kept().aliases.copy).to.equal('echo-1');
    await writeFile(join(cwd, 'bad.json'), '{"op": "remove"}');
    expectOneError(await gw(['patch', '--file', 'bad.json']), 'bad.json is not a JSON Patch');
    expectOneError(await gw(['patch', '--file', 'none.json']), 'none.json cannot be read');
    expectOneError(await gw(['patch', '--file', 'p.json', '--unset', 'a']), '--file holds the whole patch');
    expectOneError(await gw(['patch']), 'nothing to change: use --set');
    expectOneError(await gw(['patch', '--set', 'targets.echo.weight=many']), 'targets[0].weight');
  });

  const WRONG: readonly (readonly [flag: PlaceFlag, text: string, says: string])[] = [
    ['set', 'aliases.fast', 'lacks a value'],
    ['set', 'aliases.fast={"a"', 'is not JSON'],
    ['set', 'targets.other.weight=1', 'no entry is called "other", and the list has 1'],
    ['set', 'targets[1].weight=1', 'no entry is called "1"'],
    ['set', 'plugins.word-filter.enabled=false', '2 entries are called "word-filter"; use one of the numbers 0, 1'],
    ['unset', 'a.b', 'there is no "a"'],
    ['set', 'aliases.fast.b=1', 'there is no "b"'],
    ['set', 'a..b=1', 'is not a place'],
    ['unset', 'aliases.slow', 'there is no "slow"'],
    ['unset', '', 'is not a place'],
    ['add', 'aliases.fast=1', 'it is not a list; use --set'],
  ];
  for (const [flag, text, says] of WRONG)
    it(`refuses --${flag} ${text || 'without a place'}`, () => {
      expect(() => operationsOf(CONFIG, [[flag, text]])).to.throw(says);
    });
});

describe('a place whose maps are not there yet', () => {
  it('is made with them', () => {
    expect(operationsOf({}, [['set', 'aliases["gpt-4.1"]=echo']])).to.deep.equal([
      { op: 'add', path: '/aliases', value: { 'gpt-4.1': 'echo' } },
    ]);
    const both = operationsOf({ mcp: {} }, [
      ['set', 'mcp.a.b=1'],
      ['add', 'mcp.a.c=2'],
    ]);
    expect(both).to.deep.equal([
      { op: 'add', path: '/mcp/a', value: { b: 1 } },
      { op: 'add', path: '/mcp/a/c', value: [2] },
    ]);
  });
});

describe('gw admin config set of what the gateway showed', () => {
  it('leaves what is withheld where it was, and refuses a mark in a place that changed', async () => {
    const { gw, kept, cwd } = await scene();
    const shown = JSON.parse((await gw(['get'])).stdout);
    expect(JSON.stringify(shown)).to.include('[REDACTED').and.not.to.include(SECRET);
    const write = (config: object): Promise<void> => writeFile(join(cwd, 'c.json'), JSON.stringify(config));
    await write({
      ...shown,
      aliases: { fast: 'echo-1' },
      mcp_servers: [...shown.mcp_servers, { name: 'b', url: 'http://127.0.0.1:10/mcp' }],
    });
    const set = await gw(['set', '--file', 'c.json']);
    expect([set.code, set.stderr]).to.deep.equal([0, '']);
    expect(set.stdout)
      .to.include('aliases.gpt-4.1\n  - echo-1\n')
      .and.to.match(/\[OK\] Configuration updated\.\n$/);
    expect(kept().mcp_servers.map(({ headers }: any) => headers?.Authorization)).to.deep.equal([SECRET, undefined]);
    const again = await gw(['set', '--file', 'c.json']);
    expect(again.stdout).to.equal('No changes.\n[OK] Configuration updated.\n');
    await write({
      ...shown,
      mcp_servers: [{ name: 'c', url: 'http://127.0.0.1:11/mcp', headers: shown.mcp_servers[0].headers }],
    });
    expectOneError(await gw(['set', '--file', 'c.json']), 'BV40');
    const { headers } = shown.mcp_servers[0];
    await write({
      ...shown,
      mcp_servers: [...shown.mcp_servers, { name: 'd', url: 'http://127.0.0.1:9/mcp', headers }],
    });
    expectOneError(await gw(['set', '--file', 'c.json']), 'mcp_servers', 'it is withheld');
    expect(JSON.stringify(kept())).not.to.include('[REDACTED');
  });
});

describe('gw admin config source', () => {
  it('says it for people and as data', async () => {
    const { gw } = await scene();
    expect((await gw(['source'])).stdout).to.equal(
      'In force: built-in defaults\nNext start: built-in defaults\nVersion: 0\nFile: none\nWithheld: mcp_servers[0].headers\n',
    );
    await gw(['patch', '--set', 'aliases.fast=echo-2']);
    expect((await gw(['source'])).stdout).to.match(
      /^In force: written through the admin API\nNext start: built-in defaults\nVersion: 1 of \S+, by master-key:\w+\n/,
    );
  });
});
