import { expect } from 'chai';
import type { RequestLogRow } from 'gw/contract';
import { OPERATIONS } from '../../../builtins/openapi/operations.ts';
import { surfaceOfPath } from '../../../builtins/telemetry/door/surface-of-path.ts';
import { defineBuiltin } from '../../../host/builtin.ts';
import { GatewayError } from '../../../host/contract/index.ts';
import { type AdminHost, as, NOBODY, startAdmin } from '../../admin/kit.ts';
import { logger } from '../../admin/logs-kit.ts';
import {
  eventually,
  fakeClock,
  forSuite,
  MASTER_ID,
  minimal,
  rawClient,
  ROUTES,
  type TestHostOptions,
} from '../../kit/index.ts';

const CHAT = '/v1/chat/completions';
const HELLO = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
const NOON = Date.parse('2026-11-22T12:00:00.000Z');
const MOST_BYTES = 4096;

interface Scene {
  readonly t: AdminHost;
  /** What was written since it was last asked for. */
  readonly rows: RequestLogRow[];
  readonly clock: ReturnType<typeof fakeClock>;
}

async function scene(config: object = {}, options: TestHostOptions = {}, keeps = true): Promise<Scene> {
  const rows: RequestLogRow[] = [];
  const clock = fakeClock(NOON);
  const kept = defineBuiltin({
    name: 'kept rows',
    apply: ({ hooks }) =>
      hooks.open.tapPromise('kept rows', async ({ stores }) => {
        if (keeps)
          stores.requestLog.supply('test', {
            append: (row) => void rows.push(row),
            annotate: (_stage, row) => void rows.push(row),
          });
      }),
  });
  const t = await startAdmin(
    { clock, builtins: [kept], ...options },
    {
      targets: [{ virtual_key: 'echo', models: ['m'] }],
      max_request_bytes: MOST_BYTES,
      plugins: logger(['after_request', 'on_error']),
      ...config,
    },
  );
  return { t, rows, clock };
}

/** The rows of one request, once it is over. */
async function rowsOf({ t, rows }: Scene, ask: () => Promise<unknown>): Promise<RequestLogRow[]> {
  rows.length = 0;
  await ask();
  await eventually(() => t.host.activity.count === 0);
  return [...rows];
}

/** Paths that take requests of models, as the document of the API lists them. */
const PATHS = [
  ...new Set([
    ...OPERATIONS.filter(({ method, path }) => method === 'post' && /^\/(?:v1|v1beta|mcp)(?:\/|$)/.test(path)).map(
      ({ path }) => path.replaceAll(/\{\w+\}/g, 'm'),
    ),
    '/v1/realtime/client_secrets',
    '/v1/unheard-of',
  ]),
];
const READ_PATHS = ['/v1/models', '/v1/models/nowhere', '/v1/capabilities', '/v1/key', '/v1beta/models'];

