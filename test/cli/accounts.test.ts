import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { MASTER_KEY, startHost, type TestHost, temporaryFolder } from '../kit/index.ts';
import { runCommand } from './commands.ts';
import { expectOneError, stub } from './support.ts';

interface Scene {
  readonly t: TestHost;
  readonly gw: (...args: string[]) => ReturnType<typeof runCommand>;
  /** What the gateway has of an account. */
  readonly shown: (path: string) => Promise<any>;
}

async function scene(config: object = {}): Promise<Scene> {
  const t = await startHost({ targets: [{ virtual_key: 'echo' }], ...config });
  return {
    t,
    gw: (...args) => runCommand(['admin', 'accounts', ...args, '--gateway-url', t.url, '--api-key', MASTER_KEY]),
    shown: async (path) => (await t.get(`/admin/accounts?path=${encodeURIComponent(path)}`)).json().data[0],
  };
}

const budgetsOf = ({ budgets = [] }: { budgets?: any[] }): object[] =>
  budgets.map(({ state: _state, ...written }) => written);

describe('gw admin accounts', () => {
  it('makes an account, changes what is named, keeps the rest, and deletes it', async () => {
    const { gw, shown } = await scene();
    const made = await gw('set', '/acme/search', '--usd', '50', '--every', 'day', '--at', '06:00', '--title', 'Search');
    expect([made.code, made.stdout]).to.deep.equal([0, '[OK] Account made.\n']);
    expect(await shown('/acme/search')).to.include({ origin: 'stored', title: 'Search' });
    expect((await gw('set', '/acme/search', '--tokens', '1000', '--rpm', '5', '--block')).stdout).to.contain('changed');
    expect((await gw('set', '/acme/search', '--usd', '60', '--every', 'day', '--at', '06:00')).code).to.equal(0);
    const account = await shown('/acme/search');
    expect(account).to.include({ title: 'Search', rpm: 5, blocked: true });
    expect(budgetsOf(account)).to.deep.equal([{ usd: 60, every: 'day', at: '06:00' }, { tokens: 1000 }]);
    expect((await gw('set', '/acme/search', '--unblock', '--max-parallel', '3', '--unpriced', 'warn')).code).to.equal(
      0,
    );
    expect(await shown('/acme/search'))
      .to.include({ max_parallel: 3, unpriced: 'warn' })
      .and.not.have.property('blocked');
    expect((await gw('delete', '/acme/search')).stdout).to.equal('[OK] Account deleted.\n');
    expect(await shown('/acme/search')).to.equal(undefined);
    expectOneError(await gw('delete', '/acme/search'), 'there is no account');
  });

  it('gives an account that its parent implies budgets of its own', async () => {
    const accounts = [{ path: '/acme', child_default: { budgets: [{ usd: 5, every: 'day' }], rpm: 7 } }];
    const { t, gw, shown } = await scene({ accounts });
    await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits: { account: '/acme/alice' } });
    expect((await gw('set', '/acme/alice', '--usd', '9', '--every', 'day')).code).to.equal(0);
    const alice = await shown('/acme/alice');
    expect([alice.origin, alice.rpm, alice.inherited, budgetsOf(alice)]).to.deep.equal([
      'stored',
      7,
      ['rpm'],
      [{ usd: 9, every: 'day' }],
    ]);
    expectOneError(await gw('set', '/acme', '--usd', '1'), 'declared in the configuration');
  });

  it('shows one, lists them with what is spent, and raises a budget', async () => {
    const { gw } = await scene();
    await gw('set', '/acme', '--usd', '12.5', '--every', 'month');
    await gw('set', '#nightly', '--requests', '100', '--every', '5h', '--title', 'At night');
    await gw('set', '#p=*', '--usd', '1');
    expect(JSON.parse((await gw('get', '#nightly')).stdout)).to.include({ path: '#nightly', title: 'At night' });
    expect(parse((await gw('get', '/acme', '--format', 'yaml')).stdout)).to.include({ path: '/acme' });
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const raised = await gw(
      'raise',
      '/acme',
      '--usd',
      '0.5',
      '--until',
      until,
      '--every',
      'month',
      '--note',
      'a launch',
    );
    expect(raised.stdout).to.equal('[OK] Budget raised.\n');
    expect((await gw('list')).stdout).to.equal(
      [
        'PATH       TITLE      ORIGIN   KEYS   BLOCKED   BUDGETS',
        '----       -----      ------   ----   -------   -------',
        '#nightly   At night   stored   0      no        requests 0/100 5h',
        '#p=*       -          stored   0      no        usd -/1 total',
        '/acme      -          stored   0      no        usd 0/13 month',
        '',
      ].join('\n'),
    );
    const found = JSON.parse((await gw('list', '--under', '/acme', '--format', 'json')).stdout) as { path: string }[];
    expect(found.map(({ path }) => path)).to.deep.equal(['/acme']);
    expect((await gw('list', '--search', 'NIGHT')).stdout)
      .to.contain('#nightly')
      .and.not.contain('/acme');
  });

  it('reads an account from a file; what the file says is all that changes', async () => {
    const { gw, shown } = await scene();
    const file = join(await temporaryFolder(), 'account.yaml');
    await writeFile(file, 'models: {allow: [gpt-5*]}\nbudgets:\n  - {usd: 50, every: day, warn: [0.5]}\n');
    expect((await gw('set', '/acme', '--file', file)).code).to.equal(0);
    await writeFile(file, 'budgets: null\nrpm: 9\n');
    expect((await gw('set', '/acme', '--file', file)).code).to.equal(0);
    expect(await shown('/acme'))
      .to.deep.include({ models: { allow: ['gpt-5*'] }, rpm: 9 })
      .and.not.have.property('budgets');
    expectOneError(await gw('set', '/acme', '--file', file, '--rpm', '3'), '--file');
  });

  it('refuses what cannot be meant, before anything is sent', async () => {
    const { url, seen } = await stub(200, '{}');
    const gw = (...args: string[]): ReturnType<typeof runCommand> =>
      runCommand(['admin', 'accounts', ...args, '--gateway-url', url]);
    expectOneError(await gw('get', 'acme'), '"acme"', 'begins with /');
    expectOneError(await gw('set', '/acme', '--usd', '5', '--tokens', '5'), '--usd', '--tokens');
    expectOneError(await gw('set', '/acme', '--every', 'day'), '--every');
    expectOneError(await gw('set', '/acme', '--usd', 'much'), '--usd', 'much');
    expectOneError(await gw('set', '/acme', '--block', '--unblock'), '--block');
    expectOneError(await gw('raise', '/acme', '--until', '2026-12-31T12:00:00Z'), '--usd');
    expectOneError(await gw('raise', '/acme', '--usd', '1'), '--until');
    expect(seen).to.deep.equal([]);
  });
});
