import { join } from 'node:path';
import { expect } from 'chai';
import {
  chatReply,
  eventually,
  fakeClock,
  forSuite,
  MASTER_ID,
  openSse,
  replyJson,
  startHost,
  startPostgres,
  startRelay,
  stubUpstream,
  temporaryFolder,
  type StubHandler,
  type TestHost,
} from '../kit/index.ts';

const NOON = Date.UTC(2026, 10, 27, 12, 30);
const PATH = '/v1/key';
const as = (credential: string): Record<string, string> => ({ authorization: `Bearer ${credential}` });

interface Made {
  readonly id: string;
  readonly key: string;
}

async function makeKey(t: TestHost, body: object): Promise<Made> {
  const answer = await t.post('/admin/keys', { name: 'ci', ...body });
  expect(answer.status, answer.text).to.equal(201);
  return answer.json() as Made;
}

async function own(t: TestHost, key: string): Promise<Record<string, any>> {
  const answer = await t.get(PATH, as(key));
  expect(answer.status, answer.text).to.equal(200);
  return answer.json();
}

/** In front of a stub that stands for OpenAI, so that models have the prices of the catalog. */
async function scene(handler: StubHandler, config: object = {}, options: Parameters<typeof startHost>[1] = {}) {
  const upstream = await stubUpstream(handler);
  const clock = fakeClock(NOON);
  const t = await startHost(
    { targets: [{ virtual_key: 'openai', models: ['gpt-4o'] }], ...config },
    {
      ...options,
      clock,
      variables: { OPENAI_API_KEY: 'k-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1`, ...options?.variables },
    },
  );
  return { t, clock, upstream };
}

const chat = (t: TestHost, key: string, more: object = {}): ReturnType<TestHost['request']> =>
  t.request(
    'POST',
    '/v1/chat/completions',
    { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }], ...more },
    as(key),
  );

/** 1,000 and 100 tokens of gpt-4o: 2.50 and 10 dollars a million. */
const ANSWER = { ...chatReply('hi'), usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 } };
const COST = 0.0035;

