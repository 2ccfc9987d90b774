import { expect } from 'chai';
import Joi from 'joi';
import {
  answer,
  type ChatReply,
  type ChatRequest,
  definePlugin,
  type Exchange,
  type PluginHandlers,
  type PluginModule,
  reject,
  rewrite,
  type Stage,
} from 'gw/contract';
import {
  type Answer,
  ask,
  chatReply,
  replyJson,
  replyStream,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';

function plugin(name: string, handlers: PluginHandlers, more: Partial<PluginModule> = {}): PluginModule {
  const idle = { before_request: () => {}, after_request: () => {}, on_error: () => {} };
  return definePlugin({
    name,
    type: 'transform',
    keepsModel: true,
    summary: 'For this test',
    stages: ['before_request', 'after_request', 'on_error'],
    settings: Joi.object({ observe: Joi.boolean(), stream: Joi.string() }),
    ...more,
    create: () => ({ ...idle, ...handlers }),
  });
}

const at = (name: string, stage: Stage, config?: object): object => ({
  name,
  stage,
  enabled: true,
  ...(config && { config }),
});

interface Run {
  readonly answer: Answer;
  readonly host: TestHost;
  readonly upstream: StubUpstream;
}

async function run(plugins: readonly object[], modules: readonly PluginModule[], request: object = {}): Promise<Run> {
  const upstream = await stubUpstream((seen, response) => {
    if (seen.json()['stream'] === true) replyStream(response, ['hello']);
    else replyJson(response, 200, chatReply('hello'));
  });
  const host = await startHost({ targets: [upstream.target('a')], plugins }, { modules });
  return { upstream, host, answer: await host.post(PATH, ask('hi', request)) };
}

const contentOf = ({ request }: Exchange): unknown => (request as ChatRequest).messages[0]?.content;

describe('a rewrite', () => {
  const louder = plugin('louder', {
    before_request: ({ request }) => {
      const chat = request as ChatRequest;
      return rewrite({
        ...chat,
        messages: chat.messages.map((message) => ({ ...message, content: `${message.content as string}!` })),
      });
    },
  });

  it('of the request is what later plugins and the upstream see', async () => {
    const seen: unknown[] = [];
    const watch = plugin('watch', {
      before_request: (exchange) => {
        seen.push(contentOf(exchange));
      },
    });
    const { upstream } = await run([at('louder', 'before_request'), at('watch', 'before_request')], [louder, watch]);
    expect(seen).to.deep.equal(['hi!']);
    expect(upstream.seen[0]?.json()['messages']).to.deep.equal([{ role: 'user', content: 'hi!' }]);
  });

  it('of the answer is what later plugins and the client see', async () => {
    const seen: unknown[] = [];
    const censor = plugin('censor', {
      after_request: ({ reply }) =>
        rewrite({
          ...(reply as ChatReply),
          choices: [{ index: 0, message: { role: 'assistant', content: '***' }, finish_reason: 'stop' }],
        }),
    });
    const watch = plugin('watch', {
      after_request: ({ reply }) => {
        seen.push((reply as ChatReply).choices[0]?.message.content);
      },
    });
    const { answer: given } = await run([at('censor', 'after_request'), at('watch', 'after_request')], [censor, watch]);
    expect(given.json().choices[0].message.content).to.equal('***');
    expect(seen).to.deep.equal(['***']);
  });

  it('of the model is the model everywhere', async () => {
    const other = plugin(
      'other',
      { before_request: ({ request }) => rewrite({ ...request, model: 'm2' }) },
      { keepsModel: false },
    );
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('x')));
    const host = await startHost(
      { targets: [upstream.target('a', { models: ['m', 'm2'] })], plugins: [at('other', 'before_request')] },
      { modules: [other] },
    );
    const given = await host.post(PATH, ask());
    expect([given.json().model, given.headers.get('x-gateway-model'), upstream.seen[0]?.json()['model']]).to.deep.equal(
      ['m2', 'm2', 'm2'],
    );
  });
});

