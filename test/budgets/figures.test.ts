import { expect } from 'chai';
import { eventually, startHost, type TestHost } from '../kit/index.ts';
import { type Gateway, gateway, type Probe, PROBES } from '../money/route-limits.ts';

const CHAT = PROBES[0] as Probe;
const UNITS = ['usd', 'tokens', 'requests'] as const;
const KINDS = ['key', 'session', 'account', 'tag'] as const;
const BODY = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };

const counted = (t: TestHost, figure: string): readonly object[] =>
  t.samples.filter(({ name }) => name === figure).map(({ labels }) => labels);
const linesOf = (t: TestHost, line: string): readonly Record<string, unknown>[] =>
  t.lines.filter(({ msg }) => msg === line);

/** A gateway whose budgets of one kind are `budgets`, and the bearer that they bind. */
async function bound(
  kind: (typeof KINDS)[number],
  budgets: readonly object[],
): Promise<{ g: Gateway; bearer: string; id: string }> {
  const of = (each: string): object => ({ ...(kind === each && { budgets }) });
  const accounts = [
    { path: '/acme', ...of('account'), ...(kind === 'session' && { session: { budgets } }) },
    { path: '#nightly', ...of('tag') },
  ];
  const g = await gateway([], { money: { unpriced: 'allow' }, accounts });
  return { g, ...(await g.key({ account: '/acme', tags: ['nightly'], ...of('key') })) };
}

const asked = async ({ t }: Gateway, bearer: string, model = 'm'): Promise<number> => {
  const headers = { authorization: `Bearer ${bearer}`, 'x-gateway-session': 's1' };
  const { status } = await t.post(CHAT.path, { ...BODY, model }, headers);
  await eventually(() => t.host.slot.leases === 0);
  return status;
};

const gauges = async ({ t }: Gateway): Promise<Readonly<Record<string, number>>> => {
  const { text } = await t.get('/metrics');
  return Object.fromEntries(
    [...text.matchAll(/^gateway_budget_used_ratio\{(.*)\} (\S+)$/gm)].map(([, labels = '', value]) => [
      [...labels.matchAll(/"([^"]*)"/g)].map(([, label]) => label).join(' '),
      Number(value),
    ]),
  );
};

