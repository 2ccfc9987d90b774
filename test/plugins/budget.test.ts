import { expect } from 'chai';
import { answer, type ChatReply, definePlugin, type Exchange, type Ledger, type PluginDeps, type PluginHandlers, type Refusal, type Reservation, type ReservationOrder, type Usage } from 'gw/contract';
import Joi from 'joi';
import budget from '../../plugins/budget/index.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import { MemoryLedger } from '../../host/state/memory-ledger.ts';
import { type Answer, ask, chatReply, eventually, openSse, replyJson, replyStream, sseEvent, startHost, stubUpstream, type StubHandler, type StubUpstream, type TestHost, type TestHostOptions } from '../kit/index.ts';
import { WITH_EMBEDDINGS, withKeys } from './kit.ts';

const PATH = '/v1/chat/completions';
const STAGES: readonly string[] = ['before_request', 'after_request'];
/** One dollar per token, so that small numbers are seen: a call of `chatReply` costs 18. */
const RATES = { input_per_m_tokens: 1e6, output_per_m_tokens: 1e6 };

const entries = (config: object, stages: readonly string[] = STAGES): object[] => stages.map((stage) => ({ name: 'budget', type: 'guardrail', stage, enabled: true, config }));

interface Scene {
  readonly host: TestHost;
  readonly upstream: StubUpstream;
  readonly send: (request?: object, key?: string, path?: string) => Promise<Answer>;
  readonly apply: (config: object, stages?: readonly string[]) => Promise<void>;
  /** Micro-dollars of key `a`. */
  readonly spent: () => number;
  readonly reserved: () => number;
}

const usage = (prompt: number, completion: number, more: object = {}): object => ({ usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion, ...more } });

async function scene(config: object, handler: StubHandler = (_request, response) => replyJson(response, 200, chatReply('hello')), stages = STAGES, options: TestHostOptions = {}, others: readonly object[] = []): Promise<Scene> {
  const upstream = await stubUpstream(handler);
  const full = (settings: object, at: readonly string[]): object => ({ targets: [upstream.target('a', {}, WITH_EMBEDDINGS)], plugins: [...others, ...entries(settings, at)] });
  const host = await startHost(full(config, stages), { builtins: [withKeys('a', 'b')], ...options });
  const ledger = (): MemoryLedger => {
    const carryover = host.host.carryover.open();
    const found = carryover.lease<MemoryLedger>('ledger budget default', () => { throw new Error('there is no ledger'); });
    void carryover.release();
    return found;
  };
  return {
    host, upstream,
    send: (request = {}, key = 'key-a', path = PATH) => host.post(path, path === PATH ? ask('hi', request) : { model: 'm', ...request }, { authorization: `Bearer ${key}` }),
    apply: (settings, at = stages) => host.apply(full(settings, at)),
    spent: () => ledger().committed('a'),
    reserved: () => ledger().reserved,
  };
}

const refusal = (answered: Answer): unknown[] => {
  const { type, code, message } = answered.json().error;
  return [answered.status, type, code, message, answered.headers.get('retry-after')];
};
const refused = (reason: string): unknown[] => [402, 'insufficient_quota', 'insufficient_quota', `request rejected by budget (before_request): budget exceeded: ${reason}`, null];

