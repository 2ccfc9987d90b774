import { expect } from 'chai';
import Joi from 'joi';
import {
  answer,
  type ChatChunk,
  type ChatReply,
  type ChatRequest,
  definePlugin,
  type Exchange,
  type PluginModule,
  reject,
} from 'gw/contract';
import { defineBuiltin } from '../../host/builtin.ts';
import { NO_CATALOG } from '../../host/common/catalog.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { Attempt } from '../../host/pipeline/attempts/attempt.ts';
import type { ReplyFacts } from '../../host/answer/events/stream-relay.ts';
import { AnswerStream, type StreamOutput } from '../../host/answer/stream.ts';
import type { TurnRequest } from '../../host/pipeline/turns/turn.ts';
import { collectTurn, type RunTurn } from '../../host/pipeline/turns/turns.ts';
import type { ClientStream } from '../../host/wire/client-wire.ts';
import {
  type Answer,
  ask,
  chatReply,
  eventually,
  fakeClock,
  type FakeClock,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';
const HEAD = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };

/** Chunks that say one text, and what was used. */
function chunksOf(text: string, usage: object): string {
  const chunks = [
    { choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage },
  ];
  return [...chunks.map((chunk) => ({ ...HEAD, ...chunk })), '[DONE]'].map(sseEvent).join('');
}

const USAGE = {
  prompt_tokens: 10,
  completion_tokens: 1,
  total_tokens: 11,
  prompt_tokens_details: { cached_tokens: 4 },
};
const GROWN_USAGE = {
  prompt_tokens: 30,
  completion_tokens: 2,
  total_tokens: 32,
  prompt_tokens_details: { cached_tokens: 5 },
  cost: 0.5,
};
const SUM = { prompt_tokens: 40, completion_tokens: 3, total_tokens: 43 };

/** Says how many messages it was sent; what it used depends on them. */
const counting: StubHandler = (request, response) => {
  const { messages, stream } = request.json() as { messages: object[]; stream?: boolean };
  const usage = messages.length === 1 ? USAGE : GROWN_USAGE;
  if (!stream) replyJson(response, 200, { ...chatReply(`saw ${messages.length}`), usage });
  else {
    openSse(response);
    response.end(chunksOf(`saw ${messages.length}`, usage));
  }
};

type Wrap = (runTurn: RunTurn, exchange: LiveExchange) => ReturnType<RunTurn>;

const textOf = ({ choices }: ChatReply): string => String(choices[0]?.message.content);

/** What a loop sends next: a copy of the caller's request, with what came of the turn before. */
function grown(exchange: LiveExchange, reply: ChatReply, more: Omit<TurnRequest, 'request'> = {}): TurnRequest {
  const request = exchange.request as ChatRequest;
  return {
    request: {
      ...request,
      messages: [
        ...request.messages,
        { role: 'assistant', content: textOf(reply) },
        { role: 'user', content: 'go on' },
      ],
    },
    ...more,
  };
}

/** An encoder that lets nothing leave. */
const silent = (): ClientStream => ({
  contentType: 'text/event-stream',
  frames: undefined,
  chunk: () => '',
  keepAlive: () => '',
  end: () => '',
  error: () => '',
});

interface Seen {
  readonly stages: string[];
  readonly settled: Attempt[];
  readonly finished: LiveExchange[];
  readonly after: {
    readonly request: unknown;
    readonly usage: unknown;
    readonly costUsd: number | undefined;
    readonly text: string;
  }[];
}

interface Setup {
  readonly t: TestHost;
  readonly upstream: StubUpstream;
  readonly seen: Seen;
  readonly clock: FakeClock;
}