describe('GET /v1/key', () => {
  it('says what the key may use and what of its budgets is left, in their order', async () => {
    const { t } = await scene((_request, response) => replyJson(response, 200, ANSWER));
    const limits = { models: ['gpt-4o'], tags: ['team-a'], rpm: 100, tpm: 100_000, budget_usd: 2 };
    const { id, key } = await makeKey(t, {
      ...limits,
      expires_at: '2030-01-01T00:00:00Z',
      budgets: [
        { usd: 1.5, every: 'day', timezone: 'Europe/Berlin', at: '06:00' },
        { tokens: 5000, every: '5h' },
        { requests: 3 },
      ],
    });
    expect((await chat(t, key)).status).to.equal(200);
    const { budget_usd: _total, ...shown } = limits;
    expect(await own(t, key)).to.deep.equal({
      object: 'key',
      id,
      name: 'ci',
      kind: 'key',
      access: 'full',
      scopes: ['read_only'],
      expires_at: '2030-01-01T00:00:00Z',
      ...shown,
      unpriced: 'refuse',
      budgets: [
        { of: 'key', name: 'ci', unit: 'usd', every: 'total', limit: 2, spent: COST, reserved: 0, remaining: 1.9965 },
        {
          of: 'key',
          name: 'ci',
          unit: 'usd',
          every: 'day@Europe/Berlin+06:00',
          limit: 1.5,
          spent: COST,
          reserved: 0,
          remaining: 1.4965,
          begins_at: '2026-11-27T05:00:00Z',
          ends_at: '2026-11-28T05:00:00Z',
        },
        {
          of: 'key',
          name: 'ci',
          unit: 'tokens',
          every: '5h~1970-01-01T00:00:00Z',
          limit: 5000,
          spent: 1100,
          reserved: 0,
          remaining: 3900,
          begins_at: '2026-11-27T09:00:00Z',
          ends_at: '2026-11-27T14:00:00Z',
        },
        { of: 'key', name: 'ci', unit: 'requests', every: 'total', limit: 3, spent: 1, reserved: 0, remaining: 2 },
      ],
      spend: { today_usd: COST, month_usd: COST },
    });
  });

  it('shows what calls in flight hold, and a new window when one has begun', async () => {
    const held = Promise.withResolvers<void>();
    const { t, clock, upstream } = await scene(async (_request, response) => {
      openSse(response);
      await held.promise;
      response.end();
    });
    const { key } = await makeKey(t, { budgets: [{ requests: 5, every: 'day' }, { tokens: 1000 }] });
    const running = chat(t, key, { stream: true, max_tokens: 400 });
    await eventually(() => upstream.seen.length === 1);
    const [requests, tokens] = (await own(t, key))['budgets'];
    expect(requests).to.include({ spent: 0, reserved: 1, remaining: 4 });
    expect(tokens.reserved).to.be.within(400, 420);
    expect(tokens.remaining).to.equal(1000 - tokens.reserved);
    held.resolve();
    await running;
    clock.advance(24 * 3_600_000);
    expect((await own(t, key))['budgets'][0]).to.include({
      spent: 0,
      remaining: 5,
      begins_at: '2026-11-28T00:00:00Z',
    });
  });

  it('agrees with what the list of keys says is left of dollars', async () => {
    const { t } = await scene((_request, response) => replyJson(response, 200, ANSWER));
    for (const limits of [
      { budget_usd: 1 },
      { budgets: [{ usd: 0.5, every: 'day' }, { usd: 0.2, every: '5h' }, { tokens: 1_000_000 }] },
      { budget_usd: 0.1, budgets: [{ usd: 0.5, every: 'month', timezone: 'Asia/Kolkata', at: '06:00', on: 31 }] },
      { budgets: [{ tokens: 1_000_000 }] },
    ]) {
      const { id, key } = await makeKey(t, limits);
      await chat(t, key);
      if (JSON.stringify(limits).includes('usd')) {
        const raise = { unit: 'usd', amount: 0.3, until: new Date(NOON + 60_000).toISOString() };
        expect((await t.post(`/admin/keys/${id}/raises`, raise)).status).to.equal(201);
      }
      const left = (await own(t, key))['budgets'].filter(({ unit }: any) => unit === 'usd');
      const least = left.length === 0 ? undefined : Math.min(...left.map(({ remaining }: any) => remaining));
      const { data } = (await t.get('/admin/keys/usage?limit=100')).json();
      expect(data.find((one: any) => one.id === id).spend.remaining_usd, JSON.stringify(limits)).to.equal(least);
    }
  });

  it('never shows less than nothing left', async () => {
    const { t } = await scene((_request, response) => replyJson(response, 200, ANSWER));
    const { key } = await makeKey(t, { budgets: [{ tokens: 10 }] });
    await chat(t, key);
    expect((await own(t, key))['budgets'][0]).to.include({ limit: 10, spent: 1100, remaining: 0 });
    expect((await chat(t, key)).status).to.equal(402);
  });

  it('says of models without a price what counts: the strictest word of the budgets, else allow', async () => {
    for (const [limits, word, written] of [
      [{}, 'allow', 'warn'],
      [{ budget_usd: 1 }, 'warn', 'allow'],
      [{ budgets: [{ usd: 1 }] }, 'refuse', 'allow'],
      [{ budget_usd: 1, budgets: [{ usd: 1 }] }, 'refuse', 'allow'],
      [{ budgets: [{ tokens: 1 }] }, 'allow', 'refuse'],
    ] as const) {
      const { t } = await scene(() => {});
      const { key } = await makeKey(t, limits);
      expect(await own(t, key), JSON.stringify(limits)).to.include({ unpriced: word });
      const other = await scene(() => {}, { money: { unpriced: written } });
      const again = await makeKey(other.t, limits);
      const hasDollars = 'budget_usd' in limits || word === 'refuse';
      expect(await own(other.t, again.key)).to.include({ unpriced: hasDollars ? written : 'allow' });
    }
  });

  it('is the same for a session of the key, and has no budgets for the master key', async () => {
    const { t } = await scene(() => {});
    const { key } = await makeKey(t, { budgets: [{ usd: 1 }] });
    const { token } = (await t.request('POST', '/admin/session', undefined, as(key))).json();
    expect(await own(t, token)).to.deep.equal({ ...(await own(t, key)), kind: 'session' });
    expect((await t.get(PATH)).json()).to.deep.equal({
      object: 'key',
      id: MASTER_ID,
      name: MASTER_ID,
      kind: 'master',
      access: 'full',
      scopes: ['admin'],
      tags: [],
      unpriced: 'allow',
      budgets: [],
      spend: { today_usd: 0, month_usd: 0 },
    });
  });

  it('says what the key has spent today and this month, and nothing of it where spend is off', async () => {
    const { t, clock } = await scene((_request, response) => replyJson(response, 200, ANSWER));
    const { key } = await makeKey(t, {});
    const other = await makeKey(t, {});
    await chat(t, key);
    clock.advance(24 * 3_600_000);
    await chat(t, key);
    await chat(t, other.key);
    expect((await own(t, key))['spend']).to.deep.equal({ today_usd: COST, month_usd: 2 * COST });
    clock.advance(3 * 24 * 3_600_000); // another month
    expect((await own(t, key))['spend']).to.deep.equal({ today_usd: 0, month_usd: 0 });
    const off = await scene(() => {}, {}, { variables: { GW_SPEND: 'off' } });
    expect(await own(off.t, (await makeKey(off.t, {})).key)).not.to.have.property('spend');
  });

  it('needs a credential, where the proxy is open too', async () => {
    const { t } = await scene(() => {});
    const missing = await t.get(PATH, { authorization: '' });
    expect([missing.status, missing.json().error.code]).to.deep.equal([401, 'missing_api_key']);
    const open = await scene(() => {}, {}, { variables: { ALLOW_UNAUTHENTICATED_PROXY: 'true' } });
    const refused = await open.t.get(PATH, { authorization: '' });
    expect([refused.status, refused.json().error.code]).to.deep.equal([401, 'authentication_required']);
  });

  it('is never stored, answers HEAD, counts for the rate of the key and for no budget', async () => {
    const { t, upstream } = await scene(() => {});
    const { key } = await makeKey(t, { rpm: 3, budgets: [{ requests: 0 }] });
    const answer = await t.get(PATH, as(key));
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    const head = await t.request('HEAD', PATH, undefined, as(key));
    expect([head.status, head.text]).to.deep.equal([200, '']);
    expect((await own(t, key))['budgets'][0]).to.include({ spent: 0, reserved: 0 });
    expect((await t.get(PATH, as(key))).status).to.equal(429);
    expect(upstream.seen).to.have.length(0);
  });

  it('asks the provider instead where the request names one, and leaves other methods to it', async () => {
    const { t, upstream } = await scene((_request, response) =>
      replyJson(response, 200, { data: { label: 'theirs' } }),
    );
    const named = await t.get(PATH, { 'x-provider': 'openai' });
    expect(named.json()).to.deep.equal({ data: { label: 'theirs' } });
    const posted = await t.request('POST', PATH, { a: 1 }, { 'x-provider': 'openai' });
    expect(posted.status).to.equal(200);
    expect(upstream.seen.map(({ method, url }) => [method, url])).to.deep.equal([
      ['GET', PATH],
      ['POST', PATH],
    ]);
  });
});