describe('an answer of a plugin', () => {
  const TEXT = 'A cached answer that is long enough to be cut into several pieces, \u{1f600} and then some more of it.';
  const cached = (more: object = {}): ChatReply =>
    chatReply(TEXT, { usage: { prompt_tokens: 4, completion_tokens: 5, total_tokens: 9 }, ...more }) as ChatReply;
  const cache = (reply: ChatReply = cached()): PluginModule => plugin('cache', { before_request: () => answer(reply) });

  it("takes the provider's place: no call, no attribution headers, the model of the request", async () => {
    const { answer: given, upstream } = await run([at('cache', 'before_request')], [cache()]);
    expect(given.status).to.equal(200);
    expect(given.json().choices[0].message.content).to.equal(TEXT);
    expect(given.json()).to.include({ object: 'chat.completion', model: 'm' });
    expect(upstream.seen).to.deep.equal([]);
    for (const name of ['provider', 'target', 'model', 'attempts', 'overhead-ms'])
      expect(given.headers.get(`x-gateway-${name}`), name).to.equal(null);
  });

  it('gets a time and an object where it has none', async () => {
    const { created: _created, object: _object, ...bare } = cached();
    const { answer: given } = await run([at('cache', 'before_request')], [cache(bare)]);
    expect(given.json().object).to.equal('chat.completion');
    expect(given.json().created).to.be.closeTo(Date.now() / 1000, 5);
  });

  it("stays the plugin's own: it is not changed, and may be frozen", async () => {
    const reply = cached({ model: 'first', provider: 'original' });
    const before = structuredClone(reply);
    Object.freeze(reply);
    reply.choices.forEach((choice) => Object.freeze(choice.message) && Object.freeze(choice));
    for (const stream of [false, true])
      expect((await run([at('cache', 'before_request')], [cache(reply)], { stream })).answer.status).to.equal(200);
    expect(reply).to.deep.equal(before);
  });

  it('does not keep later plugins from running, before and after', async () => {
    const seen: string[] = [];
    const watch = plugin('watch', {
      before_request: () => {
        seen.push('before');
      },
      after_request: ({ target, measurements, answeredBy }) => {
        seen.push(`after ${target} ${measurements.costUsd} ${answeredBy}`);
      },
    });
    await run(
      [at('cache', 'before_request'), at('watch', 'before_request'), at('watch', 'after_request')],
      [cache(), watch],
    );
    expect(seen).to.deep.equal(['before', 'after undefined 0 cache']);
  });

  it('does not disarm a limit that stands behind it', async () => {
    const limit = plugin('limit', { before_request: () => reject('slow down') }, { type: 'ratelimit' });
    expect(
      (await run([at('cache', 'before_request'), at('limit', 'before_request')], [cache(), limit])).answer.status,
    ).to.equal(429);
  });

  it('may be withheld after the request', async () => {
    const no = plugin('no', { after_request: () => reject('no') }, { type: 'guardrail' });
    for (const stream of [false, true]) {
      const { answer: given } = await run([at('cache', 'before_request'), at('no', 'after_request')], [cache(), no], {
        stream,
      });
      expect(given.status).to.equal(502);
      expect(given.headers.get('x-gateway-target')).to.equal(null);
    }
  });

  it('is counted for the provider "cache", with its tokens, at no cost', async () => {
    const { host } = await run([at('cache', 'before_request')], [cache()]);
    const of = (wanted: string): object[] =>
      host.samples.filter(({ name }) => name === wanted).map(({ labels, value }) => ({ ...labels, value }));
    expect(of('gateway_requests_total')).to.deep.equal([
      { provider: 'cache', model: 'm', status: 'success', value: 1 },
    ]);
    expect(of('gateway_tokens_output_total')).to.deep.equal([{ provider: 'cache', model: 'm', value: 5 }]);
    expect(of('gateway_request_cost_usd_total')).to.deep.equal([]);
  });

  it('is streamed to who asked for a stream: role, pieces of text, finish, usage, end marker', async () => {
    const { answer: given, upstream } = await run([at('cache', 'before_request')], [cache()], { stream: true });
    expect(given.headers.get('content-type')).to.equal('text/event-stream');
    expect(given.headers.get('x-gateway-target')).to.equal(null);
    expect(upstream.seen).to.deep.equal([]);
    const events = given.events();
    expect(events.pop()).to.equal('[DONE]');
    expect(events.at(-1)).to.deep.include({
      choices: [],
      usage: { prompt_tokens: 4, completion_tokens: 5, total_tokens: 9 },
    });
    const chunks = events.slice(0, -1);
    expect(chunks.filter(({ choices: [choice] }) => choice.delta.content).length).to.be.above(1);
    expect(chunks.map(({ choices: [choice] }) => choice.delta.content ?? '').join('')).to.equal(TEXT);
    expect(chunks.map(({ choices: [choice] }) => choice.delta.role)).to.deep.equal([
      'assistant',
      ...chunks.slice(1).map(() => undefined),
    ]);
    expect(chunks.map(({ choices: [choice] }) => choice.finish_reason)).to.deep.equal([
      ...chunks.slice(1).map(() => null),
      'stop',
    ]);
    for (const event of events)
      expect(event).to.include({ object: 'chat.completion.chunk', model: 'm', id: 'chatcmpl-1' });
  });

  it('is streamed without usage to a client that opted out', async () => {
    for (const options of [{}, { include_usage: false }]) {
      const { answer: given } = await run([at('cache', 'before_request')], [cache()], {
        stream: true,
        stream_options: options,
      });
      expect(given.events().some((event) => event.usage)).to.equal(false);
    }
  });

  it('is streamed with its tool calls, its reasoning and every choice', async () => {
    const calls = [
      { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
      { id: 'call_2', type: 'function', function: { name: 'g', arguments: '{}' } },
    ];
    const choices = [
      { index: 0, message: { role: 'assistant', content: null, tool_calls: calls }, finish_reason: 'tool_calls' },
      {
        index: 1,
        message: { role: 'assistant', content: 'text', reasoning_content: 'thought' },
        finish_reason: 'stop',
      },
    ];
    const { answer: given } = await run([at('cache', 'before_request')], [cache(cached({ choices }))], {
      stream: true,
    });
    const deltas = given
      .events()
      .slice(0, -1)
      .flatMap(({ choices: given }) => given as any[]);
    const of = (index: number): any[] => deltas.filter((choice) => choice.index === index).map(({ delta }) => delta);
    expect(of(0).flatMap(({ tool_calls }) => tool_calls ?? [])).to.deep.equal(
      calls.map((call, index) => ({ ...call, index })),
    );
    expect(
      of(1)
        .map(({ content }) => content ?? '')
        .join(''),
    ).to.equal('text');
    expect(
      of(1)
        .map(({ reasoning_content }) => reasoning_content ?? '')
        .join(''),
    ).to.equal('thought');
  });

  it('means nothing after the request', async () => {
    const late = plugin('late', { after_request: () => answer(cached()) });
    const { answer: given } = await run([at('late', 'after_request')], [late]);
    expect(given.json().choices[0].message.content).to.equal('hello');
    expect(given.headers.get('x-gateway-target')).to.equal('a');
  });
});

describe('observe and record', () => {
  const rejecting = plugin(
    'guard',
    { before_request: () => reject('bad before'), after_request: () => reject('bad after') },
    { type: 'guardrail' },
  );
  const verdicts = (host: TestHost): object[] =>
    host.samples
      .filter(({ name }) => name === 'gateway_guardrail_verdicts_total')
      .map(({ labels, value }) => ({ ...labels, value }));
  const line = (host: TestHost, msg: string): Record<string, unknown> | undefined =>
    host.lines.find((one) => one['msg'] === msg);

  it('observe: the request is served, with one log line and one count', async () => {
    for (const stage of ['before_request', 'after_request'] as const) {
      for (const stream of [false, true]) {
        const { answer: given, host } = await run([at('guard', stage, { observe: true })], [rejecting], { stream });
        expect(given.status).to.equal(200);
        if (stream) expect(given.events().at(-1)).to.equal('[DONE]');
        expect(verdicts(host)).to.deep.equal([{ plugin: 'guard', stage, action: 'observed', value: 1 }]);
        expect(line(host, 'guardrail observed')).to.include({
          level: 'INFO',
          plugin: 'guard',
          stage,
          observe: true,
          reason: stage === 'before_request' ? 'bad before' : 'bad after',
          trace_id: given.headers.get('x-request-id'),
        });
      }
    }
  });

  it('record: a stream is served and the verdict recorded; whole answers are refused', async () => {
    const streamed = await run([at('guard', 'after_request', { stream: 'record' })], [rejecting], { stream: true });
    expect(streamed.answer.events().at(-1)).to.equal('[DONE]');
    expect(verdicts(streamed.host)).to.deep.equal([
      { plugin: 'guard', stage: 'after_request', action: 'recorded', value: 1 },
    ]);
    expect(line(streamed.host, 'guardrail recorded')).to.include({ plugin: 'guard', reason: 'bad after' });
    const whole = await run([at('guard', 'after_request', { stream: 'record' })], [rejecting]);
    expect(whole.answer.status).to.equal(502);
    expect(verdicts(whole.host)).to.deep.equal([
      { plugin: 'guard', stage: 'after_request', action: 'rejected', value: 1 },
    ]);
  });

  it('end: a stream gets an error event, and the rejection is counted', async () => {
    const { answer: given, host } = await run([at('guard', 'after_request')], [rejecting], { stream: true });
    expect(given.events().at(-1).error.message).to.equal('response rejected by guard (after_request): bad after');
    expect(verdicts(host)).to.deep.equal([{ plugin: 'guard', stage: 'after_request', action: 'rejected', value: 1 }]);
  });

  it('rejections are counted for guardrails alone', async () => {
    expect(verdicts((await run([at('guard', 'before_request')], [rejecting])).host)).to.deep.equal([
      { plugin: 'guard', stage: 'before_request', action: 'rejected', value: 1 },
    ]);
    const limit = plugin('limit', { before_request: () => reject('no') }, { type: 'ratelimit' });
    expect(verdicts((await run([at('limit', 'before_request', { observe: true })], [limit])).host)).to.deep.equal([]);
  });

  it('observe is a setting of guardrails: other types are not asked', async () => {
    const limit = plugin('limit', { before_request: () => reject('no') }, { type: 'ratelimit' });
    expect((await run([at('limit', 'before_request', { observe: true })], [limit])).answer.status).to.equal(429);
  });

  it('observe does not excuse a fault', async () => {
    const broken = plugin(
      'broken',
      {
        before_request: () => {
          throw new Error('x');
        },
      },
      { type: 'guardrail' },
    );
    expect((await run([at('broken', 'before_request', { observe: true })], [broken])).answer.status).to.equal(500);
  });
});