describe('what is said of budgets', () => {
  for (const kind of KINDS)
    it(`counts what one of a ${kind} refuses, and warns once of each window`, async () => {
      for (const unit of UNITS) {
        const { g, bearer, id } = await bound(kind, [{ [unit]: 0, every: 'day' }]);
        expect([await asked(g, bearer), await asked(g, bearer)]).to.deep.equal([402, 402]);
        expect(counted(g.t, 'gateway_budget_rejections_total')).to.deep.equal([
          { kind, unit },
          { kind, unit },
        ]);
        const lines = linesOf(g.t, 'budget spent');
        expect(lines.map(({ level }) => level)).to.deep.equal(['WARN', 'DEBUG']);
        const account = { account: '/acme', tag: '#nightly', key: undefined, session: undefined }[kind];
        const { api_key_id, account: said, unit: ofUnit, window, spent, limit, ends_at, trace_id } = lines[0]!;
        expect([api_key_id, said, ofUnit, window, spent, limit]).to.deep.equal([
          id,
          account,
          unit,
          'day@UTC+00:00',
          0,
          0,
        ]);
        expect(String(ends_at)).to.match(/^\d{4}-\d\d-\d\dT00:00:00Z$/);
        expect(String(trace_id)).to.match(/^[0-9a-f]{32}$/);
      }
    });

  it('counts `budget_usd` as a budget of the key, and writes no line of it', async () => {
    const g = await gateway();
    const { bearer } = await g.key({ budget_usd: 0 });
    const { bearer: other, spent } = await g.key({ budget_usd: 0.000001 });
    expect([await asked(g, bearer), await asked(g, other)]).to.deep.equal([402, 200]);
    expect(await spent()).to.be.above(0);
    expect(await asked(g, other)).to.equal(402);
    expect(counted(g.t, 'gateway_budget_rejections_total')).to.deep.equal([
      { kind: 'key', unit: 'usd' },
      { kind: 'key', unit: 'usd' },
    ]);
    expect(linesOf(g.t, 'budget spent')).to.deep.equal([]);
  });

  it('says nothing of a budget that a call only does not fit into', async () => {
    const { g, bearer } = await bound('account', [{ tokens: 2000, overrun: 'none' }]);
    const huge = { ...BODY, max_tokens: 5000 };
    const headers = { authorization: `Bearer ${bearer}` };
    expect((await g.t.post(CHAT.path, huge, headers)).status).to.equal(402);
    expect(linesOf(g.t, 'budget spent')).to.deep.equal([]);
    expect(counted(g.t, 'gateway_budget_rejections_total')).to.deep.equal([{ kind: 'account', unit: 'tokens' }]);
  });

  it('counts what is served beyond a budget by its account or tag; values of a pattern are one', async () => {
    const budgets = [{ requests: 0, over: { use: 'cheap', more: 2 } }];
    const served = async (accounts: readonly object[], key: object): Promise<readonly unknown[]> => {
      const g = await gateway([], { accounts }, {}, ['m', 'cheap']);
      const { bearer } = await g.key(key);
      const statuses = [await asked(g, bearer), await asked(g, bearer), await asked(g, bearer)];
      expect(statuses).to.deep.equal([200, 200, 402]);
      expect(linesOf(g.t, 'budget spent')).to.have.length.above(0);
      expect(counted(g.t, 'gateway_budget_rejections_total')).to.have.lengthOf(1);
      return counted(g.t, 'gateway_budget_overflow_total');
    };
    const twice = (account: string): readonly object[] => [{ account }, { account }];
    expect(await served([{ path: '/acme', budgets }], { account: '/acme' })).to.deep.equal(twice('/acme'));
    expect(await served([{ path: '#nightly', budgets }], { tags: ['nightly'] })).to.deep.equal(twice('#nightly'));
    expect(await served([{ path: '#p=*', budgets }], { tags: ['p=red'] })).to.deep.equal(twice('#p=*'));
    expect(await served([], { budgets })).to.deep.equal(twice(''));
  });

  it('tells how much of each is spent, with its raises, and nothing of patterns', async () => {
    const g = await gateway([], {
      accounts: [
        {
          path: '/acme',
          budgets: [
            { requests: 4, every: 'day' },
            { requests: 0, models: ['other'] },
          ],
        },
        { path: '#nightly', budgets: [{ requests: 2 }] },
        { path: '#p=*', budgets: [{ requests: 2 }] },
      ],
    });
    const { bearer } = await g.key({ account: '/acme', tags: ['nightly', 'p=red'] });
    expect(await gauges(g)).to.deep.include({ '/acme requests day@UTC+00:00': 0, '#nightly requests total': 0 });
    expect(await asked(g, bearer)).to.equal(200);
    const now = await gauges(g);
    expect(now).to.deep.include({ '/acme requests day@UTC+00:00': 0.25, '#nightly requests total': 0.5 });
    expect(Object.values(now)).to.have.members([0.25, 0.5, 1]);
    const { data } = (await g.t.get('/admin/accounts?path=%2Facme')).json() as { data: { id: string }[] };
    const raise = { unit: 'requests', every: 'day', amount: 4, until: new Date(Date.now() + 3_600_000).toISOString() };
    expect((await g.t.post(`/admin/accounts/${data[0]!.id}/raises`, raise)).status).to.equal(201);
    expect(await gauges(g)).to.deep.include({ '/acme requests day@UTC+00:00': 0.125 });
    const without = await gateway();
    expect(await gauges(without)).to.deep.equal({});
  });

  it('has at most 1,000 series of them, and says once that some are left out', async () => {
    const accounts = Array.from({ length: 64 }, (_each, at) => ({
      path: `/a${at}`,
      budgets: Array.from({ length: 16 }, (_budget, hours) => ({ requests: 1, every: `${hours + 1}h` })),
    }));
    const g = await gateway([], { accounts });
    expect(Object.keys(await gauges(g))).to.have.lengthOf(1000);
    await gauges(g);
    expect(linesOf(g.t, 'some budgets have no figure').map(({ budgets }) => budgets)).to.deep.equal([24]);
  });

  it('logs that accounts are others, by the configuration or by administrators, and not that one was raised', async () => {
    const changes = (t: TestHost): unknown =>
      linesOf(t, 'accounts changed').map(({ declared, stored }) => [declared, stored]);
    const config = { targets: [{ virtual_key: 'echo' }], accounts: [{ path: '/acme', budgets: [{ requests: 1 }] }] };
    const t = await startHost(config);
    expect(changes(t)).to.deep.equal([[1, 0]]);
    const made = (await t.post('/admin/accounts', { path: '/other', budgets: [{ requests: 1 }] })).json() as {
      id: string;
    };
    expect(changes(t)).to.deep.equal([
      [1, 0],
      [1, 1],
    ]);
    const raise = { unit: 'requests', amount: 1, until: new Date(Date.now() + 3_600_000).toISOString() };
    expect((await t.post(`/admin/accounts/${made.id}/raises`, raise)).status).to.equal(201);
    await t.apply({ ...config, aliases: { a: 'b' } });
    expect(changes(t)).to.have.lengthOf(2);
    expect((await t.request('DELETE', `/admin/accounts/${made.id}`)).status).to.equal(204);
    expect(changes(t)).to.deep.equal([
      [1, 0],
      [1, 1],
      [1, 0],
    ]);
    await t.apply({ ...config, accounts: [] });
    expect(linesOf(t, 'accounts changed')).to.have.lengthOf(4);
    expect(linesOf((await gateway()).t, 'accounts changed')).to.deep.equal([]);
  });
});