async function setUp(
  wraps: readonly Wrap[],
  {
    handler = counting,
    config = {},
    plugin = {},
  }: { handler?: StubHandler; config?: object; plugin?: Partial<PluginModule> } = {},
): Promise<Setup> {
  const seen: Seen = { stages: [], settled: [], finished: [], after: [] };
  const watching = definePlugin({
    name: 'watching',
    type: 'guardrail',
    summary: 'For this test',
    stages: ['before_request', 'after_request', 'on_error'],
    settings: Joi.object({}),
    create: () => ({
      before_request: ({ request }) => void seen.stages.push(`before ${(request as ChatRequest).messages.length}`),
      after_request: ({ request, usage, measurements, reply }: Exchange) => {
        seen.stages.push('after');
        seen.after.push({
          request: structuredClone(request),
          usage,
          costUsd: measurements.costUsd,
          text: textOf(reply as ChatReply),
        });
      },
      on_error: ({ error, usage, measurements }) =>
        void seen.stages.push(`error ${error?.code} ${usage?.total_tokens} ${measurements.costUsd}`),
    }),
    ...plugin,
  });
  const looping = defineBuiltin({
    name: 'looping',
    apply: ({ hooks }) =>
      hooks.assemble.tapPromise('looping', async ({ hooks: pipeline }) => {
        for (const wrap of wraps) pipeline.turns.tap('looping', (runTurn) => (exchange) => wrap(runTurn, exchange));
        pipeline.settled.tap('looping', (attempt) => void seen.settled.push(attempt));
        pipeline.finished.tap('looping', (exchange) => void seen.finished.push(exchange));
      }),
  });
  const clock = fakeClock();
  const upstream = await stubUpstream(handler);
  const stages = ['before_request', 'after_request', 'on_error'].map((stage) => ({
    name: 'watching',
    stage,
    enabled: true,
  }));
  const t = await startHost(
    { strategy: { mode: 'fallback' }, targets: [upstream.target('a')], plugins: stages, ...config },
    { modules: [watching], builtins: [looping], clock },
  );
  const priced = (tokens: number): object => ({ totalUsd: tokens / 1000, priced: true });
  t.host.services.catalog = {
    ...NO_CATALOG,
    cost: (_target, _model, { usage }) => priced(usage?.total_tokens ?? 0) as never,
  };
  return { t, upstream, seen, clock };
}

/** Two turns, whole. */
const twoTurns: Wrap = async (runTurn, exchange) => {
  const first = (await runTurn(exchange)) as ChatReply;
  return runTurn(exchange, grown(exchange, first, { streaming: false }));
};

const contentOf = (answered: Answer): string =>
  answered
    .events()
    .flatMap((event: { choices?: ChatChunk['choices'] }) => event.choices ?? [])
    .map(({ delta }) => delta.content ?? '')
    .join('');
const usageIn = (answered: Answer): unknown[] =>
  answered.events().flatMap((event: { usage?: object }) => event.usage ?? []);

function expectSums({ seen, upstream }: Setup, text: string): void {
  expect(seen.stages).to.deep.equal(['before 1', 'after']);
  expect(seen.after[0]).to.deep.include({ costUsd: 0.043, text });
  expect(seen.after[0]!.usage).to.deep.include({ ...SUM, prompt_tokens_details: { cached_tokens: 9 }, cost: 0.5 });
  expect(seen.after[0]!.request, 'the request of the caller').to.have.property('messages').with.lengthOf(1);
  expect(upstream.seen.map((request) => (request.json()['messages'] as object[]).length)).to.deep.equal([1, 3]);
  expect(seen.finished.map(({ usage, costUsd }) => [usage?.total_tokens, costUsd])).to.deep.equal([[43, 0.043]]);
}

