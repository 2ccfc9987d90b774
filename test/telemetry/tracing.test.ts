import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, reject } from 'gw/contract';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { sendRelayed } from '../../host/http/send-answer.ts';
import { answerExchange } from '../../host/http/surface-route.ts';
import { forwardAttempt } from '../../host/pipeline/attempts/forward-attempt.ts';
import { run } from '../../host/pipeline/run.ts';
import type { VerbatimReply } from '../../host/upstream/reply-body.ts';
import { ask, MASTER_ID, replyJson, replyStream, startHost, type StubHandler, stubUpstream } from '../kit/index.ts';
import { httpCollector, type ReceivedSpan } from '../kit/otlp.ts';
import { answers, twofold } from '../pipeline/two-apis.ts';
import { named, serving, traced } from './support/traced.ts';

const CHAT = '/v1/chat/completions';
const SECRET = 'sk-proj-abcdefghijklmnopqrstuvwx';
const CALLER = { id: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' };
const traceparent = (flags: string): string => `00-${CALLER.id}-${CALLER.span}-${flags}`;

describe('the trace of a request', () => {
  it('says by which API of its service a provider was asked, where that was chosen', async () => {
    for (const chat_via of ['responses', 'chat', undefined]) {
      const { host, finished } = await traced({ handler: answers(), provider: twofold(), target: { chat_via } });
      await host.post(CHAT, ask('hi'));
      expect(named(await finished(), 'POST').attributes['gateway.upstream.api']).to.equal(chat_via ?? 'chat');
    }
    const { host, finished } = await traced();
    await host.post(CHAT, ask('hi'));
    expect(named(await finished(), 'POST').attributes).not.to.have.property('gateway.upstream.api');
  });

  it('is a span of the request with one for the provider call, under the id of the request', async () => {
    const { host, upstream, finished } = await traced();
    const answer = await host.post(CHAT, ask('hi', { max_tokens: 5, temperature: 0.5 }));
    const spans = await finished();
    const [root, call] = [named(spans, 'gateway.request'), named(spans, 'POST')];
    expect(spans).to.have.lengthOf(2);
    const id = answer.headers.get('x-request-id');
    expect([root.traceId, call.traceId, root.parentId, call.parentId]).to.deep.equal([id, id, '', root.spanId]);
    expect([root.kind, call.kind]).to.deep.equal(['SERVER', 'CLIENT']);
    expect(root.attributes).to.deep.equal({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm',
      'gen_ai.request.is_stream': false,
      'gen_ai.request.max_tokens': 5,
      'gen_ai.request.temperature': 0.5,
      'gw.schema.version': '1.0.0-draft',
      'gw.gateway.version': 'test',
      'gw.gateway.trace_id': id,
      'gw.routing.strategy': 'fallback',
      'gw.request.api_key_id': MASTER_ID,
      'gen_ai.system': 'a',
      'gen_ai.provider.name': 'a',
      'gen_ai.response.model': 'upstream-model',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 11,
      'gen_ai.usage.output_tokens': 7,
      'gw.routing.target_key': 'a',
      'gw.routing.attempt': 1,
      'gw.cache.hit': false,
      'gw.forwarded_params': ['temperature', 'max_tokens'],
      'gw.cost.model_found': false,
    });
    expect(call.attributes).to.deep.include({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(upstream.url).port),
      'gw.routing.target_key': 'a',
      'gw.routing.attempt': 1,
    });
    expect(call.attributes['url.full']).to.equal(`${upstream.url}/chat/completions`);
    expect([root.status.code, call.status.code]).to.deep.equal([0, 0]);
    expect(
      root.start <= call.start && call.start <= call.end && call.end <= root.end,
      'one lies within the other',
    ).to.equal(true);
    expect(Number(root.start / 1_000_000n)).to.be.within(Date.now() - 60_000, Date.now());
    expect(upstream.seen[0]!.headers['traceparent']).to.equal(`00-${id}-${call.spanId}-01`);
    expect(root.resource).to.deep.include({
      'service.name': 'gw',
      'service.version': 'test',
      'process.pid': process.pid,
      'process.runtime.name': 'nodejs',
    });
  });

  it('continues that of the caller, whose decision counts in both directions', async () => {
    const { host, upstream, finished } = await traced({ tracing: { sample_ratio: 0 } });
    await host.post(CHAT, ask(), { traceparent: traceparent('01'), tracestate: 'vendor=1', baggage: 'user=7' });
    await host.post(CHAT, ask());
    const spans = await finished();
    const root = named(spans, 'gateway.request');
    expect([root.traceId, root.parentId, root.traceState]).to.deep.equal([CALLER.id, CALLER.span, 'vendor=1']);
    const [first, second] = upstream.seen.map(({ headers }) => headers);
    expect([first!['traceparent'], first!['tracestate'], first!['baggage']]).to.deep.equal([
      `00-${CALLER.id}-${named(spans, 'POST').spanId}-01`,
      'vendor=1',
      'user=7',
    ]);
    expect(second!['traceparent']).to.match(/^00-[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-00$/);

    const other = await traced();
    await other.host.post(CHAT, ask(), { traceparent: traceparent('00') });
    expect(await other.finished()).to.deep.equal([]);
    expect(other.upstream.seen[0]!.headers['traceparent']).to.match(new RegExp(`^00-${CALLER.id}-[0-9a-f]{16}-00$`));
  });

  it('are all kept from a ratio of 1 on, and none up to 0', async () => {
    for (const [ratio, count] of [
      [1.5, 2],
      [-1, 0],
    ] as const) {
      const { host, finished } = await traced({ tracing: { sample_ratio: ratio } });
      await host.post(CHAT, ask());
      expect(await finished(), String(ratio)).to.have.length(count);
    }
  });

  it('holds a call for each try, the retries and failovers as events, and what each target answered', async () => {
    const upstream = await stubUpstream((request, response) =>
      request.url.includes('b/')
        ? serving(request, response)
        : replyJson(response, 503, { error: { message: `no credit on ${SECRET}` } }),
    );
    const collector = await httpCollector();
    const targets = [
      upstream.target('a', {
        retry: { attempts: 2, initial_backoff_ms: 1 },
        circuit_breaker: { failure_threshold: 2 },
      }),
      upstream.target(
        'b',
        {},
        { connection: { env: ['STUB_API_KEY'], baseUrl: `${upstream.url}/b/v1`, authorize: () => ({}) } },
      ),
    ];
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets,
      observability: { tracing: { endpoint: collector.url, protocol: 'http' } },
    });
    await host.post(CHAT, ask());
    await host.close();
    const spans = collector.spans.toSorted((a, b) => Number(a.start - b.start));
    const calls = spans.filter(({ kind }) => kind === 'CLIENT');
    expect(
      calls.map(({ attributes, status }) => [
        attributes['gw.routing.target_key'],
        attributes['gw.routing.attempt'],
        attributes['http.response.status_code'],
        attributes['error.type'],
        attributes['gw.circuit_breaker.state'],
        status.code,
      ]),
    ).to.deep.equal([
      ['a', 1, 503, 'provider_error', 'closed', 2],
      ['a', 2, 503, 'provider_error', 'closed', 2],
      ['b', 3, 200, undefined, undefined, 0],
    ]);
    expect(calls[0]!.status.message).to.include('[REDACTED_OPENAI_KEY]').and.not.include(SECRET);
    expect(
      named(spans, 'gateway.request').events.map(({ name, attributes }) => [name, attributes['gw.routing.target_key']]),
    ).to.deep.equal([
      ['gw.retry', 'a'],
      ['gw.circuit_breaker.moved', 'a'],
      ['gw.failover', 'a'],
    ]);
  });

  it('holds an event for an attempt that the breaker refused, and no call', async () => {
    const { host, finished } = await traced({
      handler: (_request, response) => replyJson(response, 500, {}),
      target: { circuit_breaker: { failure_threshold: 1 } },
    });
    await host.post(CHAT, ask());
    await host.post(CHAT, ask());
    const spans = (await finished()).toSorted((a, b) => Number(a.start - b.start));
    expect(spans.filter(({ kind }) => kind === 'CLIENT')).to.have.lengthOf(1);
    const { events, attributes, status } = spans.findLast(({ name }) => name === 'gateway.request')!;
    expect(
      spans
        .filter(({ name }) => name === 'gateway.request')
        .map(({ attributes: told }) => told['gw.circuit_breaker.opened']),
    ).to.deep.equal([true, undefined]);
    expect(events.map(({ name, attributes: told }) => [name, told['error.type']])).to.deep.equal([
      ['gw.attempt.refused', 'circuit_open'],
      ['exception', undefined],
    ]);
    expect([attributes['gw.routing.target_key'], attributes['gw.error.code'], status.code]).to.deep.equal([
      'a',
      'upstream_unavailable',
      2,
    ]);
  });

  it("holds the kind of an upstream's failure, at the request and at the call", async () => {
    const { host, finished } = await traced({
      handler: (_request, response) => replyJson(response, 402, { error: { message: 'Insufficient Balance' } }),
    });
    await host.post(CHAT, ask());
    const spans = await finished();
    const { attributes } = named(spans, 'gateway.request');
    expect(attributes).to.include({ 'fault.reason': 'billing', 'gw.error.upstream_status': 402 });
    expect(spans.find(({ kind }) => kind === 'CLIENT')?.attributes['fault.reason']).to.equal('billing');
  });

  it('tells of a stream when its first and its last chunk came', async () => {
    const { host, finished } = await traced();
    await host.post(CHAT, ask('hi', { stream: true }));
    const { attributes } = named(await finished(), 'gateway.request');
    expect(attributes).to.include({ 'gen_ai.request.is_stream': true, 'gen_ai.usage.output_tokens': 7 });
    expect(attributes['gw.stream.time_to_last_token_ms'])
      .to.be.at.least(attributes['gw.stream.time_to_first_token_ms'])
      .and.above(0);
  });

  it('holds the cost by what it was spent on', async () => {
    const collector = await httpCollector();
    const upstream = await stubUpstream(serving);
    const host = await startHost(
      {
        targets: [{ virtual_key: 'openai' }],
        observability: { tracing: { endpoint: collector.url, protocol: 'http' } },
      },
      { variables: { OPENAI_API_KEY: 'key-of-this-test', OPENAI_BASE_URL: upstream.url } },
    );
    await host.post(CHAT, ask('hi', { model: 'gpt-4o' }));
    await host.close();
    const { attributes } = named(collector.spans, 'gateway.request');
    expect(attributes['gw.cost.usd'])
      .to.be.closeTo(attributes['gw.cost.input_usd'] + attributes['gw.cost.output_usd'], 1e-12)
      .and.above(0);
    expect(attributes).to.include({
      'gw.cost.cache_read_usd': 0,
      'gw.cost.cache_write_usd': 0,
      'gw.cost.reasoning_usd': 0,
      'gw.cost.model_found': true,
    });
  });

  it('calls the provider as the conventions of OpenTelemetry do, and the target as it is configured', async () => {
    const collector = await httpCollector();
    const upstream = await stubUpstream(serving);
    const host = await startHost(
      { targets: [{ virtual_key: 'xai' }], observability: { tracing: { endpoint: collector.url, protocol: 'http' } } },
      { variables: { XAI_API_KEY: 'key-of-this-test', XAI_BASE_URL: upstream.url } },
    );
    await host.post(CHAT, ask('hi', { model: 'grok-4' }));
    await host.close();
    expect(named(collector.spans, 'POST').attributes).to.include({
      'gen_ai.provider.name': 'x_ai',
      'gw.routing.target_key': 'xai',
    });
    expect(named(collector.spans, 'gateway.request').attributes).to.include({
      'gen_ai.provider.name': 'x_ai',
      'gen_ai.system': 'xai',
      'gw.routing.target_key': 'xai',
    });
  });

  for (const policy of ['warn', 'drop']) {
    it(`names the parameters that a provider got, and not those it could not take: ${policy}`, async () => {
      const collector = await httpCollector();
      const upstream = await stubUpstream(serving);
      const host = await startHost({
        targets: [upstream.target('a', {}, { params: { seed: 'unsupported', top_p: 'unsupported' } })],
        compatibility: { on_unsupported_param: policy },
        observability: { tracing: { endpoint: collector.url, protocol: 'http' } },
      });
      await host.post(CHAT, ask('hi', { user: 'u', n: 1, seed: 7, top_p: 0.5, stop: [], novelty: 1 }));
      await host.post(CHAT, ask());
      await host.close();
      expect(
        collector.spans
          .filter(({ name }) => name === 'gateway.request')
          .map(({ attributes }) => attributes['gw.forwarded_params'] as unknown),
      ).to.deep.equal([['n', 'user'], undefined]);
    });
  }

  it('says what kind of cache answered', async () => {
    const { host, finished } = await traced({
      config: {
        plugins: ['before_request', 'after_request'].map((stage) => ({ name: 'response-cache', stage, enabled: true })),
      },
    });
    for (let time = 0; time < 2; time += 1) await host.post(CHAT, ask());
    const roots = (await finished()).filter(({ name }) => name === 'gateway.request');
    expect(roots.map(({ attributes }) => [attributes['gw.cache.hit'], attributes['gw.cache.kind']])).to.deep.equal([
      [false, undefined],
      [true, 'exact'],
    ]);
  });

  it('has a span for each run of a plugin', async () => {
    const gate = definePlugin({
      name: 'gate',
      type: 'guardrail',
      summary: 'For this test',
      stages: ['before_request', 'after_request'],
      settings: Joi.object({}),
      create: () => ({
        before_request: ({ request }) => (JSON.stringify(request).includes('no') ? reject(`not ${SECRET}`) : undefined),
        after_request: ({ request }) => {
          if (JSON.stringify(request).includes('crash')) throw new Error('boom');
        },
      }),
    });
    const plugins = ['before_request', 'after_request'].map((stage) => ({
      name: 'gate',
      type: 'guardrail',
      stage,
      enabled: true,
      config: {},
    }));
    const { host, finished } = await traced({ config: { plugins }, options: { modules: [gate] } });
    await host.post(CHAT, ask('no'));
    await host.post(CHAT, ask('crash'));
    const spans = await finished();
    const [denied, crashed] = spans.filter(({ name }) => name === 'gateway.request');
    const runs = (root: ReceivedSpan): unknown[] =>
      spans
        .filter(({ parentId, kind }) => parentId === root.spanId && kind === 'INTERNAL')
        .map(({ name, attributes, status }) => [
          name,
          attributes['gw.plugin.outcome'],
          attributes['gw.plugin.reason'],
          status.message,
        ]);
    expect(runs(denied!)).to.deep.equal([['plugin.before_request.gate', 'rejected', 'not [REDACTED_OPENAI_KEY]', '']]);
    expect(runs(crashed!)).to.deep.equal([
      ['plugin.before_request.gate', 'ok', undefined, ''],
      ['plugin.after_request.gate', 'error', undefined, 'boom'],
    ]);
    expect([
      denied!.attributes['gen_ai.system'],
      denied!.attributes['gw.routing.attempt'],
      denied!.status.code,
      crashed!.status.code,
    ]).to.deep.equal(['none', 0, 2, 2]);
    expect(denied!.attributes).to.not.have.any.keys('gw.routing.target_key', 'gen_ai.response.model');
  });

  it('has one for the failure of a plugin that guards a stream', async () => {
    const gate = definePlugin({
      name: 'gate',
      type: 'guardrail',
      summary: 'For this test',
      stages: ['after_request'],
      settings: Joi.object({}),
      create: () => ({
        after_request: () => {},
        stream: () => ({
          push: () => {
            throw new Error('boom');
          },
          end: () => [],
        }),
      }),
    });
    const { host, finished } = await traced({
      config: { plugins: [{ name: 'gate', stage: 'after_request', enabled: true }] },
      options: { modules: [gate] },
    });
    await host.post(CHAT, ask('hi', { stream: true }));
    const { attributes, status } = named(await finished(), 'plugin.after_request.gate');
    expect([attributes['gw.plugin.outcome'], status.message]).to.deep.equal(['error', 'boom']);
  });

  it('has one for the rejection of a plugin that guards a stream', async () => {
    const plugins = [
      {
        name: 'word-filter',
        stage: 'after_request',
        enabled: true,
        config: { blocked_words: ['never'], stream: 'window' },
      },
    ];
    const { host, finished } = await traced({
      config: { plugins },
      handler: (_request, response) => replyStream(response, ['well, ', 'never']),
    });
    await host.post(CHAT, ask('hi', { stream: true }));
    const { attributes, parentId } = named(await finished(), 'plugin.after_request.word-filter');
    expect(attributes).to.deep.equal({
      'gw.plugin.name': 'word-filter',
      'gw.plugin.kind': 'guardrail',
      'gw.plugin.stage': 'after_request',
      'gw.plugin.outcome': 'rejected',
      'gw.plugin.reason': 'response blocked by content policy',
    });
    expect(parentId).to.not.equal('');
  });

  it('covers what is forwarded, which arrives as the client sent it', async () => {
    const forwarding = defineBuiltin({
      name: 'forwarding',
      apply: ({ hooks }) =>
        hooks.mount.tap({ name: 'forwarding', stage: ORDER.listings }, (router, host) => {
          router.get('/v1/forwarded', (_request, response) => {
            let reply: VerbatimReply | undefined;
            void answerExchange(host, 'passthrough', { request: {}, streaming: false }, response, {
              run: (exchange, generation) =>
                run(exchange, generation, async () => {
                  const target = generation.targets.get('a')!;
                  reply = await forwardAttempt(
                    exchange,
                    {
                      target,
                      provider: target.provider!,
                      request: { method: 'GET', url: `${target.provider!.root}/x`, headers: {}, body: undefined },
                    },
                    generation,
                  );
                  return undefined;
                }),
              send: (_read, exchange, generation, to) =>
                sendRelayed(
                  { status: reply!.status, headers: [], body: reply!.body, isHeadFirst: true },
                  exchange,
                  generation,
                  to,
                ),
            });
          });
        }),
    });
    const { host, upstream, finished } = await traced({
      handler: (_request, response) => replyJson(response, 200, {}),
      options: { builtins: [forwarding] },
    });
    const answer = await host.get('/v1/forwarded');
    expect([answer.status, upstream.seen[0]!.headers['traceparent']]).to.deep.equal([200, undefined]);
    const spans = await finished();
    expect(spans).to.have.lengthOf(1);
    expect(named(spans, 'gateway.request').attributes).to.include({
      'gen_ai.operation.name': 'passthrough',
      'gw.routing.target_key': 'a',
      'gw.gateway.trace_id': answer.headers.get('x-request-id'),
    });
  });

  it('does not say of what was forwarded and failed that it was refused', async () => {
    const { host, finished } = await traced({
      handler: (_request, response) => replyJson(response, 500, {}),
      provider: { passthrough: true },
    });
    expect((await host.get('/v1/forwarded', { 'x-provider': 'a' })).status).to.equal(500);
    expect(named(await finished(), 'gateway.request').events.map(({ name }) => name)).to.deep.equal(['exception']);
  });

  it('says that it failed where it broke off midway', async () => {
    const { host, finished } = await traced({
      handler: (_request, response) => {
        replyStreamStart(response);
        setTimeout(() => response.destroy(), 20);
      },
    });
    await host.post(CHAT, ask('hi', { stream: true }));
    const spans = await finished();
    expect(named(spans, 'gateway.request').status.code).to.equal(2);
    expect(named(spans, 'gateway.request').events.map(({ name }) => name)).to.deep.equal(['exception']);
    expect(named(spans, 'POST').status.code).to.equal(2);
    const { attributes } = named(spans, 'gateway.request');
    expect(attributes['gw.stream.time_to_last_token_ms'], 'the last chunk, not the end')
      .to.equal(attributes['gw.stream.time_to_first_token_ms'])
      .and.above(0);
  });

  it('tells of no last chunk where none came', async () => {
    const { host, finished } = await traced({ handler: (_request, response) => replyJson(response, 500, {}) });
    await host.post(CHAT, ask('hi', { stream: true }));
    expect(named(await finished(), 'gateway.request').attributes).to.not.have.any.keys(
      'gw.stream.time_to_last_token_ms',
      'gw.stream.time_to_first_token_ms',
    );
  });
});

