import { expect } from 'chai';
import { ask, chatReply, fakeClock, replyJson, stubUpstream } from '../kit/index.ts';
import { type AdminHost, as, ECHO, forBackends, startAdmin } from './kit.ts';

const NOW = Date.UTC(2026, 10, 27, 12, 30);
const HOUR = 3_600_000;
const moment = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z');

forBackends('raises', (start) => {
  it('let requests on until they end, to the millisecond, and add up', async () => {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hi')));
    const clock = fakeClock(NOW);
    const t = await start(
      { clock, variables: { OPENAI_API_KEY: 'k-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` } },
      { targets: [{ virtual_key: 'openai' }] },
    );
    const { id } = (await t.post('/admin/accounts', { path: '/acme', budgets: [{ requests: 1 }] })).json();
    const key = await t.makeKey({ account: '/acme' });
    const chat = async (): Promise<number> =>
      (await t.post('/v1/chat/completions', { ...ask('hi'), model: 'gpt-4o' }, as(key.key))).status;
    expect([await chat(), await chat()]).to.deep.equal([200, 402]);
    const url = `/admin/accounts/${id}/raises`;
    const until = moment(clock.now() + HOUR);
    const made = await t.post(url, { unit: 'requests', amount: 1, until, note: 'launch' });
    expect(made.status, made.text).to.equal(201);
    expect(made.json()).to.deep.include({ unit: 'requests', amount: 1, until, note: 'launch' });
    expect([await chat(), await chat()]).to.deep.equal([200, 402]);
    const second = await t.post(url, { unit: 'requests', every: 'total', amount: 3, until });
    expect(second.json().every).to.equal('total');
    expect([await chat(), await chat()]).to.deep.equal([200, 200]);
    expect((await t.get(`/admin/accounts/${id}`)).json().budgets[0].state).to.deep.include({
      limit: 1,
      raised: 4,
      spent: 4,
      remaining: 1,
    });
    expect((await t.request('DELETE', `${url}/${second.json().id}`)).status).to.equal(204);
    expect(await chat()).to.equal(402);
    expect((await t.request('DELETE', `${url}/${second.json().id}`)).status).to.equal(404);
    const actions = (await t.trail()).map(({ action, outcome }) => `${action} ${outcome}`);
    expect(actions.filter((action) => action.includes('raise'))).to.deep.equal([
      'account.raise_end error',
      'account.raise_end ok',
      'account.raise ok',
      'account.raise ok',
    ]);
  });
});

describe('a raise', () => {
  const world = async (): Promise<{ t: AdminHost; url: string }> => {
    const t = await startAdmin({ clock: fakeClock(NOW) }, { ...ECHO, accounts: [{ path: '/a', budgets: BUDGETS }] });
    const { id } = (await t.get('/admin/accounts')).json().data.find(({ path }: { path: string }) => path === '/a');
    return { t, url: `/admin/accounts/${id}/raises` };
  };
  const BUDGETS = [
    { usd: 5, every: 'day' },
    { usd: 9, every: 'day', timezone: 'Europe/Berlin' },
    { tokens: 5, every: '5h' },
  ];
  const until = moment(NOW + HOUR);

  it('is refused by the member that is wrong', async () => {
    const { t, url } = await world();
    const good = { unit: 'usd', amount: 1, until };
    for (const [body, said] of [
      [{ ...good, colour: 1 }, 'a raise has no member "colour"'],
      [{ ...good, unit: 'euros' }, 'unit must be usd, tokens, requests'],
      [{ ...good, unit: 'requests' }, 'there is no budget of requests to raise'],
      [{ ...good, every: 'week' }, 'which none of the budgets has'],
      [{ ...good, every: 'day' }, 'which several budgets have; use day@UTC+00:00, day@Europe/Berlin+00:00'],
      [{ ...good, amount: 0 }, 'amount must be above 0'],
      [{ ...good, amount: 0.0000001 }, 'amount must be'],
      [{ unit: 'usd', amount: 1 }, 'until must be'],
      [{ ...good, until: moment(NOW) }, 'until is in the past'],
      [{ ...good, from: until }, 'until must be after from'],
      [{ ...good, until: moment(NOW + 367 * 24 * HOUR) }, 'at most 366 days'],
    ] as const) {
      const answer = await t.post(url, body);
      expect([answer.status, answer.json().error.code], JSON.stringify(body)).to.deep.equal([400, 'invalid_request']);
      expect(answer.json().error.message).to.contain(said);
    }
  });

  it('is given to declared accounts too, to one budget of several, and to the dollars of a key', async () => {
    const { t, url } = await world();
    const made = await t.post(url, { unit: 'usd', every: 'day@UTC+00:00', amount: 2.5, until });
    expect(made.status, made.text).to.equal(201);
    const [account] = (await t.get('/admin/accounts?path=/a')).json().data;
    expect(account.budgets.map(({ state }: any) => state.raised)).to.deep.equal([2.5, 0, 0]);
    const key = await t.makeKey({ budget_usd: 1 });
    expect((await t.post(`/admin/keys/${key.id}/raises`, { unit: 'usd', amount: 2, until })).status).to.equal(201);
    expect((await t.get('/v1/key', as(key.key))).json().budgets[0].limit).to.equal(3);
    expect((await t.post('/admin/keys/none/raises', { unit: 'usd', amount: 2, until })).status).to.equal(404);
  });
});
