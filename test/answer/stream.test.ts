import { expect } from 'chai';
import Joi from 'joi';
import {
  type ChatChunk,
  definePlugin,
  type Exchange,
  type ExchangeOutcome,
  type PluginModule,
  reject,
} from 'gw/contract';
import { MAX_REPLY_BYTES } from '../../host/upstream/limits.ts';
import {
  type Answer,
  ask,
  chatChunks,
  eventually,
  fakeClock,
  openSse,
  replyStream,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';
const HEAD = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'vendor' };
const piece = (content: string): string =>
  sseEvent({ ...HEAD, choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const FINISH = sseEvent({ ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const USAGE = sseEvent({ ...HEAD, choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } });
const DONE = sseEvent('[DONE]');

const body =
  (...pieces: readonly string[]): StubHandler =>
  (_request, response) => {
    openSse(response);
    response.end(pieces.join(''));
  };

interface Seen {
  readonly stages: string[];
  readonly outcomes: ExchangeOutcome[];
  reply: Exchange['reply'];
  ttftMs: number | undefined;
  delivered: string;
}

/** A plugin that notes what it sees, and at `after_request` does what the test passes in. */
function observer(seen: Seen, after: (exchange: Exchange) => unknown): PluginModule {
  return definePlugin({
    name: 'observer',
    type: 'guardrail',
    summary: 'Notes',
    stages: ['after_request', 'on_error'],
    settings: Joi.object({}),
    create: () => ({
      after_request: (exchange) => {
        seen.stages.push('after_request');
        seen.reply = exchange.reply;
        seen.ttftMs = exchange.measurements.ttftMs;
        seen.delivered = exchange.deliveredText();
        return after(exchange) as never;
      },
      on_error: () => {
        seen.stages.push('on_error');
      },
      finished: (_exchange, outcome) => {
        seen.outcomes.push(outcome);
      },
    }),
  });
}

interface Run {
  readonly answer: Answer;
  readonly seen: Seen;
  readonly host: TestHost;
  readonly upstream: StubUpstream;
}

async function run(
  handler: StubHandler,
  after: (exchange: Exchange) => unknown = () => undefined,
  more: object = {},
): Promise<Run> {
  const upstream = await stubUpstream(handler);
  const seen: Seen = { stages: [], outcomes: [], reply: undefined, ttftMs: undefined, delivered: '' };
  const plugins = ['after_request', 'on_error'].map((stage) => ({ name: 'observer', stage, enabled: true }));
  const host = await startHost({ targets: [upstream.target('a')], plugins }, { modules: [observer(seen, after)] });
  return { upstream, seen, host, answer: await host.post(PATH, ask('hi', { stream: true, ...more })) };
}

const labelsOf = (host: TestHost, name: string): object[] =>
  host.samples.filter((sample) => sample.name === name).map(({ labels }) => labels);

describe('a stream that ends well', () => {
  it('is answered with the headers of an event stream', async () => {
    const { answer } = await run((_request, response) => replyStream(response, ['a']));
    expect(['content-type', 'cache-control', 'connection'].map((name) => answer.headers.get(name))).to.deep.equal([
      'text/event-stream',
      'no-cache',
      'keep-alive',
    ]);
  });

  it('holds nothing but data lines, one chunk each, and the end marker last', async () => {
    const { answer } = await run(
      body(': hello\n\n', 'event: x\n', piece('a'), 'id: 4\n', piece('b'), FINISH, USAGE, DONE, piece('never')),
    );
    expect(answer.text).to.match(/^(data: \{[^\n]*\}\n\n){4}data: \[DONE\]\n\n$/);
  });

  it('gets its end marker although the upstream sends none', async () => {
    expect((await run(body(piece('a'), FINISH))).answer.events().at(-1)).to.equal('[DONE]');
    expect((await run(body(piece('a'), FINISH.trimEnd()))).answer.events().at(-1)).to.equal('[DONE]');
  });

  it('is assembled for plugins and counted once', async () => {
    const { seen, host } = await run((_request, response) => replyStream(response, ['Hel', 'lo']));
    expect(seen.stages).to.deep.equal(['after_request']);
    expect(seen.outcomes).to.deep.equal(['success']);
    expect(seen.reply).to.deep.include({
      object: 'chat.completion',
      id: 'chatcmpl-1',
      model: 'm',
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    });
    expect((seen.reply as any).choices).to.deep.equal([
      { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' },
    ]);
    expect(seen.delivered).to.equal('Hello');
    expect(seen.ttftMs).to.be.within(0, 10_000);
    expect(labelsOf(host, 'gateway_requests_total')).to.deep.equal([{ provider: 'a', model: 'm', status: 'success' }]);
    expect(host.samples.find(({ name }) => name === 'gateway_tokens_output_total')?.value).to.equal(7);
  });

  it('asks the upstream for usage, whatever the client said, and strips it for one that opted out', async () => {
    for (const [options, isTold] of [
      [undefined, true],
      [null, true],
      [{ include_usage: true }, true],
      [{ include_usage: false }, false],
      [{}, false],
      [{ include_usage: null }, false],
    ] as const) {
      const { answer, upstream, host } = await run(
        (_request, response) => replyStream(response, ['x']),
        undefined,
        options === undefined ? {} : { stream_options: options },
      );
      expect(upstream.seen[0]?.json()['stream_options']).to.deep.equal({ include_usage: true });
      const chunks = answer.events().slice(0, -1);
      expect(
        chunks.some((chunk) => 'usage' in chunk),
        JSON.stringify(options),
      ).to.equal(isTold);
      expect(chunks).to.have.length(chatChunks(['x']).length);
      expect(host.samples.find(({ name }) => name === 'gateway_tokens_input_total')?.value).to.equal(11);
    }
  });

  it('keeps nothing of one client for the next', async () => {
    const upstream = await stubUpstream((_request, response) => replyStream(response, ['x']));
    const host = await startHost({ targets: [upstream.target('a')] });
    const has = async (options: object): Promise<boolean> =>
      (await host.post(PATH, ask('hi', { stream: true, ...options }))).events().some((chunk) => chunk.usage);
    const hasUsage = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        has(index % 2 === 0 ? {} : { stream_options: { include_usage: false } }),
      ),
    );
    expect(hasUsage).to.deep.equal(Array.from({ length: 12 }, (_, index) => index % 2 === 0));
  });

  it('leaves no timer once its upstream has ended as well, and waits a second for one that has not', async () => {
    for (const ends of [true, false]) {
      const clock = fakeClock();
      const over = Promise.withResolvers<void>();
      const upstream = await stubUpstream(async (_request, response) => {
        openSse(response);
        response.write(piece('one') + FINISH + DONE);
        await over.promise;
        if (ends) response.end();
      });
      const host = await startHost({ targets: [upstream.target('a')] }, { clock });
      const answer = await host.post(PATH, ask('hi', { stream: true }));
      expect(answer.events().at(-1)).to.equal('[DONE]');
      await eventually(() => host.host.slot.leases === 0);
      expect([clock.waiting, upstream.sockets.size]).to.deep.equal([1, 1]);
      over.resolve();
      if (ends) await eventually(() => clock.waiting === 0);
      else clock.advance(999);
      expect([clock.waiting, upstream.sockets.size]).to.deep.equal([ends ? 0 : 1, 1]);
      clock.advance(1);
      if (!ends) await eventually(() => upstream.sockets.size === 0);
      expect([clock.waiting, upstream.sockets.size]).to.deep.equal([0, ends ? 1 : 0]);
    }
  });

  it('relays every chunk as it comes', async () => {
    const second = Promise.withResolvers<void>();
    const upstream = await stubUpstream(async (_request, response) => {
      openSse(response);
      response.write(piece('one'));
      await second.promise;
      response.end(piece('two') + FINISH + DONE);
    });
    const host = await startHost({ targets: [upstream.target('a')] });
    const response = await fetch(`${host.url}${PATH}`, {
      method: 'POST',
      body: JSON.stringify(ask('hi', { stream: true })),
      headers: { authorization: 'Bearer gw_0123456789abcdef0123456789abcdef' },
    });
    const reader = response.body!.getReader();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).to.include('one');
    second.resolve();
    for (;;) if ((await reader.read()).done) break;
  });
});

describe('a stream that breaks', () => {
  for (const [what, handler, message] of [
    [
      'with an error event',
      body(piece('a'), sseEvent({ error: { message: 'overloaded, try sk-abcdefghijklmnopqrstuvwx' } }), piece('never')),
      'overloaded, try [REDACTED_OPENAI_KEY]',
    ],
    ['with a bare error text', body(piece('a'), sseEvent({ error: 'boom' })), 'boom'],
    ['without its end', body(piece('a')), undefined],
    [
      'with a closed connection',
      (_request, response) => {
        openSse(response);
        response.write(piece('a'));
        setTimeout(() => response.destroy(), 20);
      },
      undefined,
    ],
    ['inside a chunk', body(piece('a'), piece('b').slice(0, 30)), undefined],
    ['with a line longer than any answer', body(piece('a'), `data: ${'x'.repeat(MAX_REPLY_BYTES + 1)}\n\n`), undefined],
  ] as readonly (readonly [string, StubHandler, string | undefined])[]) {
    it(`tells so in one last event, and on_error: ${what}`, async () => {
      const { answer, seen, host } = await run(handler);
      expect(answer.status).to.equal(200);
      const events = answer.events();
      expect(events).to.have.length(2);
      expect(events[0].choices[0].delta.content).to.equal('a');
      expect(Object.keys(events[1])).to.deep.equal(['error']);
      expect(events[1].error).to.include({ type: 'stream_error', code: 'stream_error' });
      expect(events[1].error.message)
        .to.be.a('string')
        .and.not.match(/127\.0\.0\.1|ECONN|socket|vendor/i);
      if (message !== undefined) expect(events[1].error.message).to.equal(message);
      expect(seen.stages).to.deep.equal(['on_error']);
      expect(seen.outcomes).to.deep.equal(['error']);
      expect(labelsOf(host, 'gateway_requests_total')).to.deep.equal([{ provider: 'a', model: 'm', status: 'error' }]);
      expect(labelsOf(host, 'gateway_provider_errors_total')).to.deep.equal([
        { provider: 'a', error_type: 'provider_error' },
      ]);
    });
  }

  it('counts the tokens that were reported until then, and no others', async () => {
    const { host } = await run(body(piece('a'), USAGE, sseEvent({ error: 'boom' })));
    expect(labelsOf(host, 'gateway_tokens_output_total')).to.deep.equal([{ provider: 'a', model: 'm' }]);
    const { host: other } = await run(body(piece('a'), sseEvent({ error: 'boom' })));
    expect(labelsOf(other, 'gateway_tokens_output_total')).to.deep.equal([]);
  });
});

describe('a stream that a plugin rejects at its end', () => {
  for (const [what, after, message] of [
    ['rejects', () => reject('not this'), 'response rejected by observer (after_request): not this'],
    [
      'fails',
      () => {
        throw new Error('secret detail');
      },
      'the gateway could not complete the request',
    ],
  ] as const) {
    it(`gets an error event after its text and no end marker: it ${what}`, async () => {
      const { answer, seen, host } = await run((_request, response) => replyStream(response, ['a']), after);
      const events = answer.events();
      expect(events.slice(0, -1)).to.have.length(chatChunks(['a']).length);
      expect(events.at(-1)).to.deep.equal({ error: { message, type: 'stream_error', code: 'stream_error' } });
      expect(seen.stages).to.deep.equal(['after_request', 'on_error']);
      expect(labelsOf(host, 'gateway_requests_total')).to.deep.equal([{ provider: 'a', model: 'm', status: 'error' }]);
      expect(labelsOf(host, 'gateway_provider_errors_total')).to.deep.equal([
        { provider: 'a', error_type: 'plugin_error' },
      ]);
      expect(labelsOf(host, 'gateway_tokens_output_total'), 'the answer was made, and paid for').to.deep.equal([
        { provider: 'a', model: 'm' },
      ]);
    });
  }
});

describe('a stream that guards take long over', () => {
  const PIECES = Array.from({ length: 12 }, (_, at) => `piece ${at} `);

  /** Turns of the event loop in which the guard saw its chunks, with what the client got. */
  async function seenIn(msEach: number, pieces = PIECES): Promise<{ turns: readonly number[]; text: string }> {
    const clock = fakeClock();
    const turns: number[] = [];
    let turn = 0;
    let isOver = false;
    const count = (): void => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const slow = definePlugin({
      name: 'slow',
      type: 'guardrail',
      summary: 'Takes its time',
      stages: ['after_request'],
      settings: Joi.object({}),
      create: () => ({
        after_request: () => undefined,
        stream: () => ({
          push: (chunk) => {
            clock.advance(msEach);
            turns.push(turn);
            return [chunk];
          },
          end: () => [],
        }),
      }),
    });
    // one packet, a chunk of HTTP for each event: all of it is there when the first is read
    const framed = [...pieces.map(piece), FINISH + DONE].map((text) => `${text.length.toString(16)}\r\n${text}\r\n`);
    const upstream = await stubUpstream((_request, { socket }) => {
      socket?.write(
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${framed.join('')}0\r\n\r\n`,
      );
    });
    const host = await startHost(
      { targets: [upstream.target('a')], plugins: [{ name: 'slow', stage: 'after_request', enabled: true }] },
      { clock, modules: [slow] },
    );
    const answer = await host.post(PATH, ask('hi', { stream: true }));
    isOver = true;
    return { turns, text: answer.text };
  }

  it('lets others be served before it goes on', async () => {
    const { turns, text } = await seenIn(30);
    expect(turns).to.have.lengthOf(PIECES.length + 1);
    expect(new Set(turns.slice(0, PIECES.length)).size).to.equal(PIECES.length);
    for (const each of PIECES) expect(text).to.contain(each);
    expect(text).to.match(/data: \[DONE\]\n\n$/);
  });

  for (const msEach of [1, 7, 10, 30])
    it(`has long texts looked at piece by piece, and reads on afterwards, with ${msEach} ms each`, async () => {
      const long = ['a', 'b', 'c'].map((letter) => letter.repeat(200_000));
      const { turns, text } = await seenIn(msEach, [...long, 'and more']);
      expect(turns).to.have.lengthOf(14);
      expect(new Set(turns).size).to.be.within(1, Math.ceil(14 / Math.ceil(25 / msEach)) + long.length);
      const said = text
        .split('\n\n')
        .filter((event) => event.startsWith('data: {'))
        .map((event) => (JSON.parse(event.slice(6)) as ChatChunk).choices[0]?.delta.content ?? '');
      expect(said.join('') === `${long.join('')}and more`).to.equal(true);
      expect(text).to.match(/data: \[DONE\]\n\n$/);
    });

  it('goes on at once where they take little', async () => {
    const { turns, text } = await seenIn(0);
    expect(new Set(turns).size).to.be.lessThan(PIECES.length);
    expect(text).to.match(/data: \[DONE\]\n\n$/);
  });
});
