import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, reject } from 'gw/contract';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { tracingSettings } from '../../builtins/telemetry/tracing/settings.ts';
import { answerExchange, sendRelayed } from '../../host/http/surface-route.ts';
import { forwardAttempt } from '../../host/pipeline/forward-attempt.ts';
import { run } from '../../host/pipeline/run.ts';
import type { VerbatimReply } from '../../host/upstream/reply-body.ts';
import { ask, chatReply, MASTER_ID, replyJson, replyStream, startHost, type StubHandler, stubUpstream, type StubUpstream, type TestHost, type TestHostOptions } from '../kit/index.ts';
import { type Collector, grpcCollector, httpCollector, type ReceivedSpan } from '../kit/otlp.ts';

const CHAT = '/v1/chat/completions';
const SECRET = 'sk-proj-abcdefghijklmnopqrstuvwx';
const CALLER = { id: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' };
const traceparent = (flags: string): string => `00-${CALLER.id}-${CALLER.span}-${flags}`;

const serving: StubHandler = (request, response) => (request.json()['stream'] === true ? replyStream(response, ['he', 'llo']) : replyJson(response, 200, chatReply('hello')));

interface Setup {
  readonly handler?: StubHandler;
  readonly tracing?: object;
  readonly target?: object;
  readonly provider?: object;
  readonly config?: object;
  readonly options?: TestHostOptions;
  readonly collector?: Collector;
}

interface Traced {
  readonly host: TestHost;
  readonly collector: Collector;
  readonly upstream: StubUpstream;
  /** Ends the gateway, so that every span has left, and gives them all. */
  readonly finished: () => Promise<readonly ReceivedSpan[]>;
}

async function traced({ handler = serving, tracing = {}, target = {}, provider = {}, config = {}, options = {}, collector: given }: Setup = {}): Promise<Traced> {
  const collector = given ?? await httpCollector();
  const upstream = await stubUpstream(handler);
  const observability = { tracing: { endpoint: collector.url, protocol: 'http/protobuf', ...tracing } };
  const host = await startHost({ strategy: { mode: 'fallback' }, targets: [upstream.target('a', target, provider)], observability, ...config }, options);
  return { host, collector, upstream, finished: async () => { await host.close(); return collector.spans; } };
}

const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan => {
  const found = spans.filter((span) => span.name === name);
  expect(found, name).to.have.lengthOf(1);
  return found[0]!;
};

describe('the trace of a request', () => {
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
      'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm', 'gen_ai.request.is_stream': false, 'gen_ai.request.max_tokens': 5, 'gen_ai.request.temperature': 0.5,
      'gw.schema.version': '1.0.0-draft', 'gw.gateway.version': 'test', 'gw.gateway.trace_id': id, 'gw.routing.strategy': 'fallback', 'gw.request.api_key_id': MASTER_ID,
      'gen_ai.system': 'a', 'gen_ai.provider.name': 'a', 'gen_ai.response.model': 'upstream-model', 'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 11, 'gen_ai.usage.output_tokens': 7, 'gw.routing.target_key': 'a', 'gw.routing.attempt': 1, 'gw.cache.hit': false, 'gw.forwarded_params': ['temperature', 'max_tokens'],
    });
    expect(call.attributes).to.deep.include({ 'http.request.method': 'POST', 'http.response.status_code': 200, 'server.address': '127.0.0.1', 'server.port': Number(new URL(upstream.url).port), 'gw.routing.target_key': 'a', 'gw.routing.attempt': 1 });
    expect(call.attributes['url.full']).to.equal(`${upstream.url}/chat/completions`);
    expect([root.status.code, call.status.code]).to.deep.equal([0, 0]);
    expect(root.start <= call.start && call.start <= call.end && call.end <= root.end, 'one lies within the other').to.equal(true);
    expect(Number(root.start / 1_000_000n)).to.be.within(Date.now() - 60_000, Date.now());
    expect(upstream.seen[0]!.headers['traceparent']).to.equal(`00-${id}-${call.spanId}-01`);
    expect(root.resource).to.deep.include({ 'service.name': 'gw', 'service.version': 'test', 'process.pid': process.pid, 'process.runtime.name': 'nodejs' });
  });

  it('continues that of the caller, whose decision counts in both directions', async () => {
    const { host, upstream, finished } = await traced({ tracing: { sample_ratio: 0 } });
    await host.post(CHAT, ask(), { traceparent: traceparent('01'), tracestate: 'vendor=1', baggage: 'user=7' });
    await host.post(CHAT, ask());
    const spans = await finished();
    const root = named(spans, 'gateway.request');
    expect([root.traceId, root.parentId, root.traceState]).to.deep.equal([CALLER.id, CALLER.span, 'vendor=1']);
    const [first, second] = upstream.seen.map(({ headers }) => headers);
    expect([first!['traceparent'], first!['tracestate'], first!['baggage']]).to.deep.equal([`00-${CALLER.id}-${named(spans, 'POST').spanId}-01`, 'vendor=1', 'user=7']);
    expect(second!['traceparent']).to.match(/^00-[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-00$/);

    const other = await traced();
    await other.host.post(CHAT, ask(), { traceparent: traceparent('00') });
    expect(await other.finished()).to.deep.equal([]);
    expect(other.upstream.seen[0]!.headers['traceparent']).to.match(new RegExp(`^00-${CALLER.id}-[0-9a-f]{16}-00$`));
  });

  it('are all kept from a ratio of 1 on, and none up to 0', async () => {
    for (const [ratio, count] of [[1.5, 2], [-1, 0]] as const) {
      const { host, finished } = await traced({ tracing: { sample_ratio: ratio } });
      await host.post(CHAT, ask());
      expect(await finished(), String(ratio)).to.have.length(count);
    }
  });

  it('holds a call for each try, the retries and failovers as events, and what each target answered', async () => {
    const upstream = await stubUpstream((request, response) => (request.url.includes('b/') ? serving(request, response) : replyJson(response, 503, { error: { message: `no credit on ${SECRET}` } })));
    const collector = await httpCollector();
    const targets = [
      upstream.target('a', { retry: { attempts: 2, initial_backoff_ms: 1 }, circuit_breaker: { failure_threshold: 2 } }),
      upstream.target('b', {}, { connection: { env: ['STUB_API_KEY'], baseUrl: `${upstream.url}/b/v1`, authorize: () => ({}) } }),
    ];
    const host = await startHost({ strategy: { mode: 'fallback' }, targets, observability: { tracing: { endpoint: collector.url, protocol: 'http' } } });
    await host.post(CHAT, ask());
    await host.close();
    const spans = collector.spans.toSorted((a, b) => Number(a.start - b.start));
    const calls = spans.filter(({ kind }) => kind === 'CLIENT');
    expect(calls.map(({ attributes, status }) => [attributes['gw.routing.target_key'], attributes['gw.routing.attempt'], attributes['http.response.status_code'], attributes['error.type'], attributes['gw.circuit_breaker.state'], status.code])).to.deep.equal([
      ['a', 1, 503, 'provider_error', 'closed', 2], ['a', 2, 503, 'provider_error', 'closed', 2], ['b', 3, 200, undefined, undefined, 0],
    ]);
    expect(calls[0]!.status.message).to.include('[REDACTED_OPENAI_KEY]').and.not.include(SECRET);
    expect(named(spans, 'gateway.request').events.map(({ name, attributes }) => [name, attributes['gw.routing.target_key']])).to.deep.equal([
      ['gw.retry', 'a'], ['gw.circuit_breaker.moved', 'a'], ['gw.failover', 'a'],
    ]);
  });

  it('holds an event for an attempt that the breaker refused, and no call', async () => {
    const { host, finished } = await traced({ handler: (_request, response) => replyJson(response, 500, {}), target: { circuit_breaker: { failure_threshold: 1 } } });
    await host.post(CHAT, ask());
    await host.post(CHAT, ask());
    const spans = (await finished()).toSorted((a, b) => Number(a.start - b.start));
    expect(spans.filter(({ kind }) => kind === 'CLIENT')).to.have.lengthOf(1);
    const { events, attributes, status } = spans.findLast(({ name }) => name === 'gateway.request')!;
    expect(spans.filter(({ name }) => name === 'gateway.request').map(({ attributes: told }) => told['gw.circuit_breaker.opened'])).to.deep.equal([true, undefined]);
    expect(events.map(({ name, attributes: told }) => [name, told['error.type']])).to.deep.equal([['gw.attempt.refused', 'circuit_open'], ['exception', undefined]]);
    expect([attributes['gw.routing.target_key'], attributes['gw.error.code'], status.code]).to.deep.equal(['a', 'upstream_unavailable', 2]);
  });

  it('tells of a stream when its first and its last chunk came', async () => {
    const { host, finished } = await traced();
    await host.post(CHAT, ask('hi', { stream: true }));
    const { attributes } = named(await finished(), 'gateway.request');
    expect(attributes).to.include({ 'gen_ai.request.is_stream': true, 'gen_ai.usage.output_tokens': 7 });
    expect(attributes['gw.stream.time_to_last_token_ms']).to.be.at.least(attributes['gw.stream.time_to_first_token_ms']).and.above(0);
  });

  it('holds the cost by what it was spent on', async () => {
    const collector = await httpCollector();
    const upstream = await stubUpstream(serving);
    const host = await startHost({ targets: [{ virtual_key: 'openai' }], observability: { tracing: { endpoint: collector.url, protocol: 'http' } } }, { variables: { OPENAI_API_KEY: 'key-of-this-test', OPENAI_BASE_URL: upstream.url } });
    await host.post(CHAT, ask('hi', { model: 'gpt-4o' }));
    await host.close();
    const { attributes } = named(collector.spans, 'gateway.request');
    expect(attributes['gw.cost.usd']).to.be.closeTo(attributes['gw.cost.input_usd'] + attributes['gw.cost.output_usd'], 1e-12).and.above(0);
    expect(attributes).to.include({ 'gw.cost.cache_read_usd': 0, 'gw.cost.cache_write_usd': 0, 'gw.cost.reasoning_usd': 0, 'gw.cost.model_found': true });
  });

  for (const policy of ['warn', 'drop']) {
    it(`names the parameters that a provider got, and not those it could not take: ${policy}`, async () => {
      const collector = await httpCollector();
      const upstream = await stubUpstream(serving);
      const host = await startHost({
        targets: [upstream.target('a', {}, { params: { seed: 'unsupported', top_p: 'unsupported' } })], compatibility: { on_unsupported_param: policy }, observability: { tracing: { endpoint: collector.url, protocol: 'http' } },
      });
      await host.post(CHAT, ask('hi', { user: 'u', n: 1, seed: 7, top_p: 0.5, stop: [], novelty: 1 }));
      await host.post(CHAT, ask());
      await host.close();
      expect(collector.spans.filter(({ name }) => name === 'gateway.request').map(({ attributes }) => attributes['gw.forwarded_params'] as unknown)).to.deep.equal([['n', 'user'], undefined]);
    });
  }

  it('says what kind of cache answered', async () => {
    const { host, finished } = await traced({ config: { plugins: ['before_request', 'after_request'].map((stage) => ({ name: 'response-cache', stage, enabled: true })) } });
    for (let time = 0; time < 2; time += 1) await host.post(CHAT, ask());
    const roots = (await finished()).filter(({ name }) => name === 'gateway.request');
    expect(roots.map(({ attributes }) => [attributes['gw.cache.hit'], attributes['gw.cache.kind']])).to.deep.equal([[false, undefined], [true, 'exact']]);
  });

  it('has a span for each run of a plugin', async () => {
    const gate = definePlugin({
      name: 'gate', type: 'guardrail', summary: 'For this test', stages: ['before_request', 'after_request'], settings: Joi.object({}),
      create: () => ({
        before_request: ({ request }) => (JSON.stringify(request).includes('no') ? reject(`not ${SECRET}`) : undefined),
        after_request: ({ request }) => { if (JSON.stringify(request).includes('crash')) throw new Error('boom'); },
      }),
    });
    const plugins = ['before_request', 'after_request'].map((stage) => ({ name: 'gate', type: 'guardrail', stage, enabled: true, config: {} }));
    const { host, finished } = await traced({ config: { plugins }, options: { modules: [gate] } });
    await host.post(CHAT, ask('no'));
    await host.post(CHAT, ask('crash'));
    const spans = await finished();
    const [denied, crashed] = spans.filter(({ name }) => name === 'gateway.request');
    const runs = (root: ReceivedSpan): unknown[] => spans.filter(({ parentId, kind }) => parentId === root.spanId && kind === 'INTERNAL').map(({ name, attributes, status }) => [name, attributes['gw.plugin.outcome'], attributes['gw.plugin.reason'], status.message]);
    expect(runs(denied!)).to.deep.equal([['plugin.before_request.gate', 'rejected', 'not [REDACTED_OPENAI_KEY]', '']]);
    expect(runs(crashed!)).to.deep.equal([['plugin.before_request.gate', 'ok', undefined, ''], ['plugin.after_request.gate', 'error', undefined, 'boom']]);
    expect([denied!.attributes['gen_ai.system'], denied!.attributes['gw.routing.attempt'], denied!.status.code, crashed!.status.code]).to.deep.equal(['none', 0, 2, 2]);
    expect(denied!.attributes).to.not.have.any.keys('gw.routing.target_key', 'gen_ai.response.model');
  });

  it('covers what is forwarded, which arrives as the client sent it', async () => {
    const forwarding = defineBuiltin({
      name: 'forwarding',
      apply: ({ hooks }) => hooks.mount.tap({ name: 'forwarding', stage: ORDER.listings }, (router, host) => {
        router.get('/v1/forwarded', (_request, response) => {
          let reply: VerbatimReply | undefined;
          void answerExchange(host, 'passthrough', { request: {}, streaming: false }, response, {
            run: (exchange, generation) => run(exchange, generation, async () => {
              const target = generation.targets.get('a')!;
              reply = await forwardAttempt(exchange, { target, provider: target.provider!, request: { method: 'GET', url: `${target.provider!.root}/x`, headers: {}, body: undefined } }, generation);
              return undefined;
            }),
            send: (_read, exchange, generation, to) => sendRelayed({ status: reply!.status, headers: [], body: reply!.body, isHeadFirst: true }, exchange, generation, to),
          });
        });
      }),
    });
    const { host, upstream, finished } = await traced({ handler: (_request, response) => replyJson(response, 200, {}), options: { builtins: [forwarding] } });
    const answer = await host.get('/v1/forwarded');
    expect([answer.status, upstream.seen[0]!.headers['traceparent']]).to.deep.equal([200, undefined]);
    const spans = await finished();
    expect(spans).to.have.lengthOf(1);
    expect(named(spans, 'gateway.request').attributes).to.include({ 'gen_ai.operation.name': 'passthrough', 'gw.routing.target_key': 'a', 'gw.gateway.trace_id': answer.headers.get('x-request-id') });
  });

  it('does not say of what was forwarded and failed that it was refused', async () => {
    const { host, finished } = await traced({ handler: (_request, response) => replyJson(response, 500, {}), provider: { passthrough: true } });
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
  });
});

