import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, type PluginModule } from 'gw/contract';
import {
  type Answer,
  ask,
  atEnd,
  chatReply,
  eventually,
  fakeClock,
  MASTER_KEY,
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
const piece = (content: string): string =>
  sseEvent({ ...HEAD, choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const finish = sseEvent({ ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) + sseEvent('[DONE]');

const silent: StubHandler = () => {};
const headersOnly: StubHandler = (_request, response) => openSse(response);
const answering: StubHandler = (_request, response) => replyJson(response, 200, chatReply('hello'));

interface Timed {
  readonly answer: Answer;
  readonly ms: number;
  readonly host: TestHost;
  readonly upstream: StubUpstream;
}

async function timed(
  handler: StubHandler,
  {
    config = {},
    target = {},
    stream = false,
    modules = [],
    module = {},
  }: {
    config?: object;
    target?: object;
    stream?: boolean;
    modules?: readonly PluginModule[];
    module?: object;
  },
): Promise<Timed> {
  const upstream = await stubUpstream(handler);
  const host = await startHost({ targets: [upstream.target('a', target, module)], ...config }, { modules });
  const startedAt = performance.now();
  const answer = await host.post(PATH, ask('hi', { stream }));
  return { answer, ms: performance.now() - startedAt, host, upstream };
}

/** Whatever ends later ends by another bound, all of which are longer than a test may take. */
function expectTimeout({ answer, ms }: Timed): void {
  expect(answer.status).to.equal(504);
  expect(answer.json().error).to.include({ type: 'upstream_error', code: 'gateway_timeout' });
  expect(answer.headers.get('retry-after')).to.equal(null);
  expect(ms).to.be.above(70);
}

const BOUND = { request_timeout: '80ms' };

/** Asks for a stream whose first chunk comes in time, and whose rest comes long after the bound. */
async function expectUntouched({ config = {}, target = {} }: { config?: object; target?: object }): Promise<void> {
  const clock = fakeClock();
  const asked: { host?: TestHost } = {};
  const upstream = await stubUpstream(async (_request, response) => {
    openSse(response);
    response.write(piece('one '));
    await eventually(() => asked.host?.lines.some(({ msg }) => msg === 'stream request started') ?? false);
    clock.advance(250);
    response.end(piece('two') + finish);
  });
  asked.host = await startHost({ targets: [upstream.target('a', target)], ...config }, { clock });
  const answer = await asked.host.post(PATH, ask('hi', { stream: true }));
  expect([answer.status, answer.events().at(-1)]).to.deep.equal([200, '[DONE]']);
  expect(clock.monotonic()).to.equal(250);
}

describe('request_timeout of the request', () => {
  it('bounds a call that hangs, whole and at the start of a stream, and closes it', async () => {
    for (const [handler, stream] of [
      [silent, false],
      [silent, true],
      [headersOnly, true],
    ] as const) {
      const run = await timed(handler, { config: BOUND, stream });
      expectTimeout(run);
      expect(run.answer.headers.get('x-gateway-attempts')).to.equal('1');
      await eventually(() => run.upstream.sockets.size === 0);
      expect(run.upstream.sockets.size).to.equal(0);
    }
  });

  it('bounds a body that never ends', async () => {
    expectTimeout(
      await timed(
        (_request, response) => {
          response.write('{"choices":');
        },
        { config: BOUND },
      ),
    );
  });

  it('is not followed by a retry or another target', async () => {
    const [first, second] = [await stubUpstream(silent), await stubUpstream(answering)];
    const clock = fakeClock();
    const host = await startHost(
      {
        strategy: { mode: 'fallback' },
        targets: [first.target('a', { retry: { attempts: 3 } }), second.target('b')],
        ...BOUND,
      },
      { clock },
    );
    const pending = host.post(PATH, ask());
    await eventually(() => first.seen.length > 0);
    clock.advance(80);
    const answer = await pending;
    expect(answer.json().error.code).to.equal('gateway_timeout');
    expect(answer.headers.get('x-gateway-target')).to.equal('a');
    expect([first.seen.length, second.seen.length]).to.deep.equal([1, 0]);
  });

  it('bounds plugins before and after, although they hang', async () => {
    for (const stage of ['before_request', 'after_request'] as const) {
      const slow = definePlugin({
        name: 'slow',
        type: 'guardrail',
        summary: 'Takes its time',
        stages: ['before_request', 'after_request'],
        settings: Joi.object({}),
        create: () => ({ before_request: () => new Promise(() => {}), after_request: () => new Promise(() => {}) }),
      });
      expectTimeout(
        await timed(answering, {
          config: { ...BOUND, plugins: [{ name: 'slow', stage, enabled: true }] },
          modules: [slow],
        }),
      );
    }
  });

  it('bounds an adapter that ignores that it was cancelled', async () => {
    for (const stream of [false, true])
      expectTimeout(await timed(silent, { config: BOUND, stream, module: { converse: () => new Promise(() => {}) } }));
    const body = (async function* hanging(): AsyncGenerator<Uint8Array> {
      yield* [];
      await new Promise(() => {});
    })();
    for (const stream of [false, true])
      expectTimeout(
        await timed(silent, {
          config: BOUND,
          stream,
          module: { converse: async () => ({ status: 200, headers: {}, body }) },
        }),
      );
  });

  it('does not touch a stream that has begun', () => expectUntouched({ config: BOUND }));

  it("is the provider's failure in the figures", async () => {
    const { host } = await timed(silent, { config: BOUND });
    expect(
      host.samples
        .filter(({ name }) => name === 'gateway_provider_errors_total')
        .map(({ labels }) => labels['error_type']),
    ).to.deep.equal(['timeout']);
  });
});

describe('request_timeout of a target', () => {
  it('bounds each attempt, whole and at the start of a stream', async () => {
    for (const [handler, stream] of [
      [silent, false],
      [headersOnly, true],
    ] as const)
      expectTimeout(await timed(handler, { target: BOUND, stream }));
  });

  it('is followed by a retry, each with the full time', async () => {
    const clock = fakeClock();
    const arrivals: number[] = [];
    const upstream = await stubUpstream((request, response) => {
      arrivals.push(clock.monotonic());
      if (arrivals.length === 3) void answering(request, response);
    });
    const ticking = setInterval(() => {
      if (arrivals.length < 3) clock.advance(10);
    }, 1);
    atEnd(() => clearInterval(ticking));
    const host = await startHost(
      { targets: [upstream.target('a', { ...BOUND, retry: { attempts: 3, initial_backoff_ms: 1 } })] },
      { clock },
    );
    const answer = await host.post(PATH, ask());
    expect([answer.status, answer.headers.get('x-gateway-attempts')]).to.deep.equal([200, '3']);
    expect(arrivals[2]).to.be.at.least(160);
  });

  it('does not touch a stream that has begun', () => expectUntouched({ target: BOUND }));

  it('leaves the request its own, longer bound', async () => {
    const clock = fakeClock();
    const upstream = await stubUpstream(silent);
    const target = upstream.target('a', { request_timeout: '100ms', retry: { attempts: 50, initial_backoff_ms: 1 } });
    const host = await startHost({ targets: [target], request_timeout: '350ms' }, { clock, random: () => 1 });
    const pending = host.post(PATH, ask());
    for (const [calls, backoffMs] of [
      [1, 1],
      [2, 2],
      [3, 4],
    ] as const) {
      await eventually(() => upstream.seen.length === calls);
      clock.advance(100);
      await eventually(() => clock.next === backoffMs);
      clock.advance(backoffMs);
    }
    await eventually(() => upstream.seen.length === 4);
    expect(clock.next, 'what the request has left').to.equal(43);
    clock.advance(43);
    const answer = await pending;
    expect([answer.status, answer.json().error.code, answer.headers.get('x-gateway-attempts')]).to.deep.equal([
      504,
      'gateway_timeout',
      '4',
    ]);
  });
});

describe('silence on a stream', () => {
  const post = async (
    handler: StubHandler,
    more: { config?: object; second?: StubUpstream } = {},
  ): Promise<{ answer: Answer; upstream: StubUpstream; host: TestHost }> => {
    const upstream = await stubUpstream(handler);
    const targets = [upstream.target('a'), ...(more.second ? [more.second.target('b')] : [])];
    const host = await startHost({ strategy: { mode: 'fallback' }, targets, ...more.config }, { streamIdleMs: 600 });
    return { upstream, host, answer: await host.post(PATH, ask('hi', { stream: true })) };
  };

  it('before the first chunk is a failed attempt: 504 as ordinary JSON', async () => {
    for (const handler of [silent, headersOnly]) {
      const { answer } = await post(handler);
      expect(answer.status).to.equal(504);
      expect(answer.json().error).to.include({ type: 'upstream_error', code: 'upstream_timeout' });
    }
  });

  it('before the first chunk is not broken by comments and other noise', async () => {
    const { answer } = await post((_request, response) => {
      openSse(response);
      const timer = setInterval(() => response.write(': still here\n\n'), 20);
      response.on('close', () => clearInterval(timer));
    });
    expect(answer.status).to.equal(504);
  });

  it('before the first chunk fails over', async () => {
    const second = await stubUpstream((_request, response) => {
      openSse(response);
      response.end(piece('x') + finish);
    });
    const { answer } = await post(silent, { second });
    expect(answer.headers.get('x-gateway-target')).to.equal('b');
    expect(answer.headers.get('x-gateway-attempts')).to.equal('2');
  });

  it('after a chunk ends the stream: the event first, then the upstream is left', async () => {
    const closedAt = Promise.withResolvers<number>();
    const { answer, host } = await post((_request, response) => {
      openSse(response);
      response.write(piece('one'));
      response.on('close', () => closedAt.resolve(performance.now()));
    });
    expect(answer.status).to.equal(200);
    const events = answer.events();
    expect(events).to.have.length(2);
    expect(events[1]).to.have.all.keys('error');
    expect(events[1].error).to.include({ type: 'timeout_error', code: 'stream_timeout' });
    expect(await closedAt.promise).to.be.a('number');
    expect(
      host.samples
        .filter(({ name }) => name === 'gateway_provider_errors_total')
        .map(({ labels }) => labels['error_type']),
    ).to.deep.equal(['timeout']);
  });

  it('is measured between chunks', async () => {
    const clock = fakeClock();
    let say: (text: string) => void = () => {};
    const upstream = await stubUpstream((_request, response) => {
      openSse(response);
      say = (text) => {
        response.write(text);
      };
      say(piece('a'));
    });
    const host = await startHost({ targets: [upstream.target('a')] }, { clock, streamIdleMs: 120 });
    const response = await fetch(`${host.url}${PATH}`, {
      method: 'POST',
      body: JSON.stringify(ask('hi', { stream: true })),
      headers: { authorization: `Bearer ${MASTER_KEY}` },
    });
    let text = '';
    for await (const bytes of response.body ?? []) {
      text += Buffer.from(bytes).toString();
      if (text.includes('[DONE]')) break;
      clock.advance(119);
      say(text.includes('"d"') ? finish : piece('abcd'[text.split('"content"').length - 1] ?? ''));
    }
    expect(text.match(/"content":"[a-d]"/g)).to.have.length(4);
    expect(text).to.match(/data: \[DONE\]\n\n$/);
  });
});
