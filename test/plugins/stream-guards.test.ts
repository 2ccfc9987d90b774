import { expect } from 'chai';
import Joi from 'joi';
import {
  type ChatChunk,
  definePlugin,
  type Exchange,
  type ExchangeOutcome,
  type PluginHandlers,
  type PluginModule,
  reject,
  type StreamGuard,
  texts,
  windowGuard,
} from 'gw/contract';
import {
  type Answer,
  ask,
  openSse,
  replyStream,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';
const WORD = 'forbidden';

const words =
  (...pieces: readonly string[]): StubHandler =>
  (_request, response) =>
    replyStream(response, pieces);

function plugin(name: string, handlers: PluginHandlers, more: Partial<PluginModule> = {}): PluginModule {
  const idle = { before_request: () => {}, after_request: () => {}, on_error: () => {} };
  return definePlugin({
    name,
    type: 'guardrail',
    summary: 'For this test',
    stages: ['before_request', 'after_request', 'on_error'],
    settings: Joi.object({ observe: Joi.boolean(), stream: Joi.string() }),
    ...more,
    create: () => ({ ...idle, ...handlers }),
  });
}

const at = (name: string, stage = 'after_request', config?: object): object => ({
  name,
  stage,
  enabled: true,
  ...(config && { config }),
});

const passing: StreamGuard = { push: (chunk) => [chunk], end: () => [] };
const window = (reason = 'not this'): StreamGuard =>
  windowGuard((text) => ({ isMatch: text.includes(WORD), keep: WORD.length - 1 }), reason);

interface Run {
  readonly answer: Answer;
  readonly host: TestHost;
}

async function run(
  handler: StubHandler,
  plugins: readonly object[],
  modules: readonly PluginModule[],
  options: TestHostOptions & { target?: object; request?: object } = {},
): Promise<Run> {
  const { target, request, ...rest } = options;
  const upstream = await stubUpstream(handler);
  const host = await startHost(
    { targets: [upstream.target('a', target)], plugins },
    { random: () => 0, ...rest, modules },
  );
  return { host, answer: await host.post(PATH, ask('hi', { stream: true, ...request })) };
}

const textOf = (answer: Answer): string =>
  answer
    .events()
    .map((event) => event.choices?.[0]?.delta.content ?? '')
    .join('');
const last = (answer: Answer): any => answer.events().at(-1);
const count = (host: TestHost, name: string): object[] =>
  host.samples.filter((sample) => sample.name === name).map(({ labels, value }) => ({ ...labels, value }));

/** An answer that comes at once. */
const whole: StubHandler = (_request, response) => {
  openSse(response);
  response.end(
    `${sseEvent({ id: 'x', choices: [{ index: 0, delta: { role: 'assistant', content: 'all forbidden' }, finish_reason: 'stop' }] })}${sseEvent('[DONE]')}`,
  );
};

describe('a stream guard', () => {
  it('lets a clean stream arrive whole, with its usage and its end', async () => {
    const { answer } = await run(
      words('all ', 'is ', 'well, for', 'tunately'),
      [at('p')],
      [plugin('p', { stream: () => window() })],
    );
    expect(textOf(answer)).to.equal('all is well, fortunately');
    const events = answer.events();
    expect(events.at(-1)).to.equal('[DONE]');
    expect(events.at(-2).usage.total_tokens).to.equal(18);
    expect(events.filter((event) => event.choices?.[0]?.finish_reason)).to.have.length(1);
    expect(events.filter((event) => event.choices?.[0]?.delta.role)).to.have.length(1);
  });

  it('ends a stream at a match: no byte of it is delivered, what came before may be, then the error event', async () => {
    const { answer, host } = await run(
      words('this is for', 'bid', 'den, and more'),
      [at('p')],
      [plugin('p', { stream: () => window() })],
    );
    expect(answer.status).to.equal(200);
    expect('this is '.startsWith(textOf(answer))).to.equal(true);
    expect(last(answer)).to.deep.equal({
      error: {
        message: 'response rejected by p (after_request): not this',
        type: 'stream_error',
        code: 'stream_error',
      },
    });
    expect(answer.text).to.not.match(/for|bid|den,|more/);
    expect(count(host, 'gateway_guardrail_verdicts_total')).to.deep.equal([
      { plugin: 'p', stage: 'after_request', action: 'rejected', value: 1 },
    ]);
  });

  it('ends it at its first chunk with the same event, however much of the answer has come with that', async () => {
    for (const handler of [words('forbidden'), whole]) {
      for (const [stream, message] of [
        [
          { push: () => reject('nothing at all'), end: () => [] },
          'response rejected by p (after_request): nothing at all',
        ],
        [window(), 'response rejected by p (after_request): not this'],
      ] as const) {
        const { answer, host } = await run(handler, [at('p')], [plugin('p', { stream: () => stream })]);
        expect([answer.status, answer.headers.get('content-type')], message).to.deep.equal([200, 'text/event-stream']);
        expect(last(answer)).to.deep.equal({ error: { message, type: 'stream_error', code: 'stream_error' } });
        expect(answer.text).to.not.include(WORD);
        expect(
          count(host, 'gateway_requests_total').map((sample) => (sample as { status: string }).status),
        ).to.deep.equal(['error']);
      }
    }
  });

  it('fails the request as any plugin does where it breaks before anything was sent, however much of the answer has come', async () => {
    for (const handler of [words('forbidden'), whole]) {
      const { answer } = await run(
        handler,
        [at('p')],
        [
          plugin('p', {
            stream: () => ({
              push: () => {
                throw new Error('broken');
              },
              end: () => [],
            }),
          }),
        ],
      );
      expect([answer.status, answer.json().error.code]).to.deep.equal([500, 'plugin_error']);
    }
  });

  it('does not count as a failure of the provider, and on_error runs', async () => {
    const told: (string | undefined)[] = [];
    const ends: ExchangeOutcome[] = [];
    const watch = plugin('watch', {
      on_error: ({ error }) => {
        told.push(error?.code);
      },
      finished: (_exchange, outcome) => {
        ends.push(outcome);
      },
    });
    const { host } = await run(
      words('forbidden'),
      [at('p'), at('watch', 'on_error')],
      [plugin('p', { stream: () => window() }), watch],
    );
    expect(told).to.deep.equal(['response_rejected']);
    expect(ends).to.have.length(1);
    expect(count(host, 'gateway_provider_errors_total')).to.deep.equal([
      { provider: 'a', error_type: 'plugin_error', value: 1 },
    ]);
  });

  it('is made while there is only the question, and runs at after_request', async () => {
    const told: string[] = [];
    const asking = plugin('p', {
      stream: (exchange) => {
        const tell = (what: string): void => void told.push(`${what} at ${exchange.stage}`);
        told.push([...texts(exchange)].join());
        tell('made');
        return {
          push: (chunk) => {
            tell('pushed');
            return [chunk];
          },
          end: () => {
            tell('ended');
            return [];
          },
        };
      },
    });
    let calls = 0;
    const flaky: StubHandler = (request, response) => {
      calls += 1;
      if (calls > 1) return words('a')(request, response);
      openSse(response);
      response.end(sseEvent({ error: { message: 'broken' } }));
    };
    await run(flaky, [at('p', 'before_request'), at('p')], [asking], {
      target: { retry: { attempts: 2, initial_backoff_ms: 1 } },
    });
    expect([...new Set(told)]).to.deep.equal([
      'hi',
      'made at before_request',
      'pushed at after_request',
      'ended at after_request',
    ]);
    expect(told.filter((each) => each === 'hi')).to.have.length(2);
  });

  it('may hold everything back to the end', async () => {
    const held: ChatChunk[] = [];
    const hoarder = plugin('p', {
      stream: () => ({
        push: (chunk) => {
          held.push(chunk);
          return [];
        },
        end: () => held,
      }),
    });
    const { answer } = await run(words('a', 'b'), [at('p')], [hoarder]);
    expect(textOf(answer)).to.equal('ab');
    expect(last(answer)).to.equal('[DONE]');
  });

  it('may reject at the end', async () => {
    const { answer } = await run(
      words('a'),
      [at('p')],
      [plugin('p', { stream: () => ({ push: () => [], end: () => reject('late') }) })],
    );
    expect(textOf(answer)).to.equal('');
    expect(last(answer).error.message).to.equal('response rejected by p (after_request): late');
  });

  it('sees what the guards before it let through, in the order of the configuration', async () => {
    const shout = plugin('shout', {
      stream: () => ({
        push: (chunk) => {
          const [choice] = chunk.choices;
          if (choice?.delta.content) choice.delta.content = choice.delta.content.toUpperCase();
          return [chunk];
        },
        end: () => [],
      }),
    });
    const seen: string[] = [];
    const watch = plugin('watch', {
      stream: () => ({
        push: (chunk) => {
          seen.push(chunk.choices[0]?.delta.content ?? '');
          return [chunk];
        },
        end: () => [],
      }),
    });
    const { answer } = await run(words('a', 'b'), [at('shout'), at('watch')], [shout, watch]);
    expect(seen.join('')).to.equal('AB');
    expect(textOf(answer)).to.equal('AB');
    seen.length = 0;
    await run(words('a', 'b'), [at('watch'), at('shout')], [shout, watch]);
    expect(seen.join('')).to.equal('ab');
  });

  it('is what after_request then sees as the answer: what was delivered', async () => {
    const replies: unknown[] = [];
    const watch = plugin('watch', {
      after_request: ({ reply }) => {
        replies.push((reply as any).choices[0].message.content);
      },
    });
    const cutter = plugin('cutter', {
      stream: () => ({ push: (chunk) => (chunk.choices[0]?.delta.content === 'drop' ? [] : [chunk]), end: () => [] }),
    });
    await run(words('keep', 'drop', ' this'), [at('cutter'), at('watch')], [cutter, watch]);
    expect(replies).to.deep.equal(['keep this']);
  });

  it('does not see a stream when it is listed elsewhere only', async () => {
    const { answer } = await run(
      words('forbidden'),
      [at('p', 'before_request')],
      [plugin('p', { stream: () => window() })],
    );
    expect(textOf(answer)).to.equal('forbidden');
  });

  it('may stand aside for one stream', async () => {
    const { answer } = await run(words('forbidden'), [at('p')], [plugin('p', { stream: () => undefined })]);
    expect(textOf(answer)).to.equal('forbidden');
  });

  it('is not asked for whole answers', async () => {
    let made = 0;
    const p = plugin('p', {
      stream: () => {
        made += 1;
        return passing;
      },
    });
    await run(
      (_request, response) => {
        response.end('{"choices":[]}');
      },
      [at('p')],
      [p],
      { request: { stream: false } },
    );
    expect(made).to.equal(0);
  });

  it('is made anew for every attempt: nothing of a failed one stays', async () => {
    let calls = 0;
    const handler: StubHandler = (request, response) => {
      calls += 1;
      if (calls === 1) {
        openSse(response);
        response.end(sseEvent({ error: 'overloaded' }));
      } else void words('clean')(request, response);
    };
    const guards: Exchange[] = [];
    const p = plugin('p', {
      stream: (exchange) => {
        guards.push(exchange);
        return window();
      },
    });
    const { answer } = await run(handler, [at('p')], [p], { target: { retry: { attempts: 2 } } });
    expect(textOf(answer)).to.equal('clean');
    expect(guards).to.have.length(2);
  });

  it('delivers held text in no other member of a chunk', async () => {
    const token = { token: 'forb', logprob: -1 };
    const chunk = {
      id: 'c',
      choices: [
        {
          index: 0,
          delta: { content: 'forb', note: 'forb' },
          logprobs: { content: [token] },
          finish_reason: null,
        },
      ],
      note: 'forb',
    };
    const handler: StubHandler = (_request, response) => {
      openSse(response);
      response.end(
        sseEvent(chunk) +
          sseEvent({
            ...chunk,
            choices: [{ index: 0, delta: { content: 'idden' } }],
          }),
      );
    };
    const { answer } = await run(handler, [at('p')], [plugin('p', { stream: () => window() })]);
    expect(answer.text).to.not.include('forb');
  });

  it('of an observing guardrail rejects nothing, and its verdict is counted', async () => {
    const { answer, host } = await run(
      words('forbidden', ' fruit'),
      [at('p', 'after_request', { observe: true, stream: 'window' })],
      [plugin('p', { stream: () => window() })],
    );
    expect(textOf(answer)).to.equal('forbidden fruit');
    expect(last(answer)).to.equal('[DONE]');
    expect(count(host, 'gateway_guardrail_verdicts_total')).to.deep.equal([
      { plugin: 'p', stage: 'after_request', action: 'observed', value: 1 },
    ]);
  });

  it('of an observing guardrail and its verdict at the end count once, and leave the chunks as they are', async () => {
    const both = plugin('p', { stream: () => window(), after_request: () => reject('not this') });
    const chunk = {
      id: 'c',
      choices: [{ index: 0, delta: { content: WORD }, logprobs: { content: [] }, finish_reason: 'stop' }],
    };
    const handler: StubHandler = (_request, response) => {
      openSse(response);
      response.end(sseEvent(chunk));
    };
    const { answer, host } = await run(
      handler,
      [at('p', 'after_request', { observe: true, stream: 'window' })],
      [both],
    );
    expect(answer.events()[0].choices[0]).to.deep.include({ logprobs: { content: [] } });
    expect(count(host, 'gateway_guardrail_verdicts_total')).to.deep.equal([
      { plugin: 'p', stage: 'after_request', action: 'observed', value: 1 },
    ]);
    expect(host.lines.filter(({ msg }) => msg === 'guardrail observed')).to.have.length(1);
  });
});

describe('a fault of a stream guard', () => {
  const broken = (): never => {
    throw new Error('secret detail');
  };
  const guards: readonly (readonly [string, () => StreamGuard])[] = [
    ['where it is made', broken],
    ['at a chunk', () => ({ push: broken, end: () => [] })],
    ['at the end', () => ({ push: (chunk) => [chunk], end: broken })],
    ['by what it returns', () => ({ push: () => 'nothing' as never, end: () => [] })],
    ['that is null', () => null as never],
    ['that is false', () => false as never],
  ];

  for (const [where, stream] of guards) {
    it(`${where} ends the stream of a type that fails closed, and its text stays in the log`, async () => {
      const { answer, host } = await run(words('a', 'b'), [at('p')], [plugin('p', { stream })]);
      const { error } = answer.status === 200 ? last(answer) : answer.json();
      expect(error.message).to.equal('the gateway could not complete the request');
      expect(error.code).to.equal(answer.status === 200 ? 'stream_error' : 'plugin_error');
      expect(answer.text).to.not.include('secret detail');
      expect(count(host, 'gateway_requests_total')[0]).to.include({ status: 'error' });
      if (!/^(by|that)/.test(where))
        expect(host.lines.some((line) => JSON.stringify(line).includes('secret detail'))).to.equal(true);
    });

    it(`${where} changes nothing for a type that fails open`, async () => {
      const { answer } = await run(words('a', 'b'), [at('p')], [plugin('p', { stream }, { type: 'metrics' })]);
      expect(textOf(answer)).to.equal('ab');
      expect(last(answer)).to.equal('[DONE]');
    });
  }
});