function replyStreamStart(response: Parameters<StubHandler>[1]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'x', choices: [{ index: 0, delta: { role: 'assistant', content: 'one' }, finish_reason: null }] })}\n\n`);
}

describe('privacy levels', () => {
  const PROMPT = 'the prompt that stays inside';
  const failing: StubHandler = (request, response) => (request.text.includes('fail') ? replyJson(response, 400, { error: { message: `wrong ${SECRET}` } }) : serving(request, response));

  async function told(level: string | undefined, content: string, more: object = {}): Promise<{ readonly text: string; readonly root: ReceivedSpan }> {
    const { host, finished } = await traced({ handler: failing, tracing: level === undefined ? {} : { privacy_level: level } });
    await host.post(CHAT, ask(content, more), { authorization: `Bearer ${host.host.masterKey}`, 'x-user-id': SECRET });
    const spans = await finished();
    return { text: JSON.stringify(spans, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value)), root: named(spans, 'gateway.request') };
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
      const { root: { status, events } } = await told(level, 'fail');
      return [status.message, events.map(({ name, attributes }) => [name, attributes['exception.type'], attributes['exception.message']])];
    };
    expect(await error('none')).to.deep.equal(['redacted', [['exception', 'error', 'redacted']]]);
    const [message] = await error('metadata') as [string];
    expect(message).to.include('[REDACTED_OPENAI_KEY]');
    const [raw] = await error('full') as [string];
    expect(raw).to.include(SECRET);
  });

  it('at full tell the body that was read to forward it as the client wrote it, and nothing where none was', async () => {
    const { host, finished } = await traced({ handler: (_request, response) => replyJson(response, 200, {}), provider: { passthrough: true, responses: true }, tracing: { privacy_level: 'full' } });
    const body = { model: 'm', input: PROMPT };
    await host.post('/v1/responses', body);
    await host.post('/v1/forwarded', body);
    await host.get('/v1/forwarded', { 'x-provider': 'a' });
    const told = (await finished()).filter(({ name }) => name === 'gateway.request').map(({ attributes }) => attributes['gen_ai.input.messages'] as unknown);
    expect(told).to.deep.equal([JSON.stringify(body), JSON.stringify(body), undefined]);
  });

  it('at full tell prompt and answer, whole or streamed', async () => {
    for (const stream of [false, true]) {
      const { root: { attributes } } = await told('full', PROMPT, { stream });
      expect(JSON.parse(attributes['gen_ai.input.messages'])).to.deep.equal([{ role: 'user', parts: [{ type: 'text', content: PROMPT }] }]);
      expect(JSON.parse(attributes['gen_ai.output.messages'])).to.deep.equal([{ role: 'assistant', parts: [{ type: 'text', content: 'hello' }], finish_reason: 'stop' }]);
    }
  });
});

describe('where spans go', () => {
  it('takes gRPC, with headers', async () => {
    const collector = await grpcCollector();
    const { host, finished } = await traced({ collector, tracing: { protocol: 'grpc', headers: { 'X-Team': 'a', 'x-token': '${COLLECTOR_TOKEN}' } }, options: { variables: { COLLECTOR_TOKEN: 'a-token-of-this-test' } } });
    await host.post(CHAT, ask());
    expect((await finished()).map(({ name }) => name).toSorted()).to.deep.equal(['POST', 'gateway.request']);
    expect(collector.exports[0]!.headers).to.include({ 'x-team': 'a', 'x-token': 'a-token-of-this-test' });
  });

  it('takes gRPC at a bare address, unless said otherwise', async () => {
    const collector = await grpcCollector();
    const upstream = await stubUpstream(serving);
    const host = await startHost({ targets: [upstream.target('a')], observability: { tracing: { endpoint: new URL(collector.url).host } } });
    await host.post(CHAT, ask());
    await host.close();
    expect(collector.spans).to.have.lengthOf(2);
  });

  it('takes HTTP, with headers whose references are there; others are left out with a warning', async () => {
    const headers = { 'x-token': 'Bearer ${COLLECTOR_TOKEN}', 'x-absent': '${NOT_THERE}', 'x-empty': '${NOTHING}', 'x y': 'z' };
    const { host, collector, finished } = await traced({ tracing: { headers }, options: { variables: { COLLECTOR_TOKEN: 'a-token-of-this-test', NOTHING: '' } } });
    await host.post(CHAT, ask());
    await finished();
    expect(collector.exports.map(({ path, headers: sent }) => [path, sent['x-token'], sent['x-absent'], sent['x-empty']])).to.deep.equal([['/v1/traces', 'Bearer a-token-of-this-test', undefined, undefined]]);
    expect(host.lines.filter(({ msg }) => msg === 'a header of the trace exporter is left out').map(({ level, header }) => [level, header])).to.deep.equal([['WARN', 'x-absent'], ['WARN', 'x-empty'], ['WARN', 'x y']]);
    expect(host.texts.join('')).to.not.include('a-token-of-this-test');
  });

  for (const [protocol, legal] of [['grpc', ['a', 'B.c_d']], ['http', ['a', 'B.c_d', "it's", 'x-bin', 'x-latin']]] as const) {
    it(`takes the headers that ${protocol} can carry; others do not stop the start`, async () => {
      const headers = { a: '1', 'B.c_d': '2', "it's": '3', 'x-bin': '4', 'x-latin': 'ü', 'x-euro': '€', 'x-line': 'a\nb', '': 'x', ':path': '/', 'x y': 'z' };
      const collector = protocol === 'grpc' ? await grpcCollector() : await httpCollector();
      const { host } = await traced({ collector, tracing: { protocol, headers } });
      await host.post(CHAT, ask());
      await host.close();
      const out = new Set(host.lines.filter(({ msg }) => msg === 'a header of the trace exporter is left out').map(({ header }) => header));
      expect(Object.keys(headers).filter((name) => !out.has(name))).to.deep.equal(legal);
      expect(collector.exports[0]!.headers).to.include({ a: '1', 'b.c_d': '2' });
    });
  }

  it('is nowhere when its address holds a reference, which is replaced in no address: the start goes on with a warning', async () => {
    for (const endpoint of ['${COLLECTOR}', 'http://${COLLECTOR}:4318', '${NOT_THERE}:4317']) {
      const host = await startHost({ targets: [{ virtual_key: 'echo' }], observability: { tracing: { endpoint } } }, { variables: { COLLECTOR: 'http://127.0.0.1:1' } });
      expect(host.lines.filter(({ msg }) => String(msg).includes('observability.tracing.endpoint')).map(({ level, endpoint: told }) => [level, told])).to.deep.equal([['WARN', endpoint]]);
      expect(host.lines.some(({ msg }) => msg === 'tracing enabled')).to.equal(false);
    }
    const collector = await httpCollector();
    const { host } = await traced({ tracing: { endpoint: '${NOT_THERE}' }, collector, options: { variables: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } } });
    await host.post(CHAT, ask());
    await host.close();
    expect(collector.spans, 'the environment goes first').to.have.lengthOf(2);
  });

  it('is what the environment says before the configuration, unless tracing is off', async () => {
    for (const [variable, suffix, path] of [['OTEL_EXPORTER_OTLP_ENDPOINT', '/base', '/base/v1/traces'], ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', '/just/this', '/just/this']] as const) {
      const collector = await httpCollector();
      const variables = { [variable]: collector.url + suffix, OTEL_SERVICE_NAME: 'named', OTEL_RESOURCE_ATTRIBUTES: 'team=a%20b,service.name=other' };
      const { host } = await traced({ tracing: { endpoint: 'http://127.0.0.1:1', protocol: 'http' }, options: { variables } });
      await host.post(CHAT, ask());
      await host.close();
      expect(collector.exports.map((each) => each.path)).to.deep.equal([path]);
      expect(collector.spans[0]!.resource).to.include({ 'service.name': 'named', team: 'a b' });
      const off = await traced({ tracing: { enabled: false }, options: { variables } });
      await off.host.post(CHAT, ask());
      await off.host.close();
      expect([off.collector.exports, collector.exports.length, off.upstream.seen[0]!.headers['traceparent']]).to.deep.equal([[], 1, undefined]);
    }
  });

  it('gets spans as soon as the environment says', async () => {
    const { host, collector } = await traced({ options: { variables: { OTEL_BSP_SCHEDULE_DELAY: '1' } } });
    await host.post(CHAT, ask());
    expect(await collector.until(2)).to.have.lengthOf(2); // while the gateway runs
  });

  it('is sent to within the bounds of the environment; what cannot be one is warned of', () => {
    const told: string[] = [];
    const log = { debug: () => {}, info: () => {}, warn: (message: string) => void told.push(message), error: () => {} };
    const bounds = (variables: Readonly<Record<string, string>>): unknown => tracingSettings({ tracing: { endpoint: 'http://h:1' } }, variables, log)?.batches;
    const usual = { mostSpans: 2048, batchSpans: 512, delayMs: 5000, exportMs: 10_000 };
    expect([bounds({}), bounds({ OTEL_BSP_SCHEDULE_DELAY: ' ', OTEL_BSP_MAX_QUEUE_SIZE: '' })]).to.deep.equal([usual, usual]);
    expect(bounds({ OTEL_BSP_SCHEDULE_DELAY: ' 0 ', OTEL_BSP_MAX_QUEUE_SIZE: '10', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '3', OTEL_BSP_EXPORT_TIMEOUT: '250' })).to.deep.equal({ mostSpans: 10, batchSpans: 3, delayMs: 0, exportMs: 250 });
    expect(told).to.deep.equal([]);
    expect(bounds({ OTEL_BSP_MAX_QUEUE_SIZE: '10', OTEL_BSP_SCHEDULE_DELAY: '5s', OTEL_BSP_EXPORT_TIMEOUT: '-1', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '0' })).to.deep.equal({ ...usual, mostSpans: 10, batchSpans: 10 });
    expect(told.map((message) => message.split(' ')[0])).to.have.members(['OTEL_BSP_SCHEDULE_DELAY', 'OTEL_BSP_EXPORT_TIMEOUT', 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE']);
  });

  it('is nowhere without an address, and then nothing is sent along', async () => {
    const upstream = await stubUpstream(serving);
    const host = await startHost({ targets: [upstream.target('a')], observability: { tracing: { enabled: true } } });
    await host.post(CHAT, ask(), { traceparent: traceparent('01') });
    expect(upstream.seen[0]!.headers['traceparent']).to.equal(undefined);
  });

  it('warns of exporters that are not there, and of a change that waits for a restart', async () => {
    const exporters = [{ name: 'sink', enabled: true, config: { a: '${NOT_THERE}' } }, { name: 'other', enabled: false }];
    const config = { targets: [{ virtual_key: 'echo' }], observability: { exporters } };
    const host = await startHost(config);
    expect(host.lines.filter(({ msg }) => msg === 'exporter not found, skipping').map(({ level, exporter }) => [level, exporter])).to.deep.equal([['WARN', 'sink']]);
    await host.apply({ ...config, aliases: { a: 'm' } });
    const waiting = (): number => host.lines.filter(({ pending_restart: pending, level }) => pending === true && level === 'WARN').length;
    expect(waiting()).to.equal(0);
    await host.apply({ targets: config.targets });
    expect(waiting()).to.equal(1);
  });

  it('costs no request anything when it does not take them, and the loss is counted', async () => {
    const collector = await httpCollector((response) => { response.writeHead(400).end('nonsense'); });
    const { host } = await traced({ collector });
    for (let at = 0; at < 3; at += 1) expect((await host.post(CHAT, ask())).status).to.equal(200);
    await host.close();
    expect(host.lines.filter(({ msg }) => msg === 'spans could not be exported').map(({ level, spans }) => [level, spans])).to.deep.equal([['ERROR', 6]]);
    expect(host.samples.filter(({ name }) => name === 'gateway_observability_events_dropped_total').map(({ labels, value }) => [labels['subject'], value])).to.deep.equal([['spans', 6]]);
  });
});