describe('budget', () => {
  it('serves the request that crosses the limit, and refuses the next with 402 and without a time', async () => {
    const { send, upstream } = await scene({ ...RATES, spend_limit_usd: 20 });
    for (const status of [200, 200]) expect((await send()).status).to.equal(status);
    expect(refusal(await send())).to.deep.equal(refused('spent $36.0000 of $20.00 limit'));
    expect(refusal(await send({ stream: true }))).to.deep.equal(refused('spent $36.0000 of $20.00 limit'));
    expect(upstream.seen).to.have.length(2);
  });

  it('refuses at the limit itself, and states four decimals of what was spent and two of the limit', async () => {
    const { send } = await scene({ input_per_m_tokens: 1, output_per_m_tokens: 0.125, spend_limit_usd: 0.000011875 });
    expect((await send()).status).to.equal(200); // 11 + 0.875 micro-dollars, of which 11 are whole
    expect((await send()).status).to.equal(200);
    expect(refusal(await send())).to.deep.equal(refused('spent $0.0000 of $0.00 limit'));
  });

  it('counts each credential by itself, and nobody without one', async () => {
    const { send } = await scene({ ...RATES, spend_limit_usd: 1 });
    expect([(await send()).status, (await send()).status, (await send({}, 'key-b')).status]).to.deep.equal([200, 402, 200]);
    const open = await scene({ ...RATES, spend_limit_usd: 1 }, undefined, STAGES, { variables: { ALLOW_UNAUTHENTICATED_PROXY: 'true' } });
    const bare = (): Promise<number> => fetch(`${open.host.url}${PATH}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(ask()) }).then(({ status }) => status);
    expect([await bare(), await bare(), await bare()]).to.deep.equal([200, 200, 200]);
  });

  it('without a limit refuses nobody, and counts all the same', async () => {
    const { send, spent, apply } = await scene(RATES);
    for (let time = 0; time < 3; time += 1) expect((await send()).status).to.equal(200);
    expect(spent()).to.equal(54_000_000);
    await apply({ ...RATES, spend_limit_usd: 54 });
    expect((await send()).status).to.equal(402);
  });

  it('counts on every surface, and not what nobody serves', async () => {
    const { send, spent } = await scene({ ...RATES, spend_limit_usd: 5 }, (_request, response) => replyJson(response, 200, { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], model: 'm', usage: { prompt_tokens: 6, total_tokens: 6 } }));
    expect((await send({ model: 'nobody' })).status).to.equal(404);
    expect([(await send({ input: 'x' }, 'key-a', '/v1/embeddings')).status, (await send({ input: 'x' }, 'key-a', '/v1/embeddings')).status]).to.deep.equal([200, 402]);
    expect(spent()).to.equal(6_000_000);
  });

  for (const [what, rates, told, cost] of [
    ['cached tokens on the input rate without their own', { input_per_m_tokens: 10, output_per_m_tokens: 100 }, { cache_read_tokens: 4 }, 10 * 10 + 5 * 100],
    ['cached tokens by their rate', { input_per_m_tokens: 10, output_per_m_tokens: 100, cache_read_per_m_tokens: 1 }, { cache_read_tokens: 4 }, 6 * 10 + 4 + 5 * 100],
    ['cached tokens free at 0', { input_per_m_tokens: 10, output_per_m_tokens: 100, cache_read_per_m_tokens: 0 }, { cache_read_tokens: 4 }, 6 * 10 + 5 * 100],
    ['more cached tokens than the prompt', { input_per_m_tokens: 10, cache_read_per_m_tokens: 1 }, { cache_read_tokens: 40 }, 40],
    ['cache writes beside the prompt', { input_per_m_tokens: 10, cache_write_per_m_tokens: 7 }, { cache_write_tokens: 3 }, 10 * 10 + 3 * 7],
    ['reasoning as part of the completion', { output_per_m_tokens: 100 }, { reasoning_tokens: 5 }, 500],
  ] as const) {
    it(`bills ${what}`, async () => {
      const { send, spent } = await scene(rates, (_request, response) => replyJson(response, 200, chatReply('x', usage(10, 5, told))));
      await send();
      expect(spent()).to.equal(cost);
    });
  }

  it('bills by the catalog when no rate is written, what it does not know not at all', async () => {
    const { send, spent, host } = await scene({ spend_limit_usd: 1 });
    const cost = { totalUsd: 0.6, inputUsd: 0, outputUsd: 0, cacheReadUsd: 0, cacheWriteUsd: 0, reasoningUsd: 0, modelFound: true, priced: true, catalog: 'test' };
    await send();
    expect(spent()).to.equal(0);
    const { services } = host.host;
    services.catalog = { ...services.catalog, cost: () => cost };
    for (const status of [200, 200]) expect((await send()).status).to.equal(status);
    expect(refusal(await send())).to.deep.equal(refused('spent $1.2000 of $1.00 limit'));
  });

  it('bills nothing for answers of a cache', async () => {
    const cached = definePlugin({
      name: 'cached', type: 'transform', keepsModel: true, summary: 'Answers', stages: ['before_request'], settings: Joi.object({}),
      create: () => ({ before_request: () => answer(chatReply('x') as ChatReply) }),
    });
    const { send, spent } = await scene({ ...RATES, spend_limit_usd: 10 }, undefined, STAGES, { modules: [cached], builtins: [withKeys('a')] }, [{ name: 'cached', stage: 'before_request', enabled: true }]);
    for (const stream of [false, true]) expect((await send({ stream })).status).to.equal(200);
    expect(spent()).to.equal(0);
  });
});

describe('budget, in flight', () => {
  const held = (): { handler: StubHandler; open: () => void } => {
    const gate = Promise.withResolvers<void>();
    return { handler: async (_request, response) => { await gate.promise; replyJson(response, 200, chatReply('x')); }, open: () => gate.resolve() };
  };
  /** 'hi' is a token: two characters by four, and one. */
  for (const [what, config, request, inFlight] of [
    ['the prompt and the declared ceiling', {}, { max_tokens: 4 }, 5],
    ['the ceiling that goes before the other', {}, { max_tokens: 9, max_completion_tokens: 4 }, 5],
    ['the ceiling of each choice', {}, { max_tokens: 2, n: 2 }, 5],
    ['reserve_tokens without a ceiling', { reserve_tokens: 3 }, {}, 4],
    ['the prompt alone without either', {}, {}, 1],
  ] as const) {
    it(`reserves ${what}`, async () => {
      const { handler, open } = held();
      const { send, upstream, reserved, spent } = await scene({ ...RATES, ...config, spend_limit_usd: inFlight }, handler);
      const first = send(request);
      await eventually(() => upstream.seen.length === 1);
      expect(reserved()).to.equal(inFlight * 1e6);
      expect(refusal(await send())).to.deep.equal(refused(`spent $0.0000 of $${inFlight}.00 limit`));
      open();
      expect((await first).status).to.equal(200);
      expect([reserved(), spent()]).to.deep.equal([0, 18_000_000]);
    });
  }

  it('reserves at the price of the dearest target', async () => {
    const { handler, open } = held();
    const { send, upstream, reserved, host } = await scene({ spend_limit_usd: 1 }, handler);
    const { services } = host.host;
    services.catalog = { ...services.catalog, tokenPrice: () => ({ input: 2, output: 3, cacheRead: undefined, cacheWrite: undefined, embedding: undefined, image: undefined }) };
    const first = send({ max_tokens: 100 });
    await eventually(() => upstream.seen.length === 1);
    expect(reserved()).to.equal(2 + 300);
    open();
    await first;
  });

  it('gives back what failed, whatever stage it failed at, and bills it at on_error where it reports', async () => {
    const failing = await scene({ ...RATES, spend_limit_usd: 1 }, (_request, response) => replyJson(response, 500, {}));
    for (let time = 0; time < 3; time += 1) expect((await failing.send({ max_tokens: 50 })).status).to.equal(502);
    expect([failing.spent(), failing.reserved()]).to.deep.equal([0, 0]);
    const filter = (stages: readonly string[]): object[] => stages.map((stage) => ({ name: 'word-filter', stage, enabled: true, config: { blocked_words: ['hello'] } }));
    for (const [stages, billed] of [[STAGES, 0], [[...STAGES, 'on_error'], 18_000_000]] as const) {
      const { send, spent, reserved } = await scene(RATES, undefined, stages, {}, filter(['after_request']));
      expect((await send()).status).to.equal(502);
      expect([spent(), reserved()]).to.deep.equal([billed, 0]);
    }
  });

  it('gives back what a later plugin refused', async () => {
    const no = definePlugin({ name: 'no', type: 'guardrail', summary: 'Refuses', stages: ['before_request'], settings: Joi.object({}), create: () => ({ before_request: () => ({ action: 'reject', reason: 'no' }) }) });
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('x')));
    const host = await startHost({ targets: [upstream.target('a')], plugins: [...entries({ ...RATES, spend_limit_usd: 1 }), { name: 'no', stage: 'before_request', enabled: true }] }, { modules: [no] });
    for (let time = 0; time < 3; time += 1) expect((await host.post(PATH, ask('hi', { max_tokens: 50 }))).status).to.equal(400);
  });
});

describe('budget, streams', () => {
  const piece = (content: string): string => sseEvent({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] });
  const told = sseEvent({ id: 'c', choices: [], ...usage(3, 2) });

  it('are billed as they report', async () => {
    const { send, spent, reserved } = await scene(RATES, (_request, response) => replyStream(response, ['a', 'b']));
    expect((await send({ stream: true, max_tokens: 100 })).text).to.include('[DONE]');
    expect([spent() > 0, reserved()]).to.deep.equal([true, 0]);
  });

  for (const [what, events, billed] of [
    ['the usage that arrived', piece('abcd') + told, 5], ['prompt and delivered text where none did', piece('abcd') + piece('efgh'), 1 + 2],
  ] as const) {
    it(`that break are billed from ${what}`, async () => {
      const { send, spent, reserved } = await scene(RATES, (_request, response) => {
        openSse(response);
        response.end(events + sseEvent({ error: { message: 'boom' } }));
      });
      expect((await send({ stream: true, max_tokens: 100 })).text).to.include('stream_error');
      await eventually(() => spent() > 0);
      expect([spent(), reserved()]).to.deep.equal([billed * 1e6, 0]);
    });
  }

  it('that the client leaves are billed from what was delivered', async () => {
    const { host, spent, reserved } = await scene(RATES, (_request, response) => {
      openSse(response);
      response.write(piece('abcd'));
    });
    const leaving = new AbortController();
    const response = await fetch(`${host.url}${PATH}`, { method: 'POST', signal: leaving.signal, headers: { authorization: 'Bearer key-a', 'content-type': 'application/json' }, body: JSON.stringify(ask('hi', { stream: true, max_tokens: 100 })) });
    await response.body?.getReader().read();
    expect(reserved()).to.equal(101e6);
    leaving.abort();
    await eventually(() => spent() > 0);
    expect([spent(), reserved()]).to.deep.equal([2e6, 0]);
  });

  it('that never begin are given back', async () => {
    const { send, spent, reserved } = await scene(RATES, (_request, response) => replyJson(response, 500, {}));
    expect((await send({ stream: true, max_tokens: 100 })).status).to.equal(502);
    expect([spent(), reserved()]).to.deep.equal([0, 0]);
  });

  it('that a guardrail ends are billed as they were delivered', async () => {
    const filter = [{ name: 'word-filter', stage: 'after_request', enabled: true, config: { blocked_words: ['efgh'], stream: 'window' } }];
    const { send, spent } = await scene(RATES, (_request, response) => {
      openSse(response);
      response.end(`${piece('abcd')}${piece('efgh')}${told}${sseEvent('[DONE]')}`);
    }, STAGES, {}, filter);
    expect((await send({ stream: true })).text).to.include('stream_error');
    await eventually(() => spent() > 0);
    expect(spent()).to.be.within(1e6, 3e6);
  });
});

describe('budget, its ledger', () => {
  it('goes on over a configuration change with the same store_id, whatever else changes', async () => {
    const { send, apply } = await scene({ ...RATES, spend_limit_usd: 30 });
    await send();
    await apply({ input_per_m_tokens: 5, spend_limit_usd: 18 });
    expect((await send()).status).to.equal(402);
    await apply({ input_per_m_tokens: 5, spend_limit_usd: 18, store_id: 'other' });
    expect((await send()).status).to.equal(200);
  });

  it('gets what a request that began under another configuration cost', async () => {
    const gate = Promise.withResolvers<void>();
    const { send, apply, upstream, spent, reserved } = await scene(RATES, async (_request, response) => { await gate.promise; replyJson(response, 200, chatReply('x')); });
    const pending = send({ max_tokens: 4 });
    await eventually(() => upstream.seen.length === 1);
    await apply({ ...RATES, spend_limit_usd: 5 });
    expect([(await send()).status, reserved()]).to.deep.equal([402, 5e6]);
    gate.resolve();
    expect((await pending).status).to.equal(200);
    expect([spent(), reserved()]).to.deep.equal([18e6, 0]);
  });

  it('forgets who spent least at max_keys, and never who has reached the limit', async () => {
    const { send } = await scene({ ...RATES, spend_limit_usd: 10, max_keys: 1 }, undefined, STAGES, { builtins: [withKeys('a', 'b', 'c')] });
    for (const key of ['key-a', 'key-b', 'key-c']) expect((await send({}, key)).status).to.equal(200);
    for (const key of ['key-a', 'key-b', 'key-c']) expect((await send({}, key)).status).to.equal(402);
  });
});

describe('budget, over several turns of one request', () => {
  const turns = async (): Promise<{ ledger: MemoryLedger; handlers: PluginHandlers; exchange: { -readonly [M in keyof Exchange]: Exchange[M] } }> => {
    const ledger = new MemoryLedger({ maxKeys: 0 });
    const settings = { ...RATES, spend_limit_usd: 20, max_keys: 0, store_id: 's', reserve_tokens: 0 };
    const handlers = await budget.create(settings, { ledger: () => ledger } as unknown as PluginDeps);
    const request = { model: 'm', max_tokens: 4, messages: [{ role: 'user', content: 'hi' }] };
    return { ledger, handlers, exchange: { surface: 'chat', stage: 'before_request', principal: { id: 'a' }, request, streaming: false, measurements: {} } as unknown as Exchange };
  };
  const used = (total: number): Usage => ({ prompt_tokens: total, completion_tokens: 0, total_tokens: total });

  it('counts what the turns before have cost, and bills them when the next is refused', async () => {
    const { ledger, handlers, exchange } = await turns();
    for (const total of [6, 12]) {
      expect(handlers.before_request?.(exchange)).to.equal(undefined);
      exchange.usage = used(total);
    }
    expect([ledger.reserved, ledger.committed('a')]).to.deep.equal([11e6, 0]); // 6 of the turn before, and 5 of this one
    exchange.usage = used(20);
    expect(handlers.before_request?.(exchange)).to.deep.equal({ action: 'reject', reason: 'budget exceeded: spent $0.0000 of $20.00 limit' });
    handlers.finished?.(exchange, 'rejected');
    expect([ledger.reserved, ledger.committed('a')]).to.deep.equal([0, 20e6]);
  });

  it('bills the turns before one that fails, and the sum once when all succeed', async () => {
    for (const [outcome, total] of [['error', 12], ['success', 12]] as const) {
      const { ledger, handlers, exchange } = await turns();
      for (const sum of [6, total]) {
        void handlers.before_request?.(exchange);
        exchange.usage = used(sum);
      }
      if (outcome === 'success') void handlers.after_request?.(exchange);
      handlers.finished?.(exchange, outcome);
      expect([ledger.reserved, ledger.committed('a')], outcome).to.deep.equal([0, 12e6]);
    }
  });
});

describe('budget, with a ledger that a store supplies', () => {
  /** Answers late, as a database does. */
  class LateLedger implements Ledger {
    readonly memory = new MemoryLedger({ maxKeys: 0 });

    async reserve(key: string, order: ReservationOrder): Promise<Reservation | Refusal> {
      await new Promise((resolve) => { setImmediate(resolve); });
      const answered = this.memory.reserve(key, order);
      return answered.isGranted ? { isGranted: true, settle: async (spent) => { await answered.settle(spent); }, release: () => answered.release() } : answered;
    }

    async commit(key: string, spent: number): Promise<void> { this.memory.commit(key, spent); }
  }

  it('waits for it before a call, and books before the answer leaves', async () => {
    const opened: string[] = [];
    const ledger = new LateLedger();
    const store = defineBuiltin({ name: 'test-ledgers', apply: ({ hooks }) => hooks.open.tapPromise('test-ledgers', async ({ stores }) => stores.ledgers.supply('sqlite', { open: (name, { maxKeys }) => {
      opened.push(`${name} ${maxKeys}`);
      return ledger;
    } })) });
    const { send, apply } = await scene({ ...RATES, spend_limit_usd: 20, store_id: 'team', max_keys: 7 }, undefined, STAGES, { builtins: [withKeys('a'), store] });
    expect((await send()).status).to.equal(200);
    expect(ledger.memory.committed('a')).to.equal(18e6);
    await apply({ ...RATES, spend_limit_usd: 30, store_id: 'team', max_keys: 8 });
    expect((await send()).status).to.equal(200);
    expect(refusal(await send())).to.deep.equal(refused('spent $36.0000 of $30.00 limit'));
    expect([opened, ledger.memory.reserved]).to.deep.equal([['budget team 7'], 0]);
  });
});

describe('budget, settings', () => {
  const problemOf = async (config: object, stages = STAGES): Promise<string> => {
    const { apply } = await scene({});
    return apply(config, stages).then(() => 'applied', (error: Error) => error.message);
  };

  for (const setting of ['spend_limit_usd', 'input_per_m_tokens', 'output_per_m_tokens', 'cache_read_per_m_tokens', 'cache_write_per_m_tokens', 'max_keys']) {
    it(`refuses ${setting} unless it is a number of 0 or more`, async () => {
      for (const value of [-1, '5', '${AMOUNT}', null]) expect(await problemOf({ [setting]: value }), String(value)).to.include('BV05').and.include('budget').and.include(setting);
    });
  }

  it('refuses a limit that rates of 0 never reach, and takes none, and no rates at all', async () => {
    for (const rates of [{ input_per_m_tokens: 0 }, { input_per_m_tokens: 0, output_per_m_tokens: 0, cache_read_per_m_tokens: 0, cache_write_per_m_tokens: 0 }]) {
      expect(await problemOf({ ...rates, spend_limit_usd: 1 })).to.include('BV05').and.include('spend_limit_usd');
      expect(await problemOf(rates)).to.equal('applied');
    }
    for (const fine of [{ spend_limit_usd: 1 }, { spend_limit_usd: 1, input_per_m_tokens: 0, output_per_m_tokens: 1 }]) expect(await problemOf(fine)).to.equal('applied');
  });

  it('refuses other settings that are not theirs, or not right', async () => {
    for (const [config, setting] of [[{ limit: 1 }, 'limit'], [{ store_id: 3 }, 'store_id'], [{ reserve_tokens: 0.5 }, 'reserve_tokens'], [{ reserve_tokens: -1 }, 'reserve_tokens']] as const) {
      expect(await problemOf(config)).to.include('BV06').and.include('budget').and.include(setting);
    }
  });

  it('must stand before and after, and may stand at on_error', async () => {
    expect(await problemOf({}, ['before_request'])).to.include('BV07').and.include('budget').and.include('after_request is missing');
    expect(await problemOf({}, ['after_request', 'on_error'])).to.include('BV07').and.include('before_request is missing');
    expect(await problemOf({}, [...STAGES, 'on_error'])).to.equal('applied');
  });
});