describe('GET /v1/key after a start', () => {
  async function survives(variables: Readonly<Record<string, string>>): Promise<void> {
    const { t } = await scene((_request, response) => replyJson(response, 200, ANSWER), {}, { variables });
    const { key } = await makeKey(t, { budget_usd: 1, budgets: [{ tokens: 5000 }] });
    await chat(t, key);
    const before = await own(t, key);
    expect(before['budgets'][1]).to.include({ spent: 1100 });
    await t.close();
    const again = await scene(() => {}, {}, { variables });
    expect(await own(again.t, key)).to.deep.equal(before);
  }

  it('shows what was spent before it, on SQLite', async () => {
    const file = join(await temporaryFolder(), 'keys.db');
    await survives({ API_KEY_STORE_BACKEND: 'sqlite', API_KEY_STORE_DSN: file });
  });

  describe('on Postgres', () => {
    const dsn = forSuite(async () => (await startPostgres()).createDatabase());

    it('shows what was spent before it', async () => {
      await survives({ API_KEY_STORE_BACKEND: 'postgres', API_KEY_STORE_DSN: dsn() });
    });

    it('leaves out what was spent while the store does not answer, and says it again when it does', async () => {
      const relay = await startRelay(dsn());
      const { t, clock } = await scene(
        (_request, response) => replyJson(response, 200, ANSWER),
        {},
        { variables: { API_KEY_STORE_BACKEND: 'postgres', API_KEY_STORE_DSN: relay.url } },
      );
      const { key } = await makeKey(t, { budgets: [{ tokens: 5000 }] });
      await chat(t, key);
      expect(await own(t, key))
        .to.have.property('spend')
        .that.deep.equals({ today_usd: COST, month_usd: COST });
      relay.mode = 'cut';
      await chat(t, key);
      const away = await own(t, key);
      expect(away).not.to.have.property('spend');
      expect(away['budgets'][0]).to.include({ spent: 2200 });
      const report = await t.get('/admin/spend');
      expect([report.status, report.json().error.message]).to.deep.equal([500, 'the store of ledgers does not answer']);
      relay.mode = 'pass';
      clock.advance(1000); // a store that failed is not asked for a second
      expect((await own(t, key))['spend']).to.deep.equal({ today_usd: 2 * COST, month_usd: 2 * COST });
    });
  });
});