function replyStreamStart(response: Parameters<StubHandler>[1]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'x', choices: [{ index: 0, delta: { role: 'assistant', content: 'one' }, finish_reason: null }] })}\n\n`,
  );
}

describe('privacy levels', () => {
  const PROMPT = 'the prompt that stays inside';
  const failing: StubHandler = (request, response) =>
    request.text.includes('fail')
      ? replyJson(response, 400, { error: { message: `wrong ${SECRET}` } })
      : serving(request, response);

  async function told(
    level: string | undefined,
    content: string,
    more: object = {},
  ): Promise<{ readonly text: string; readonly root: ReceivedSpan }> {
    const { host, finished } = await traced({
      handler: failing,
      tracing: level === undefined ? {} : { privacy_level: level },
    });
    await host.post(CHAT, ask(content, more), { authorization: `Bearer ${host.host.masterKey}`, 'x-user-id': SECRET });
    const spans = await finished();
    return {
      text: JSON.stringify(spans, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
      root: named(spans, 'gateway.request'),
    };
  }

  it('below full tell no content, whole or streamed, and no secret', async () => {
    for (const level of [undefined, 'none', 'metadata']) {
      for (const stream of [false, true]) {
        const { text } = await told(level, `${PROMPT} ${SECRET}`, { stream });
        expect(text, level).to.not.include(PROMPT).and.not.include(SECRET).and.not.include('hello');
      }
      expect((await told(level, 'fail')).text).to.not.include(SECRET);
      expect((await told(level, 'hi', { model: SECRET })).text).to.not.include(SECRET);
    }
  });

  it('decide what is said of an error', async () => {
    const error = async (level: string): Promise<unknown> => {
      const {
        root: { status, events },
      } = await told(level, 'fail');
      return [
        status.message,
        events.map(({ name, attributes }) => [name, attributes['exception.type'], attributes['exception.message']]),
      ];
    };
    expect(await error('none')).to.deep.equal(['redacted', [['exception', 'error', 'redacted']]]);
    const [message] = (await error('metadata')) as [string];
    expect(message).to.include('[REDACTED_OPENAI_KEY]');
    const [raw] = (await error('full')) as [string];
    expect(raw).to.include(SECRET);
  });

  it('at full tell the body that was read to forward it as the client wrote it, and nothing where none was', async () => {
    const { host, finished } = await traced({
      handler: (_request, response) => replyJson(response, 200, {}),
      provider: { passthrough: true, responses: true },
      tracing: { privacy_level: 'full' },
    });
    const body = { model: 'm', input: PROMPT };
    await host.post('/v1/responses', body);
    await host.post('/v1/forwarded', body);
    await host.get('/v1/forwarded', { 'x-provider': 'a' });
    const told = (await finished())
      .filter(({ name }) => name === 'gateway.request')
      .map(({ attributes }) => attributes['gen_ai.input.messages'] as unknown);
    expect(told).to.deep.equal([JSON.stringify(body), JSON.stringify(body), undefined]);
  });

  it('at full tell prompt and answer, whole or streamed', async () => {
    for (const stream of [false, true]) {
      const {
        root: { attributes },
      } = await told('full', PROMPT, { stream });
      expect(JSON.parse(attributes['gen_ai.input.messages'])).to.deep.equal([
        { role: 'user', parts: [{ type: 'text', content: PROMPT }] },
      ]);
      expect(JSON.parse(attributes['gen_ai.output.messages'])).to.deep.equal([
        { role: 'assistant', parts: [{ type: 'text', content: 'hello' }], finish_reason: 'stop' },
      ]);
    }
  });
});
