import { expect } from 'chai';
import type { KeyBudget } from '../../host/common/budgets/key-budget.ts';
import type { MemoryLedger } from '../../host/state/memory-ledger.ts';
import {
  ask,
  chatReply,
  Dice,
  eventually,
  fakeClock,
  type FakeClock,
  replyJson,
  startHost,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { gateway, type Probe, PROBES } from '../money/route-limits.ts';

const CHAT = '/v1/chat/completions';
const PREFIX = 'request rejected by budget (before_request): the budget of the key';
const DAY = 24 * 3_600_000;

interface Scene {
  readonly t: TestHost;
  readonly clock: FakeClock;
  /** Sets the time, back too; timers hear nothing of it. */
  readonly set: (ms: number) => void;
  readonly id: string;
  readonly bearer: string;
  readonly calls: () => number;
  readonly send: (more?: object, bearer?: string) => Promise<Response>;
  /** What is booked and reserved under a name, without the key. */
  readonly sumOf: (name: string) => number;
  readonly over: () => Promise<void>;
}

function ledgerOf({ host }: TestHost): MemoryLedger {
  const carryover = host.carryover.open();
  const ledger = carryover.lease<MemoryLedger>('ledger budgets', () => {
    throw new Error('there is no ledger');
  });
  void carryover.release();
  return ledger;
}

/** A key with budgets in front of a stub that stands for OpenAI: each call uses 10 and 5 tokens. */
async function scene(
  budgets: readonly KeyBudget[],
  { status = 200, limits = {}, config = {} }: { status?: number; limits?: object; config?: object } = {},
): Promise<Scene> {
  const upstream = await stubUpstream((_seen, response) => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    replyJson(response, status, status === 200 ? { ...chatReply('hello'), usage } : { error: { message: 'no' } });
  });
  const steady = fakeClock();
  let shift = 0;
  const clock: FakeClock = { ...steady, now: () => steady.now() + shift };
  const t = await startHost(
    { targets: [{ virtual_key: 'openai', models: ['gpt-4o', 'unknown-model'] }], ...config },
    { clock, variables: { OPENAI_API_KEY: 'k-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` } },
  );
  const made = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits: { ...limits, budgets } });
  const over = async (): Promise<void> => eventually(() => t.host.slot.leases === 0);
  return {
    t,
    clock,
    set: (ms) => {
      shift += ms - clock.now();
    },
    id: made.record.id,
    bearer: made.key,
    calls: () => upstream.seen.length,
    over,
    sumOf: (name) => ledgerOf(t).committed(`k:${made.record.id}|${name}`),
    send: async (more = {}, bearer = made.key) => {
      const answer = await fetch(`${t.url}${CHAT}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...ask('hi'), model: 'gpt-4o', ...more }),
      });
      await over().catch(() => {});
      return answer;
    },
  };
}

const messageOf = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { error: { message: string } }).error.message;

const dayOf = (clock: FakeClock): string => new Date(clock.now()).toISOString().slice(0, 10);

describe('budgets of a key', () => {
  it('count requests, tokens and dollars in windows that begin again', async () => {
    const { send, clock, sumOf } = await scene([
      { requests: 2, every: 'day' },
      { tokens: 1000, every: '5h' },
      { usd: 10 },
    ]);
    const day = dayOf(clock);
    expect([(await send()).status, (await send()).status]).to.deep.equal([200, 200]);
    const refused = await send();
    expect(refused.status).to.equal(402);
    const next = `${dayOf({ now: () => clock.now() + DAY } as FakeClock)}T00:00:00Z`;
    expect(refused.headers.get('retry-after')).to.equal(null);
    expect(refused.headers.get('x-gateway-budget')).to.match(
      /^kind=key, id="[^"]+", unit=requests, window=day, spent=2, limit=2, ends=/,
    );
    expect(refused.headers.get('x-gateway-budget')).to.include(`ends=${Date.parse(next) / 1000}`);
    expect(await messageOf(refused)).to.equal(
      `${PREFIX} for the day is spent: 2 of 2 requests; it begins again at ${next}`,
    );
    expect(sumOf(`requests|day@UTC+00:00|${day}`)).to.equal(2);
    expect(sumOf(`usd|total|`)).to.equal(2 * (10 * 2.5 + 5 * 10));
    clock.advance(Date.parse(next) - clock.now());
    expect((await send()).status).to.equal(200);
    expect(sumOf(`requests|day@UTC+00:00|${day}`)).to.equal(2);
    expect(sumOf(`requests|day@UTC+00:00|${dayOf(clock)}`)).to.equal(1);
  });

  it('refuse what is asked for with 402 on every route that budget_usd refuses it on, whole and streamed, and send nothing', async () => {
    const plain = await gateway();
    const { bearer: poor, spent } = await plain.key({ budget_usd: 0.000001 });
    await plain.send(PROBES[0] as Probe, poor);
    await spent();
    for (const budget of [{ usd: 0 }, { tokens: 0, every: 'month' }, { requests: 0, every: '1h' }]) {
      const { bearer } = await plain.key({ budgets: [{ tokens: 1e9 }, budget].slice('tokens' in budget ? 1 : 0) });
      for (const probe of PROBES) {
        const sent = probe.body('hi', 16);
        const before = plain.calls();
        const answer = await fetch(`${plain.t.url}${probe.path}`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${bearer}`,
            ...probe.headers,
            ...(!(sent instanceof FormData) && { 'content-type': 'application/json' }),
          },
          body: sent instanceof FormData ? sent : JSON.stringify(sent),
        });
        const what = `${probe.name} ${probe.path} ${JSON.stringify(budget)}`;
        const text = await answer.text();
        if ((await plain.send(probe, poor)) !== 402) {
          expect(answer.status, what).not.to.equal(402);
          continue;
        }
        expect(answer.status, what).to.equal(402);
        expect(plain.calls(), what).to.equal(before);
        expect(answer.headers.get('x-gateway-budget'), what).to.match(
          /^kind=key, id=".+", unit=(usd|tokens|requests), window=/,
        );
        expect(answer.headers.get('retry-after'), what).to.equal(null);
        expect(text, what).to.include(PREFIX);
      }
    }
  }).timeout(60_000);

  it('hold nothing in any of them where one denies', async () => {
    const { send, t, sumOf, clock } = await scene(
      [{ usd: 10 }, { tokens: 1000, every: 'week' }, { requests: 0, every: 'day' }],
      {
        limits: { budget_usd: 10 },
      },
    );
    for (let call = 0; call < 5; call += 1) expect((await send()).status).to.equal(402);
    expect([sumOf('usd|total|'), sumOf(`requests|day@UTC+00:00|${dayOf(clock)}`)]).to.deep.equal([0, 0]);
    expect(ledgerOf(t).reserved).to.equal(0);
  });

  it('grant no more requests than there are, however many come at once', async () => {
    const { send, calls, t } = await scene([{ requests: 3, every: '1m' }]);
    const answers = await Promise.all(Array.from({ length: 12 }, () => send()));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(3);
    expect(calls()).to.equal(3);
    expect(ledgerOf(t).reserved).to.equal(0);
  });

  it('are those of its sessions too, and of no other key', async () => {
    const { send, t, id } = await scene([{ requests: 1 }]);
    const { token } = await t.host.stores.sessions.create({ credentialId: id, subject: 'k', scopes: ['read_only'] });
    const other = await t.host.stores.keys.create({ name: 'o', scopes: [], limits: { budgets: [{ requests: 1 }] } });
    expect((await send({}, token)).status).to.equal(200);
    const refused = await send();
    expect(refused.status).to.equal(402);
    expect(await messageOf(refused)).to.equal(`${PREFIX} is spent: 1 of 1 requests`);
    expect(refused.headers.get('x-gateway-budget')).not.to.include('ends=');
    expect((await send({}, other.key)).status).to.equal(200);
  });

  it('stand beside budget_usd, which stays as it is and says nothing in the header', async () => {
    const { send } = await scene([{ requests: 5 }], { limits: { budget_usd: 0.00001 } });
    expect((await send()).status).to.equal(200);
    const refused = await send();
    expect(refused.status).to.equal(402);
    expect(refused.headers.get('x-gateway-budget')).to.equal(null);
    expect(await messageOf(refused)).to.include('budget exceeded: spent $0.0001 of $0.00 limit');
  });

  it('book no tokens and no dollars for a call that failed, and count it as a request', async () => {
    const { send, sumOf, t } = await scene([{ requests: 1 }, { tokens: 5 }, { usd: 0.000001 }], { status: 500 });
    expect((await send()).status).to.equal(502);
    expect([sumOf('requests|total|'), sumOf('tokens|total|'), sumOf('usd|total|')]).to.deep.equal([1, 0, 0]);
    expect(ledgerOf(t).reserved).to.equal(0);
  });

  it('count an answer of a cache as a request, without tokens and dollars', async () => {
    const plugins = ['before_request', 'after_request'].map((stage) => ({
      name: 'response-cache',
      stage,
      enabled: true,
    }));
    const { send, sumOf, calls } = await scene([{ requests: 3 }, { tokens: 1000 }], { config: { plugins } });
    expect([(await send()).status, (await send()).status, (await send()).status]).to.deep.equal([200, 200, 200]);
    expect([calls(), sumOf('requests|total|'), sumOf('tokens|total|')]).to.deep.equal([1, 3, 15]);
    expect((await send()).status).to.equal(402);
  });

  it('count nothing for what a plugin refuses', async () => {
    const plugins = [
      { name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: ['hi'] } },
    ];
    const { send, sumOf, t } = await scene([{ requests: 1 }], { config: { plugins } });
    expect((await send()).status).to.equal(400);
    expect([sumOf('requests|total|'), ledgerOf(t).reserved]).to.deep.equal([0, 0]);
  });

  it('refuse a model without a price where they hold dollars, unless money.unpriced says otherwise', async () => {
    const strict = await scene([{ usd: 10 }]);
    expect((await strict.send({ model: 'unknown-model' })).status).to.equal(400);
    const wide = await scene([{ usd: 10 }], { config: { money: { unpriced: 'allow' } } });
    expect((await wide.send({ model: 'unknown-model' })).status).to.equal(200);
    const counted = await scene([{ tokens: 10 }]);
    expect((await counted.send({ model: 'unknown-model' })).status).to.equal(200);
  });

  it('keep what was spent when a limit or the configuration changes, and begin at 0 where the window is another', async () => {
    const { send, t, id } = await scene([{ requests: 1, every: 'day' }]);
    expect([(await send()).status, (await send()).status]).to.deep.equal([200, 402]);
    const change = (budgets: readonly KeyBudget[]): Promise<unknown> =>
      t.host.stores.keys.update(id, { limits: { budgets } }, 'another');
    await change([{ requests: 2, every: 'day', at: '00:00', timezone: 'UTC' }]);
    expect([(await send()).status, (await send()).status]).to.deep.equal([200, 402]);
    await change([{ requests: 2, every: 'day', timezone: 'Asia/Kolkata' }]);
    expect((await send()).status).to.equal(200);
  });

  it('correct the tokens and dollars of an answer that its provider goes on with, once, and count each request that reads it', async () => {
    const usage = { input_tokens: 100, output_tokens: 50, total_tokens: 150 };
    let status: object = { status: 'in_progress' };
    const upstream = await stubUpstream((seen, response) => {
      const state = seen.method === 'POST' ? { status: 'queued' } : status;
      replyJson(response, 200, {
        id: 'resp_1',
        object: 'response',
        model: 'gpt-4o',
        background: true,
        output: [],
        ...state,
      });
    });
    const t = await startHost(
      { targets: [{ virtual_key: 'openai', models: ['gpt-4o'] }], responses_target: 'openai' },
      { variables: { OPENAI_API_KEY: 'k-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` } },
    );
    const budgets = [{ usd: 1 }, { tokens: 100_000 }, { requests: 9 }];
    const made = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits: { budgets } });
    const headers = { authorization: `Bearer ${made.key}` };
    const sums = (): number[] =>
      ['usd', 'tokens', 'requests'].map((unit) => ledgerOf(t).committed(`k:${made.record.id}|${unit}|total|`));
    await t.post('/v1/responses', { model: 'gpt-4o', input: 'hi', background: true, max_output_tokens: 1000 }, headers);
    await eventually(() => t.host.slot.leases === 0);
    expect(sums()[1]).to.be.within(1000, 1100);
    expect(sums()[0]).to.be.within(10_000, 10_100);
    status = { status: 'completed', usage };
    for (let read = 0; read < 3; read += 1) await t.get('/v1/responses/resp_1', headers);
    await eventually(() => sums()[1] === 150);
    expect(sums()).to.deep.equal([100 * 2.5 + 50 * 10, 150, 4]);
  });

  it('are not asked where tools are called by /mcp, models are listed or tokens are counted', async () => {
    const { t, bearer, send, sumOf } = await scene([{ requests: 0 }]);
    const headers = { authorization: `Bearer ${bearer}` };
    expect((await t.get('/v1/models', headers)).status).to.equal(200);
    expect(
      (
        await t.post(
          '/v1/messages/count_tokens',
          { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] },
          headers,
        )
      ).status,
    ).not.to.equal(402);
    expect((await send()).status).to.equal(402);
    expect(sumOf('requests|total|')).to.equal(0);
  });

  it('leave a key without them alone: nothing is kept in their ledger', async () => {
    const { t, send } = await scene([{ requests: 1 }]);
    const plain = await t.host.stores.keys.create({ name: 'p', scopes: [], limits: { budget_usd: 5 } });
    expect((await send({}, plain.key)).status).to.equal(200);
    expect(ledgerOf(t).size).to.equal(0);
  });

  it('pay the window of their admission, whatever the clock does: each window has what was admitted in it', async () => {
    const { send, clock, set, sumOf } = await scene([{ requests: 1_000_000, every: '10m' }]);
    const dice = new Dice(7);
    const admitted = new Map<number, number>();
    const began = clock.now();
    let at = 0;
    for (let call = 0; call < 40; call += 1) {
      const to = dice.below(50) * 60_000;
      set(began + to);
      at = Math.floor(clock.now() / 600_000);
      admitted.set(at, (admitted.get(at) ?? 0) + 1);
      expect((await send()).status).to.equal(200);
    }
    for (const [index, count] of admitted)
      expect(sumOf(`requests|10m~1970-01-01T00:00:00Z|${index}`), String(index)).to.equal(count);
  });
});
