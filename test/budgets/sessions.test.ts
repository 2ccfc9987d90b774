import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { SESSION_HEADERS } from '../../host/common/session-headers.ts';
import { MemoryLedger } from '../../host/state/memory-ledger.ts';
import { eventually, startPostgres, temporaryFolder } from '../kit/index.ts';
import { type Gateway, gateway, type Probe, PROBES } from '../money/route-limits.ts';

const CHAT = PROBES[0] as Probe;
const isCounting = ({ path }: Probe): boolean => /count|input_tokens/i.test(path);
const LEVELS = ['key', '/acme', '/', '#nightly'] as const;

const accountsWith = (path: string, budgets: readonly object[]): object[] =>
  ['/', '/acme', '#nightly'].map((each) => ({ path: each, ...(each === path && { session: { budgets } }) }));

async function sent(
  g: Gateway,
  bearer: string,
  probe: Probe,
  session?: string,
  header = 'x-gateway-session',
): Promise<{ status: number; text: string; headers: Headers }> {
  const headers = { ...probe.headers, ...(session !== undefined && { [header]: session }) };
  const answer = await g.ask({ ...probe, headers }, bearer);
  await eventually(() => g.t.host.slot.leases === 0);
  return answer;
}

describe('budgets of sessions', () => {
  for (const path of LEVELS)
    it(`hold for each session of each key by itself, on every route: ${path}`, async function tried() {
      this.timeout(60_000);
      const g = await gateway([], {
        money: { unpriced: 'warn' },
        accounts: accountsWith(path, [{ requests: 1, every: 'day' }]),
      });
      for (const probe of PROBES) {
        if (isCounting(probe)) continue;
        const own = path === 'key' ? { session: { budgets: [{ requests: 1, every: 'day' }] } } : {};
        const key = async (): Promise<string> => (await g.key({ account: '/acme', tags: ['nightly'], ...own })).bearer;
        const [one, two] = [await key(), await key()];
        const what = `${probe.name} ${probe.path}`;
        const status = async (bearer: string, session?: string): Promise<number> =>
          (await sent(g, bearer, probe, session)).status;
        expect(await status(one, 's1'), what).to.be.below(300);
        const refused = await sent(g, one, probe, 's1');
        expect(refused.status, what).to.equal(402);
        expect(refused.text, what).to.include('the budget of the session for the day is spent: 1 of 1 requests');
        expect(refused.headers.get('x-gateway-budget'), what).to.match(
          /^kind=session, unit=requests, window=day, spent=1, limit=1, ends=\d+$/,
        );
        expect(await status(one, 's2'), `${what}, another session`).to.be.below(300);
        expect(await status(two, 's1'), `${what}, another key`).to.be.below(300);
        expect(await status(one), `${what}, no session`).to.be.below(300);
        expect(await status(one), `${what}, no session again`).to.be.below(300);
      }
    });

  it('are found by each header that names a session', async () => {
    const g = await gateway([], { accounts: accountsWith('/', [{ requests: 1 }]) });
    for (const header of SESSION_HEADERS) {
      const { bearer } = await g.key({});
      expect((await sent(g, bearer, CHAT, 's', header)).status, header).to.equal(200);
      expect((await sent(g, bearer, CHAT, 's', 'x-gateway-session')).status, header).to.equal(402);
    }
  });

  it('of several levels with one rule are each their own, and asked before those of accounts', async () => {
    const accounts = [
      { path: '/', session: { budgets: [{ requests: 3 }] }, budgets: [{ requests: 2 }] },
      { path: '/acme', session: { budgets: [{ requests: 2 }] } },
    ];
    const g = await gateway([], { accounts });
    const { bearer } = await g.key({ account: '/acme' });
    const statuses: number[] = [];
    for (let at = 0; at < 2; at += 1) statuses.push((await sent(g, bearer, CHAT, 's')).status);
    expect(statuses).to.deep.equal([200, 200]);
    expect((await sent(g, bearer, CHAT, 's')).text).to.include('the budget of the session is spent: 2 of 2 requests');
    expect((await sent(g, bearer, CHAT, 'other')).text).to.include(
      'the budget of the account / is spent: 2 of 2 requests',
    );
    expect(g.t.host.stores.ledgers.value.peek('budgets', 'a:/|requests|total|').committed).to.equal(2);
  });

  it('of a key are asked before those of its account, kept by their own name, written, read and taken away', async () => {
    const g = await gateway([], { accounts: accountsWith('/acme', [{ requests: 2 }]) });
    const body = { name: 'k', account: '/acme', session: { budgets: [{ requests: 1 }] } };
    const { id, key, session } = (await g.t.post('/admin/keys', body)).json();
    expect(session).to.deep.equal(body.session);
    expect((await sent(g, key, CHAT, 's')).status).to.equal(200);
    expect((await sent(g, key, CHAT, 's')).text).to.include('the budget of the session is spent: 1 of 1 requests');
    const digest = createHash('sha256').update('s').digest('hex').slice(0, 16);
    const { ledgers } = g.t.host.stores;
    for (const name of [`s:${id}~${digest}`, `s:${id}~${digest}@/acme`])
      expect(ledgers.value.peek('session budgets', `${name}|requests|total|`).committed, name).to.equal(1);
    const put = async (value: unknown): Promise<any> =>
      (await g.t.request('PUT', `/admin/keys/${id}`, { session: value })).json();
    for (const wrong of [
      {},
      { budgets: [{}] },
      { budgets: [{ requests: 1, opening: 1 }] },
      { budgets: [], more: 1 },
      5,
    ])
      expect((await put(wrong)).error?.code, JSON.stringify(wrong)).to.equal('invalid_request');
    expect(await put(null)).to.not.have.property('session');
    expect((await sent(g, key, CHAT, 's')).status).to.equal(200);
    expect((await sent(g, key, CHAT, 's')).text).to.include('the budget of the session is spent: 2 of 2 requests');
  });

  it('are shown to their holder where the request names a session', async () => {
    const g = await gateway([], { accounts: accountsWith('/acme', [{ requests: 5 }]) });
    const { bearer } = await g.key({ account: '/acme' });
    await sent(g, bearer, CHAT, 's');
    const shown = async (headers: object): Promise<unknown> =>
      (
        (await (
          await fetch(`${g.t.url}/v1/key`, { headers: { authorization: `Bearer ${bearer}`, ...headers } })
        ).json()) as { budgets: unknown }
      ).budgets;
    expect(await shown({})).to.deep.equal([]);
    expect(await shown({ 'x-gateway-session': 's' })).to.deep.equal([
      { of: 'session', unit: 'requests', every: 'total', limit: 5, spent: 1, reserved: 0, remaining: 4 },
    ]);
  });

  it('bind no request without a credential', async () => {
    const g = await gateway(
      [],
      { accounts: accountsWith('/', [{ requests: 0 }]) },
      { ALLOW_UNAUTHENTICATED_PROXY: 'true' },
    );
    expect((await sent(g, '', CHAT, 's')).status).to.equal(200);
  });
});

