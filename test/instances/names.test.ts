import { expect } from 'chai';
import {
  chatChunks,
  chatReply,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { chat } from './support.ts';

const INSTANCE = 'team-a';
const KIND = 'openai';

/** Fails for the model `broken`, else answers in the way that is asked for. */
async function start(): Promise<TestHost> {
  const upstream = await stubUpstream((request, response) => {
    const { model, stream } = request.method === 'GET' ? {} : request.json();
    if (model === 'broken') {
      replyJson(response, 500, { error: { message: 'down' } });
      return;
    }
    if (stream !== true) {
      replyJson(response, 200, chatReply('hello'));
      return;
    }
    openSse(response);
    for (const chunk of chatChunks(['hel', 'lo'])) response.write(sseEvent(chunk));
    response.end(sseEvent('[DONE]'));
  });
  return startHost(
    {
      strategy: { mode: 'fallback' },
      providers: { [INSTANCE]: { kind: KIND, base_url: upstream.url, api_key: '${KEY_A}', models: ['m', 'broken'] } },
      targets: [
        { virtual_key: INSTANCE, circuit_breaker: { failure_threshold: 1 }, concurrency: { max_concurrency: 4 } },
      ],
      plugins: [
        { name: 'request-logger', stage: 'after_request', enabled: true },
        { name: 'request-logger', stage: 'on_error', enabled: true },
      ],
    },
    { variables: { KEY_A: 'sk-of-team-a-0123456789' } },
  );
}

/** Everything that says who served, by what says it. */
const SAID: readonly (readonly [what: string, wanted: string, read: (t: TestHost) => Promise<unknown>])[] = [
  [
    'X-Gateway-Target',
    INSTANCE,
    async (t) => (await t.post('/v1/chat/completions', chat('m'))).headers.get('x-gateway-target'),
  ],
  [
    'X-Gateway-Provider',
    KIND,
    async (t) => (await t.post('/v1/chat/completions', chat('m'))).headers.get('x-gateway-provider'),
  ],
  [
    'member provider of a body',
    INSTANCE,
    async (t) => (await t.post('/v1/chat/completions', chat('m'))).json().provider,
  ],
  [
    'X-Gateway-Target of what is forwarded',
    INSTANCE,
    async (t) => (await t.get('/v1/anything', { 'x-provider': INSTANCE })).headers.get('x-gateway-target') ?? INSTANCE,
  ],
  [
    'X-Gateway-Provider of what is forwarded',
    KIND,
    async (t) => (await t.get('/v1/anything', { 'x-provider': INSTANCE })).headers.get('x-gateway-provider'),
  ],
  ['owned_by', INSTANCE, async (t) => (await t.get('/v1/models/m')).json().owned_by],
  ['capabilities', INSTANCE, async (t) => Object.keys((await t.get('/v1/capabilities')).json().providers).join()],
  [
    'GET /health',
    INSTANCE,
    async (t) =>
      (await t.get('/health'))
        .json()
        .providers.map(({ name }: { name: string }) => name)
        .join(),
  ],
  ['targets of /readyz', INSTANCE, async (t) => (await t.get('/readyz')).json().targets[0].name],
  [
    'GET /admin/providers',
    INSTANCE,
    async (t) =>
      (await t.get('/admin/providers'))
        .json()
        .map(({ name }: { name: string }) => name)
        .join(),
  ],
  ['providers of GET /admin/health', INSTANCE, async (t) => (await t.get('/admin/health')).json().providers[0].name],
  [
    'registered kind of the catalog',
    'true',
    async (t) =>
      String(
        (await t.get('/admin/providers/catalog')).json().providers.find(({ id }: { id: string }) => id === KIND)
          .registered,
      ),
  ],
  [
    'explain target',
    INSTANCE,
    async (t) => (await t.post('/admin/explain', { request: chat('m') })).json().order[0].target,
  ],
  [
    'explain provider',
    KIND,
    async (t) => (await t.post('/admin/explain', { request: chat('m') })).json().order[0].provider,
  ],
  ['the line that is a row', INSTANCE, async (t) => lineOf(t, 'm', 'gateway response')],
  ['the line of a failure that is a row', INSTANCE, async (t) => lineOf(t, 'broken', 'gateway error')],
  ['label of gateway_requests_total', INSTANCE, async (t) => labelOf(t, 'm', 'gateway_requests_total')],
  [
    'label of gateway_provider_errors_total',
    INSTANCE,
    async (t) => labelOf(t, 'broken', 'gateway_provider_errors_total'),
  ],
  ['line of a completed request', INSTANCE, async (t) => lineOf(t, 'm', 'request completed')],
  ['line of a breaker', INSTANCE, async (t) => lineOf(t, 'broken', 'circuit breaker moved', 'target')],
  [
    'key of a breaker',
    'open',
    async (t) => (await t.post('/v1/chat/completions', chat('broken')), t.host.current?.hooks.circuit.call(INSTANCE)),
  ],
  ['key of a limiter', 'true', async (t) => String(t.host.current?.hooks.load.call(INSTANCE) !== undefined)],
  [
    'key of a median',
    'number',
    async (t) => (await t.post('/v1/chat/completions', chat('m')), typeof t.host.current?.hooks.median.call(INSTANCE)),
  ],
];

async function labelOf(t: TestHost, model: string, figure: string): Promise<unknown> {
  await t.post('/v1/chat/completions', chat(model));
  return t.samples.find(({ name }) => name === figure)?.labels['provider'];
}

async function lineOf(t: TestHost, model: string, message: string, member = 'provider'): Promise<unknown> {
  await t.post('/v1/chat/completions', chat(model));
  return t.lines.find(({ msg }) => msg === message)?.[member];
}

describe('a declared instance is called', () => {
  for (const [what, wanted, read] of SAID)
    it(`${wanted} by ${what}`, async () => {
      expect(await read(await start())).to.equal(wanted);
    });
});