describe('an exchange of several turns', () => {
  it('is one to plugins, figures and client: usage, cost and attempts are the sums', async () => {
    const setup = await setUp([twoTurns]);
    const answered = await setup.t.post(PATH, ask());
    expect([answered.status, textOf(answered.json())]).to.deep.equal([200, 'saw 3']);
    expect(answered.json().usage).to.deep.include(SUM);
    expect(answered.headers.get('x-gateway-attempts')).to.equal('2');
    expect(setup.seen.settled.map(({ number, outcome, turn }) => [number, outcome, turn.number])).to.deep.equal([
      [1, 'success', 1],
      [2, 'success', 2],
    ]);
    expectSums(setup, 'saw 3');
    expect(setup.t.lines.find(({ msg }) => msg === 'request completed')).to.deep.include({
      tokens_in: 40,
      tokens_out: 3,
      cost_usd: 0.043,
    });
  });

  it('walks the targets in every turn, with failovers, and numbers the attempts through', async () => {
    const broken = await stubUpstream((_request, response) => replyJson(response, 500, {}));
    const serving = await stubUpstream(counting);
    const { t, seen } = await setUp([twoTurns], { config: { targets: [broken.target('a'), serving.target('b')] } });
    const answered = await t.post(PATH, ask());
    expect([
      answered.status,
      answered.headers.get('x-gateway-attempts'),
      answered.headers.get('x-gateway-target'),
    ]).to.deep.equal([200, '4', 'b']);
    expect(seen.settled.map(({ number, target }) => `${number} ${target.virtualKey}`)).to.deep.equal([
      '1 a',
      '2 b',
      '3 a',
      '4 b',
    ]);
  });

  it('collects a streamed turn and streams another: one stream leaves, and its usage is the sum', async () => {
    const setup = await setUp([
      async (runTurn, exchange) => {
        const first = await collectTurn(
          exchange,
          await runTurn(exchange, { request: exchange.request, openStream: silent }),
        );
        expect(exchange.measurements.ttftMs, 'nothing has left').to.equal(undefined);
        return runTurn(exchange, grown(exchange, first));
      },
    ]);
    const answered = await setup.t.post(PATH, ask('hi', { stream: true }));
    expect([contentOf(answered), answered.events().at(-1)]).to.deep.equal(['saw 3', '[DONE]']);
    expect(usageIn(answered)).to.have.lengthOf(1);
    expect(usageIn(answered)[0]).to.deep.include(SUM);
    expect(answered.headers.get('x-gateway-attempts')).to.equal('2');
    expectSums(setup, 'saw 3');
  });

  it('answers a stream with a turn that was whole', async () => {
    const setup = await setUp([
      async (runTurn, exchange) => {
        const first = (await runTurn(exchange, { request: exchange.request, streaming: false })) as ChatReply;
        return runTurn(exchange, grown(exchange, first, { streaming: false }));
      },
    ]);
    const answered = await setup.t.post(PATH, ask('hi', { stream: true }));
    expect([contentOf(answered), answered.events().at(-1)]).to.deep.equal(['saw 3', '[DONE]']);
    expect(usageIn(answered)).to.have.lengthOf(1);
    expect(setup.upstream.seen.map((request) => request.json()['stream'] === true)).to.deep.equal([false, false]);
    expectSums(setup, 'saw 3');
  });

  /** One stream made of two turns: both leave as they come, as one answer. */
  class Chained extends AnswerStream {
    readonly encoder: ClientStream;
    readonly ended: Promise<Awaited<AnswerStream['ended']>>;
    #current: AnswerStream;
    #output: StreamOutput | undefined;
    #text = '';

    constructor(runTurn: RunTurn, exchange: LiveExchange, encoder: ClientStream, first: AnswerStream) {
      super();
      this.encoder = encoder;
      this.#current = first;
      this.ended = this.#run(runTurn, exchange);
      exchange.delivery.timedUntil = this.ended;
    }

    async #run(runTurn: RunTurn, exchange: LiveExchange): ReturnType<() => AnswerStream['ended']> {
      try {
        const reply = await collectTurn(exchange, this.#current);
        this.#text = textOf(reply);
        const openStream = (): ClientStream => ({
          ...passing(this.encoder),
          chunk: (chunk) => this.encoder.chunk(chunk),
        });
        this.#current = (await runTurn(exchange, grown(exchange, reply, { openStream }))) as AnswerStream;
        if (this.#output) this.#current.attach(this.#output);
        return await this.#current.ended;
      } catch (error) {
        return error as Awaited<AnswerStream['ended']>;
      }
    }

    attach(output: StreamOutput): void {
      this.#output = output;
      this.#current.attach(output);
    }

    resume(): void {
      this.#current.resume();
    }

    release(): void {
      this.#current.release();
    }

    reply(facts: ReplyFacts): ChatReply {
      const reply = this.#current.reply(facts) as ChatReply;
      reply.choices[0]!.message.content = this.#text + textOf(reply);
      return reply;
    }
  }

  const passing = (encoder: ClientStream): ClientStream => ({
    contentType: encoder.contentType,
    frames: undefined,
    keepAlive: (silence) => encoder.keepAlive(silence),
    end: () => '',
    error: () => '',
    chunk: (chunk) => (chunk.usage || chunk.choices[0]?.finish_reason ? '' : encoder.chunk(chunk)),
  });

  const chained: Wrap = async (runTurn, exchange) => {
    const encoder = exchange.wire.openStream(exchange);
    const first = await runTurn(exchange, { request: exchange.request, openStream: () => passing(encoder) });
    return new Chained(runTurn, exchange, encoder, first as AnswerStream);
  };

  it('may be one stream of several turns, as they come', async () => {
    const setup = await setUp([chained]);
    const answered = await setup.t.post(PATH, ask('hi', { stream: true }));
    expect([contentOf(answered), answered.events().at(-1)]).to.deep.equal(['saw 1saw 3', '[DONE]']);
    expect(usageIn(answered)).to.have.lengthOf(1);
    expect(usageIn(answered)[0]).to.deep.include(SUM);
    expectSums(setup, 'saw 1saw 3');
  });

  it('has one deadline for all turns, whole and streamed', async () => {
    const hanging: StubHandler = (request, response) => {
      if ((request.json()['messages'] as object[]).length === 1) return counting(request, response);
    };
    for (const [wrap, stream] of [
      [twoTurns, false],
      [chained, true],
    ] as const) {
      const { t, upstream, seen, clock } = await setUp([wrap], {
        handler: hanging,
        config: { request_timeout: '80ms' },
      });
      const pending = t.post(PATH, ask('hi', { stream }));
      await eventually(() => upstream.seen.length === 2);
      clock.advance(79);
      expect(seen.stages).to.deep.equal(['before 1']);
      clock.advance(1);
      const answered = await pending;
      if (stream) expect(answered.events().at(-1).error.code).to.equal('stream_error');
      else expect([answered.status, answered.json().error.code]).to.deep.equal([504, 'gateway_timeout']);
      expect(seen.stages, 'what the first turn used is known').to.deep.equal([
        'before 1',
        'error gateway_timeout 11 0.011',
      ]);
      expect(seen.finished.map(({ usage, costUsd }) => [usage?.total_tokens, costUsd])).to.deep.equal([[11, 0.011]]);
      expect(clock.waiting, 'timers').to.equal(0);
    }
  });

  it('that fails in a later turn is billed for those before, and tells what it attempted last', async () => {
    const failing: StubHandler = (request, response) => {
      if ((request.json()['messages'] as object[]).length === 1) return counting(request, response);
      replyJson(response, 503, {});
    };
    const { t, seen } = await setUp([twoTurns], { handler: failing });
    const answered = await t.post(PATH, ask());
    expect([
      answered.status,
      answered.headers.get('x-gateway-attempts'),
      answered.headers.get('x-gateway-target'),
    ]).to.deep.equal([502, '2', 'a']);
    expect(seen.stages).to.deep.equal(['before 1', 'error upstream_error 11 0.011']);
    expect(seen.finished.map(({ usage, costUsd }) => [usage?.total_tokens, costUsd])).to.deep.equal([[11, 0.011]]);
  });

  it('counts what a streamed turn had used when it broke off', async () => {
    const breaking: StubHandler = (request, response) => {
      if ((request.json()['messages'] as object[]).length === 1) return counting(request, response);
      openSse(response);
      response.write(
        chunksOf('half', GROWN_USAGE)
          .replace('data: [DONE]\n\n', '')
          .replace('"finish_reason":"stop"', '"finish_reason":null'),
      );
      setImmediate(() => response.destroy());
    };
    const { t, seen } = await setUp([chained], { handler: breaking });
    const answered = await t.post(PATH, ask('hi', { stream: true }));
    expect(answered.events().at(-1).error.code).to.equal('stream_error');
    expect(seen.stages).to.deep.equal(['before 1', 'error upstream_error 43 0.043']);
    expect(seen.finished.map(({ usage, costUsd }) => [usage?.total_tokens, costUsd])).to.deep.equal([[43, 0.043]]);
  });

  it('counts what a turn had used that broke off while it was collected, and the last turn of a stream that is refused at its end', async () => {
    const breaking: StubHandler = (request, response) => {
      if ((request.json()['messages'] as object[]).length === 1) return counting(request, response);
      openSse(response);
      response.write(
        chunksOf('half', GROWN_USAGE)
          .replace('data: [DONE]\n\n', '')
          .replace('"finish_reason":"stop"', '"finish_reason":null'),
      );
      setImmediate(() => response.destroy());
    };
    const collecting: Wrap = async (runTurn, exchange) => {
      const collect = async (request: Exchange['request']): Promise<ChatReply> =>
        collectTurn(exchange, await runTurn(exchange, { request, openStream: silent }));
      return collect(grown(exchange, await collect(exchange.request)).request);
    };
    const broken = await setUp([collecting], { handler: breaking });
    expect((await broken.t.post(PATH, ask('hi', { stream: true }))).status).to.equal(502);
    expect(broken.seen.finished.map(({ usage, costUsd }) => [usage?.total_tokens, costUsd])).to.deep.equal([
      [43, 0.043],
    ]);

    const refused = await setUp([chained], {
      plugin: { create: () => ({ before_request: () => {}, after_request: () => reject('no'), on_error: () => {} }) },
    });
    expect((await refused.t.post(PATH, ask('hi', { stream: true }))).events().at(-1).error.code).to.equal(
      'stream_error',
    );
    expect(refused.seen.finished.map(({ usage, costUsd }) => [usage?.total_tokens, costUsd])).to.deep.equal([
      [43, 0.043],
    ]);
  });

  it('can collect a turn where no plugin asks what was streamed', async () => {
    const texts: string[] = [];
    const { t } = await setUp(
      [
        async (runTurn, exchange) => {
          const first = await collectTurn(
            exchange,
            await runTurn(exchange, { request: exchange.request, openStream: silent }),
          );
          texts.push(textOf(first));
          return runTurn(exchange, grown(exchange, first));
        },
      ],
      { config: { plugins: [] } },
    );
    expect(contentOf(await t.post(PATH, ask('hi', { stream: true })))).to.equal('saw 3');
    expect(texts).to.deep.equal(['saw 1']);
  });

  it('is not driven at all where a plugin refuses or answers', async () => {
    for (const [verdict, status, stages] of [
      [reject('no'), 400, ['error request_rejected undefined undefined']],
      [answer(chatReply('cached') as never), 200, ['after']],
    ] as const) {
      const { t, upstream, seen } = await setUp([twoTurns], {
        plugin: {
          create: () => ({
            before_request: () => verdict,
            after_request: () => void seen.stages.push('after'),
            on_error: ({ error, usage, measurements }) =>
              void seen.stages.push(`error ${error?.code} ${usage?.total_tokens} ${measurements.costUsd}`),
          }),
        },
      });
      expect((await t.post(PATH, ask())).status).to.equal(status);
      expect([upstream.seen.length, seen.stages, seen.finished[0]?.costUsd]).to.deep.equal([
        0,
        stages,
        status === 200 ? 0 : undefined,
      ]);
    }
  });

  it('may be wrapped more than once: a later tap is the outer one', async () => {
    const order: string[] = [];
    const around =
      (name: string): Wrap =>
      async (runTurn, exchange) => {
        order.push(`${name} in`);
        const answered = await runTurn(exchange);
        order.push(`${name} out`);
        return answered;
      };
    const { t } = await setUp([around('inner'), around('outer')]);
    expect((await t.post(PATH, ask())).status).to.equal(200);
    expect(order).to.deep.equal(['outer in', 'inner in', 'inner out', 'outer out']);
  });
});