describe('a ledger that lets the oldest go', () => {
  it('keeps no more than its bound, whatever is spent, and none that has calls in flight leaves', () => {
    const ledger = new MemoryLedger({ maxKeys: 3, leaves: 'oldest' });
    const spend = (key: string): void => {
      const held = ledger.reserve(key, { amount: 1, limit: 1 });
      if (held.isGranted) void held.settle(1);
    };
    const open = ledger.reserve('open', { amount: 1, limit: 1 });
    for (const key of ['a', 'b', 'a', 'c', 'd']) spend(key);
    expect([ledger.size, ...['a', 'b', 'c', 'd'].map((key) => ledger.committed(key))]).to.deep.equal([3, 0, 0, 1, 1]);
    if (open.isGranted) void open.settle(1);
    expect(ledger.committed('open')).to.equal(1);
    ledger.bound({ maxKeys: 1, leaves: 'oldest' });
    expect([ledger.size, ledger.committed('d')]).to.deep.equal([1, 1]);
  });
});

describe('what a session has spent', () => {
  const after = async (variables: Readonly<Record<string, string>>): Promise<void> => {
    const accounts = [
      { path: '/', session: { budgets: [{ requests: 1 }] }, budgets: [{ requests: 4, warn: [0.5, 1] }] },
      { path: '/acme', budgets: [{ requests: 4, overrun: 'none' }] },
    ];
    const start = (): Promise<Gateway> => gateway([], { accounts }, variables);
    const first = await start();
    const { bearer } = await first.key({ account: '/acme' });
    const ask = async (g: Gateway, session: string): Promise<number> => (await sent(g, bearer, CHAT, session)).status;
    expect([await ask(first, 'a'), await ask(first, 'b'), await ask(first, 'a')]).to.deep.equal([200, 200, 402]);
    await first.t.close();
    const second = await start();
    expect([await ask(second, 'a'), await ask(second, 'c'), await ask(second, 'd')]).to.deep.equal([402, 200, 200]);
    const last = await sent(second, bearer, CHAT, 'e');
    expect([last.status, last.text.includes('the account /acme is spent: 4 of 4 requests')]).to.deep.equal([402, true]);
    await second.t.close();
    const warned = (g: Gateway): unknown[] =>
      g.t.lines.filter(({ msg }) => msg === 'budget threshold reached').map(({ threshold }) => threshold);
    expect([warned(first), warned(second)], 'each warning once').to.deep.equal([[0.5], [1]]);
  };

  it('is known after a start on SQLite, and so is what was warned of', async () => {
    const folder = await temporaryFolder();
    await after({ API_KEY_STORE_BACKEND: 'sqlite', API_KEY_STORE_DSN: join(folder, 'keys.db') });
  });

  it('is known after a start on Postgres, and so is what was warned of', async () => {
    await after({
      API_KEY_STORE_BACKEND: 'postgres',
      API_KEY_STORE_DSN: await (await startPostgres()).createDatabase(),
    });
  });
});