describe('a request that is refused at the door', function refusals() {
  const begun = forSuite(() => scene());
  let s: Scene;
  const keys = { limited: '', revoked: '', expired: '' };
  const ids = { limited: '', revoked: '', expired: '' };

  before(async () => {
    s = begun();
    const { t, clock } = s;
    const limited = await t.makeKey({ rpm: 1 });
    const revoked = await t.makeKey();
    const expired = await t.makeKey({ expires_at: new Date(NOON + 1000).toISOString() });
    await t.get('/v1/models', as(limited.key));
    await t.post(`/admin/keys/${revoked.id}/revoke`, undefined);
    clock.advance(2000);
    Object.assign(keys, { limited: limited.key, revoked: revoked.key, expired: expired.key });
    Object.assign(ids, { limited: limited.id, revoked: revoked.id, expired: expired.id });
  });

  const WHY = {
    limited: { status: 429, code: 'rate_limit_exceeded', reason: 'key_rpm', outcome: 'rate' },
    revoked: { status: 401, code: 'invalid_api_key', reason: 'key_revoked', outcome: 'policy' },
    expired: { status: 401, code: 'invalid_api_key', reason: 'key_expired', outcome: 'policy' },
  } as const;

  for (const [name, why] of Object.entries(WHY) as [keyof typeof WHY, object][])
    it(`by a key that is ${name} has one row on every path, reads as well`, async () => {
      for (const path of [...PATHS, ...READ_PATHS]) {
        const method = READ_PATHS.includes(path) ? 'GET' : 'POST';
        let id: string | null = '';
        const found = await rowsOf(s, async () => {
          const answer = await s.t.request(method, path, method === 'GET' ? undefined : HELLO, {
            ...as(keys[name]),
            'x-session-id': 's-1',
            'user-agent': 'probe/1',
            'x-gateway-metadata': '{"team":"search"}',
          });
          id = answer.headers.get('x-request-id');
        });
        expect(found, path).to.have.lengthOf(1);
        expect(found[0], path).to.include({
          ...why,
          trace_id: id,
          stage: 'on_error',
          api_key_id: ids[name],
          method,
          path,
          surface: surfaceOfPath(path),
          address: '127.0.0.1',
          user_agent: 'probe/1',
          session_id: 's-1',
          model: '',
        });
        expect(found[0]?.metadata, path).to.deep.equal({ team: 'search' });
      }
    });

  it('has one row of what its client got, whatever is wrong with it, and none without an error', async () => {
    const bodies: readonly unknown[] = [
      '',
      '{',
      '[]',
      '{"model":"m"}',
      JSON.stringify(HELLO),
      'x'.repeat(MOST_BYTES + 1),
    ];
    const kinds = new Set<string>();
    for (const path of PATHS)
      for (const [method, body] of [
        ...bodies.map((each) => ['POST', each]),
        ['GET'],
        ['DELETE'],
        ['PUT', '{'],
      ] as const) {
        const what = `${String(method)} ${path} ${String(body).slice(0, 20)}`;
        s.clock.advance(200); // more of a kind would stand together
        let status = 0;
        const found = await rowsOf(s, async () => {
          ({ status } = await s.t.request(String(method), path, body));
        });
        if (status < 400) continue; // an exchange, or a message of the protocol of tools
        expect(
          found.map((row) => [row.stage, row.status, row.api_key_id]),
          what,
        ).to.deep.equal([['on_error', status, MASTER_ID]]);
        const [row] = found;
        if (row?.attempts === undefined) kinds.add(`${row?.code} ${row?.reason} ${row?.outcome}`);
      }
    expect([...kinds].toSorted()).to.include.members([
      'invalid_request malformed client',
      'method_not_supported wrong_method client',
      'provider_not_resolved path client',
      'request_too_large too_large client',
    ]);
  });

  it('is on the surface that its exchange would have been on', async () => {
    await s.t.get('/v1/models', as(keys.limited)); // it had a minute
    for (const [surface, path] of Object.entries(ROUTES)) {
      const body = { ...minimal(surface as keyof typeof ROUTES, 'nowhere') };
      const [inside] = await rowsOf(s, () => s.t.post(path, body));
      const [outside] = await rowsOf(s, () => s.t.post(path, body, as(keys.limited)));
      expect([inside?.code, outside?.code], path).to.deep.equal(['model_not_found', 'rate_limit_exceeded']);
      expect(outside?.surface, path).to.equal(inside?.surface);
    }
  });

  it('says the model that was read', async () => {
    s.clock.advance(1000);
    const [row] = await rowsOf(s, () => s.t.post(CHAT, { model: 'm', messages: 5 }));
    expect(row).to.include({ model: 'm', reason: 'malformed', surface: 'chat' });
  });

  it('has no row where the credential is missing or unknown, and none of a question to the lists', async () => {
    expect(await rowsOf(s, () => s.t.post(CHAT, HELLO, NOBODY))).to.deep.equal([]);
    expect(await rowsOf(s, () => s.t.post(CHAT, HELLO, as('gw_unknown')))).to.deep.equal([]);
    for (const path of ['/v1/models', '/v1/capabilities'])
      expect(await rowsOf(s, () => s.t.request('DELETE', path)), path).to.deep.equal([]);
    expect(await rowsOf(s, () => s.t.get('/v1/models/nowhere'))).to.deep.equal([]);
    expect(await rowsOf(s, () => s.t.get('/admin/keys/nowhere'))).to.deep.equal([]);
  });

  it('reads to a client of an expired or revoked key as to one of an unknown key', async () => {
    const read = async (key: string): Promise<unknown> => {
      const { status, text, headers } = await s.t.post(CHAT, HELLO, as(key));
      const names = [...headers.keys()].filter((name) => !['date', 'x-request-id'].includes(name));
      return [status, text, names];
    };
    const unknown = await read('gw_unknown');
    expect(await read(keys.expired)).to.deep.equal(unknown);
    expect(await read(keys.revoked)).to.deep.equal(unknown);
  });

  it('has a row where it asks for another protocol', async () => {
    const ask = (key: string) => async (): Promise<void> => {
      const client = await rawClient(s.t.url);
      client.send(
        `GET /v1/realtime HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${key}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      );
      await client.closed();
    };
    const [limited] = await rowsOf(s, ask(keys.limited));
    expect(limited).to.include({ status: 429, reason: 'key_rpm', method: 'GET', path: '/v1/realtime' });
    const [expired] = await rowsOf(s, ask(keys.expired));
    expect(expired).to.include({ status: 401, reason: 'key_expired', api_key_id: ids.expired });
  });

  it('is counted by its code, and by why its credential does not count', () => {
    const labels = (figure: string): unknown[] =>
      s.t.samples.filter(({ name }) => name === figure).map((sample) => sample.labels);
    expect(labels('gateway_refused_requests_total')).to.deep.include.members([
      { code: 'rate_limit_exceeded' },
      { code: 'invalid_api_key' },
      { code: 'invalid_request' },
    ]);
    expect(labels('gateway_denied_requests_total')).to.deep.include.members([
      { reason: 'missing' },
      { reason: 'invalid' },
      { reason: 'expired' },
      { reason: 'revoked' },
    ]);
  });
});

describe('refusals at the door', () => {
  it('have no rows where failures are not kept', async () => {
    for (const plugins of [logger(['after_request']), [], [{ ...logger(['on_error'])[0], enabled: false }]]) {
      const s = await scene({ plugins });
      expect(await rowsOf(s, () => s.t.post(CHAT, '{'))).to.deep.equal([]);
    }
  });

  it('of requests without a credential, where none is needed, have rows without a key', async () => {
    const s = await scene({}, { variables: { ALLOW_UNAUTHENTICATED_PROXY: 'true', MASTER_KEY: '' } });
    const [row] = await rowsOf(s, () => s.t.post(CHAT, '{', NOBODY));
    expect(row).to.include({ api_key_id: '', reason: 'malformed' });
  });

  it('of a session have a row while its key is over, and none once it is over itself', async () => {
    const s = await scene();
    const { key, id } = await s.t.makeKey({ scopes: ['read_only'] });
    const { token } = await s.t.signIn(key);
    await s.t.post(`/admin/keys/${id}/revoke`, undefined);
    const [row] = await rowsOf(s, () => s.t.post(CHAT, HELLO, as(token)));
    expect(row).to.include({ api_key_id: id, reason: 'key_revoked' });
    await s.t.host.stores.sessions.deleteAll();
    expect(await rowsOf(s, () => s.t.post(CHAT, HELLO, as(token)))).to.deep.equal([]);
  });

  it('of a deleted key have none', async () => {
    const s = await scene();
    const { key, id } = await s.t.makeKey();
    await s.t.request('DELETE', `/admin/keys/${id}`);
    expect(await rowsOf(s, () => s.t.post(CHAT, HELLO, as(key)))).to.deep.equal([]);
  });

  it('say that the gateway shuts down', async () => {
    const s = await scene();
    await s.t.post(CHAT, '{');
    const closing = s.t.host.slot.close();
    const [row] = await rowsOf(s, () => s.t.post(CHAT, HELLO));
    expect(row).to.include({ status: 503, code: 'upstream_unavailable', reason: 'draining' });
    await closing;
  });

  it('are written before the process ends, folded as they are', async () => {
    const s = await scene();
    const { key } = await s.t.makeKey({ rpm: 1 });
    await s.t.get('/v1/models', as(key));
    s.rows.length = 0;
    for (let count = 0; count < 70; count += 1) await s.t.post(CHAT, HELLO, as(key));
    await s.t.close();
    const stand = s.rows.reduce((sum, { repeats = 0 }) => sum + 1 + repeats, 0);
    expect([stand, s.rows.length]).to.deep.equal([70, 51]);
  });

  it('are nothing of an error inside of an exchange', async () => {
    const s = await scene();
    const found = await rowsOf(s, () => s.t.post(CHAT, { ...HELLO, model: 'nowhere' }));
    expect(found.map(({ code }) => code)).to.deep.equal(['model_not_found']);
    expect(new GatewayError('model_not_found', '').status).to.equal(found[0]?.status);
  });
});
