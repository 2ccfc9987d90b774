import { expect } from 'chai';
import { ask, chatReply, type FakeClock, fakeClock, replyJson, stubUpstream } from '../kit/index.ts';
import { type AdminHost, as, forBackends, type KeyObject, refusal, startAdmin } from './kit.ts';

const START = Date.UTC(2026, 0, 31, 12);
const iso = (ms: number): string => new Date(ms).toISOString().replace('.000', '');

interface World {
  readonly t: AdminHost;
  readonly clock: FakeClock;
  readonly keys: Readonly<Record<'often' | 'late' | 'unused' | 'revoked' | 'never', KeyObject>>;
}

forBackends('the usage of keys', (start) => {
  /** Five keys, made a second apart and used one after another. */
  async function world(): Promise<World> {
    const clock = fakeClock(START);
    const t = await start({ clock });
    const made = new Map<string, KeyObject>();
    for (const name of ['often', 'late', 'unused', 'revoked', 'never']) {
      made.set(name, await t.makeKey({ name }));
      clock.advance(1000);
    }
    const use = async (name: string, times: number): Promise<void> => {
      for (let time = 0; time < times; time += 1)
        expect((await t.get('/v1/models', as(made.get(name)!.key))).status).to.equal(200);
      clock.advance(1000);
    };
    await use('revoked', 2);
    await use('often', 3);
    await use('late', 2);
    await t.post(`/admin/keys/${made.get('revoked')!.id}/revoke`, undefined);
    return { t, clock, keys: Object.fromEntries(made) as World['keys'] };
  }

  const names = async (t: AdminHost, query: string): Promise<string[]> => {
    const answer = await t.get(`/admin/keys/usage${query}`);
    expect(answer.status, answer.text).to.equal(200);
    return (answer.json().data as KeyObject[]).map(({ name }) => name);
  };

  it('is listed by count, then by last use, then by age; by last use the other way round', async () => {
    const { t } = await world();
    expect(await names(t, '')).to.deep.equal(['often', 'late', 'revoked', 'never', 'unused']);
    expect(await names(t, '?sort=usage')).to.deep.equal(['often', 'late', 'revoked', 'never', 'unused']);
    expect(await names(t, '?sort=last_used')).to.deep.equal(['late', 'often', 'revoked', 'never', 'unused']);
  });

  it('is filtered, sorted, summed up and paged, in this order', async () => {
    const { t } = await world();
    const page = (await t.get('/admin/keys/usage?limit=1&offset=1&active=true')).json();
    expect(page.data.map(({ name }: KeyObject) => name)).to.deep.equal(['late']);
    expect(Object.entries(page.summary)).to.deep.equal([
      ['total_keys', 4],
      ['active_keys', 4],
      ['total_usage', 5],
      ['returned_keys', 1],
    ]);
    expect(Object.entries(page.filters)).to.deep.equal([
      ['limit', 1],
      ['offset', 1],
      ['sort', 'usage'],
      ['active', 'true'],
      ['since', ''],
    ]);
    expect(Object.keys(page)).to.deep.equal(['data', 'summary', 'filters']);
    expect((await t.get('/admin/keys/usage')).json().summary).to.deep.equal({
      total_keys: 5,
      active_keys: 4,
      total_usage: 7,
      returned_keys: 5,
    });
    expect((await t.get('/admin/keys/usage?active=0')).json()).to.deep.include({
      summary: { total_keys: 1, active_keys: 0, total_usage: 2, returned_keys: 1 },
      filters: { limit: 20, offset: 0, sort: 'usage', active: 'false', since: '' },
    });
  });

  it('leaves out what was not used since, the moment itself included', async () => {
    const { t, keys } = await world();
    const last = (await t.get(`/admin/keys/${keys.often.id}`)).json().last_used_at as string;
    expect(last).to.equal(iso(START + 6000));
    expect(await names(t, `?since=${last}`)).to.deep.equal(['often', 'late']);
    expect(await names(t, `?since=${iso(START + 6001)}`)).to.deep.equal(['late']);
    expect(await names(t, '?since=2000-01-01T00:00:00Z')).to.deep.equal(['often', 'late', 'revoked']);
    const shifted = '2026-01-31T14:00:06%2B02:00';
    expect((await t.get(`/admin/keys/usage?since=${shifted}`)).json().filters.since).to.equal(
      '2026-01-31T14:00:06+02:00',
    );
    expect(await names(t, `?since=${shifted}`)).to.deep.equal(['often', 'late']);
  });

  it('takes pages of at most a hundred, and any offset', async () => {
    const { t } = await world();
    const filters = async (query: string): Promise<object> => {
      const {
        filters: { limit, offset },
        data,
      } = (await t.get(`/admin/keys/usage${query}`)).json();
      return { limit, offset, found: data.length };
    };
    expect(await filters('?limit=1000')).to.deep.equal({ limit: 100, offset: 0, found: 5 });
    expect(await filters('?limit=&offset=')).to.deep.equal({ limit: 20, offset: 0, found: 5 });
    expect(await filters('?offset=4')).to.deep.equal({ limit: 20, offset: 4, found: 1 });
    expect(await filters('?offset=5&limit=3&limit=9')).to.deep.equal({ limit: 3, offset: 5, found: 0 });
    expect(((await filters('?offset=99999999999999999999')) as { found: number }).found).to.equal(0);
  });

  it('checks limit, offset, sort, active and since, in this order', async () => {
    const t = await start();
    const query = ['limit=0', 'offset=-1', 'sort=name', 'active=maybe', 'since=yesterday'];
    for (let at = 0; at < query.length; at += 1) {
      const answer = await t.get(`/admin/keys/usage?${query.slice(at).toReversed().join('&')}`);
      expect(refusal(answer)).to.deep.equal([400, 'invalid_request']);
      expect(answer.json().error.message).to.match(new RegExp(`^${query[at]!.split('=')[0]} is `));
    }
  });

  it('counts a use at once, in the answer to the same request too', async () => {
    const clock = fakeClock(START);
    const t = await start({ clock });
    const key = await t.adminKey();
    clock.advance(500);
    expect((await t.get(`/admin/keys/${key.id}`, as(key.key))).json()).to.include({
      usage_count: 1,
      last_used_at: '2026-01-31T12:00:00.500Z',
    });
    expect((await t.get('/admin/keys', as(key.key))).json()[0]).to.include({ usage_count: 2 });
    expect((await t.get('/admin/keys/usage', as(key.key))).json()).to.deep.include({
      summary: { total_keys: 1, active_keys: 1, total_usage: 3, returned_keys: 1 },
    });
    expect((await t.request('PUT', `/admin/keys/${key.id}`, {}, as(key.key))).json()).to.include({ usage_count: 4 });
  });

  it('counts what authenticates, and that alone', async () => {
    const t = await start();
    const { id, key } = await t.makeKey();
    const uses = async (): Promise<number> => (await t.get(`/admin/keys/${id}`)).json().usage_count as number;
    for (const path of ['/v1/models', '/v1/nowhere', '/admin/keys', '/admin/nowhere']) await t.get(path, as(key));
    expect(await uses()).to.equal(4);
    expect((await t.post('/admin/keys', {}, as(key))).status).to.equal(403); // who it is was known
    const { token } = await t.signIn(key);
    expect(await uses()).to.equal(6);
    for (const credential of [token, `${key}0`, key.slice(0, -1), `${key.slice(0, 8)}...`])
      await t.get('/admin/keys', as(credential));
    await t.get('/health', as(key));
    expect(await uses()).to.equal(6);
    await t.post(`/admin/keys/${id}/revoke`, undefined);
    await t.get('/admin/keys', as(key));
    expect(await uses()).to.equal(6);
  });

  it('is listed by what was spent this month, and then by use; a page of it is a part of the whole list', async () => {
    const upstream = await stubUpstream((_request, response) =>
      replyJson(response, 200, { ...chatReply('hi'), usage: { prompt_tokens: 1000, completion_tokens: 0 } }),
    );
    const clock = fakeClock(START);
    const t = await start(
      { clock, variables: { OPENAI_API_KEY: 'k-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` } },
      { targets: [{ virtual_key: 'openai', models: ['gpt-4o'] }] },
    );
    const made = new Map<string, KeyObject>();
    for (const name of ['idle', 'most', 'looks', 'some', 'gone']) {
      made.set(name, await t.makeKey({ name }));
      clock.advance(1000);
    }
    const keyOf = (name: string): string => made.get(name)!.key;
    for (const name of ['most', 'most', 'some', 'gone', 'gone', 'gone'])
      await t.request('POST', '/v1/chat/completions', { ...ask('hi'), model: 'gpt-4o' }, as(keyOf(name)));
    for (let time = 0; time < 9; time += 1) await t.get('/v1/models', as(keyOf('looks')));
    await t.post(`/admin/keys/${made.get('gone')!.id}/revoke`, undefined);
    const order = ['gone', 'most', 'some', 'looks', 'idle'];
    expect(await names(t, '?sort=spend')).to.deep.equal(order);
    expect(await names(t, '?sort=spend&active=true')).to.deep.equal(order.slice(1));
    for (let offset = 0; offset < 6; offset += 1)
      for (const limit of [1, 2, 3])
        expect(await names(t, `?sort=spend&limit=${limit}&offset=${offset}`)).to.deep.equal(
          order.slice(offset, offset + limit),
        );
    const page = (await t.get('/admin/keys/usage?sort=spend&limit=2')).json();
    expect(page.summary).to.include({ total_keys: 5, active_keys: 4, returned_keys: 2 });
    expect(page.data.map(({ spend }: any) => spend)).to.deep.equal([{ month_usd: 0.0075 }, { month_usd: 0.005 }]);
    clock.advance(13 * 3_600_000); // the next month
    const later = (await t.get('/admin/keys/usage?sort=spend')).json();
    expect(later.data.every(({ spend }: any) => spend.month_usd === 0)).to.equal(true);
  });
});

describe('the usage of keys, without spend', () => {
  it('has no spend, and is 501 where it is to be sorted by it', async () => {
    const t = await startAdmin({ variables: { GW_SPEND: 'off' } });
    await t.makeKey();
    expect((await t.get('/admin/keys/usage')).json().data[0]).not.to.have.property('spend');
    const answer = await t.get('/admin/keys/usage?sort=spend');
    expect([answer.status, answer.json().error.code]).to.deep.equal([501, 'not_implemented']);
  });
});
