import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import type { KeyStore } from '../../host/stores/keys/key-store.ts';
import { atEnd } from '../kit/cleanup.ts';
import {
  eventually,
  fakeClock,
  MASTER_KEY,
  rawClient,
  type RawClient,
  startHost,
  stubUpstream,
  temporaryFolder,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';
import { stubProvider } from '../kit/upstream.ts';

const ABLE = { passthrough: true, responses: true };
const PATH = '/v1/realtime?model=m';
const KEY = `Authorization: Bearer ${MASTER_KEY}\r\n`;
const asking = (path = PATH, headers = KEY): string =>
  `GET ${path} HTTP/1.1\r\nHost: h\r\n${headers}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: realtime, openai-insecure-api-key.secret\r\n\r\n`;

/** An upstream that takes WebSocket up, and hands its connections to the test. */
async function speaking(
  target: object = {},
  config: object = {},
  options: TestHostOptions = {},
): Promise<{ t: TestHost; taken: { socket: Socket; headers: Record<string, unknown>; url: string }[] }> {
  const taken: { socket: Socket; headers: Record<string, unknown>; url: string }[] = [];
  const server = createServer();
  server.on('upgrade', (request, stream) => {
    const socket = stream as Socket;
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: realtime\r\nX-Echo: Bearer stub-key-0123456789\r\n\r\n`,
    );
    taken.push({ socket, headers: request.headers, url: request.url ?? '' });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(
    () =>
      new Promise<void>((resolve) => {
        for (const { socket } of taken) socket.destroy();
        server.close(() => resolve());
      }),
  );
  const provider = defineProvider({
    name: 'a',
    wire: 'common',
    params: {},
    translators: commonTranslators(['chat'], {}),
    ...ABLE,
    connection: {
      env: ['STUB_API_KEY'],
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      authorize: bearer('STUB_API_KEY'),
    },
  });
  const t = await startHost(
    { targets: [{ virtual_key: 'a', models: ['m'], ...target, [stubProvider]: provider }], ...config },
    { variables: { STUB_API_KEY: 'stub-key-0123456789' }, ...options },
  );
  return { t, taken };
}

async function opened(t: TestHost, path?: string): Promise<RawClient> {
  const client = await rawClient(t.url);
  client.send(asking(path));
  await client.until(/\r\n\r\n/);
  return client;
}

describe('a connection that asks for WebSocket', () => {
  it('goes to a route of the group that the model of its query names, where that calls it so too', async () => {
    const models = [
      { name: 'live', routes: [{ target: 'a', model: 'live' }] },
      { name: 'other', routes: [{ target: 'a', model: 'm' }] },
    ];
    const { t, taken } = await speaking({}, { models });
    for (const path of ['/v1/realtime?model=live', '/v1/responses?model=live']) {
      const client = await opened(t, path);
      expect(client.received(), path).to.match(/^HTTP\/1\.1 101 /);
      client.socket.destroy();
    }
    expect(taken.map(({ url }) => url)).to.deep.equal(['/realtime?model=live', '/responses?model=live']);
    for (const path of ['/v1/realtime?model=other', '/v1/responses?model=other']) {
      const client = await opened(t, path);
      expect(client.received(), path).to.match(/^HTTP\/1\.1 501 /);
    }
    expect(taken).to.have.length(2);
  });

  it('has its bytes in its row of the request log', async () => {
    const plugins = [{ name: 'request-logger', stage: 'after_request', enabled: true, config: { persist: true } }];
    const { t, taken } = await speaking(
      {},
      { plugins },
      {
        variables: {
          STUB_API_KEY: 'stub-key-0123456789',
          REQUEST_LOG_STORE_BACKEND: 'sqlite',
          REQUEST_LOG_STORE_DSN: join(await temporaryFolder(), 'rows.db'),
        },
      },
    );
    const client = await opened(t);
    client.socket.write('12345');
    await eventually(() => taken[0]!.socket.bytesRead > 0);
    taken[0]!.socket.end('bye');
    await client.closed();
    const rows = async (): Promise<readonly object[]> =>
      ((await t.get('/admin/logs')).json() as { data: object[] }).data;
    while ((await rows()).length === 0) await sleep(20); // they are written behind
    expect((await rows())[0]).to.include({ stage: 'after_request', target: 'a', bytes_up: 5, bytes_down: 3 });
  });

  it("becomes a tunnel, in both directions and with the gateway's credential", async () => {
    const { t, taken } = await speaking();
    const client = await opened(t);
    const head = client.received();
    expect(head).to.match(/^HTTP\/1\.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n/);
    expect(head)
      .to.contain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
      .and.to.contain('X-Gateway-Provider: a')
      .and.to.contain('[REDACTED:GATEWAY_CREDENTIAL]')
      .and.not.to.contain('stub-key');
    const [{ socket, headers, url }] = taken as [(typeof taken)[0]];
    expect(url).to.equal('/realtime?model=m');
    expect(headers).to.include({
      authorization: 'Bearer stub-key-0123456789',
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'realtime',
    });
    const bytes = Buffer.alloc(1024 * 1024, 'abcdefghij');
    let up = 0;
    socket.on('data', (piece: Buffer) => {
      up += piece.length;
      if (up === bytes.length) socket.write(bytes);
    });
    client.socket.write(bytes);
    await eventually(() => client.received().length === head.length + bytes.length);
    expect(client.received().slice(head.length) === bytes.toString('latin1')).to.equal(true);
    expect([t.host.slot.leases, t.host.activity.count]).to.deep.equal([1, 1]);
    socket.end('bye');
    expect(await client.closed()).to.match(/bye$/);
    await eventually(() => t.host.slot.leases === 0 && t.host.activity.count === 0);
    expect(t.lines.find(({ msg }) => msg === 'pass-through request completed')).to.include({
      bytes_up: bytes.length,
      bytes_down: bytes.length + 3,
      target: 'a',
    });
    expect(t.lines.filter(({ msg }) => msg === 'http request')).to.deep.equal([]);
  });

  const guards: readonly (readonly [name: string, config?: object])[] = [
    ['word-filter', { blocked_words: ['bomb'] }],
    ['regex-guard', { patterns: ['bomb'] }],
    ['pii-redact'],
    ['secret-scan'],
    ['prompt-shield'],
    ['webhook', { url: 'http://127.0.0.1:9/', fail: 'open' }],
    ['max-token', { max_tokens: 9, max_input_length: 9 }],
  ];
  for (const [name, config = {}] of guards) {
    it(`is refused while ${name} would have to read what it carries, and is taken where that only observes`, async () => {
      const guarded = async (more: object): ReturnType<typeof speaking> =>
        speaking({}, { plugins: [{ name, stage: 'before_request', enabled: true, config: { ...config, ...more } }] });
      const { t, taken } = await guarded({});
      const refused = await (await opened(t)).closed();
      expect(refused)
        .to.match(/^HTTP\/1\.1 400 /)
        .and.to.contain('"code":"request_rejected"')
        .and.to.contain('cannot be inspected by the configured content guardrail');
      expect(taken).to.have.length(0);
      expect((await opened((await guarded({ observe: true })).t)).received()).to.match(/^HTTP\/1\.1 101 /);
    });
  }

  it('is taken while guardrails read no content, or answers alone', async () => {
    const plugins = [
      { name: 'max-token', stage: 'before_request', enabled: true, config: { max_tokens: 9 } },
      { name: 'schema-guard', stage: 'after_request', enabled: true, config: { schema: { type: 'object' } } },
    ];
    expect((await opened((await speaking({}, { plugins })).t)).received()).to.match(/^HTTP\/1\.1 101 /);
  });

  it('passes what stands behind the request, and the end of the client', async () => {
    const { t, taken } = await speaking();
    const client = await rawClient(t.url);
    client.send(`${asking()}early bytes`);
    await client.until(/\r\n\r\n/);
    let text = '';
    taken[0]!.socket.on('data', (piece: Buffer) => {
      text += piece.toString();
    });
    await eventually(() => text === 'early bytes');
    client.socket.end();
    await once(taken[0]!.socket, 'end');
    await client.closed();
    await eventually(() => t.host.slot.leases === 0);
  });

  for (const side of ['client', 'upstream'] as const) {
    it(`ends when the ${side} resets it, and holds nothing then`, async () => {
      const { t, taken } = await speaking({ concurrency: { max_concurrency: 1, queue_size: 1 } });
      const client = await opened(t);
      if (side === 'client') {
        taken[0]!.socket.resume();
        client.socket.resetAndDestroy();
        await once(taken[0]!.socket, 'close');
      } else {
        taken[0]!.socket.resetAndDestroy();
        await client.closed().catch(() => {});
      }
      await eventually(() => t.host.slot.leases === 0 && t.host.activity.count === 0);
      const next = await opened(t);
      taken[1]!.socket.resume();
      next.socket.destroy();
      await eventually(() => t.host.slot.leases === 0);
    });
  }

  const refusals: readonly (readonly [what: string, bytes: string, status: number, code: string])[] = [
    ['without a credential', asking(PATH, ''), 401, 'missing_api_key'],
    ['for a model without an owner', asking('/v1/realtime?model=x'), 404, 'model_not_found'],
    ['for nothing', asking('/v1/realtime'), 400, 'provider_not_resolved'],
    ['for two models', asking('/v1/realtime?model=m&model=x'), 400, 'invalid_request'],
    [
      'for two models, one of them encoded, of a provider that it names',
      asking('/v1/realtime?model=m&%6dodel=x', `${KEY}X-Provider: a\r\n`),
      400,
      'invalid_request',
    ],
    ['for an unknown provider', asking(PATH, `${KEY}X-Provider: unheard-of\r\n`), 404, 'provider_not_found'],
    ['on a path that leads elsewhere', asking('/v1/%2e%2e/x?model=m'), 400, 'invalid_proxy_path'],
  ];
  for (const [what, bytes, status, code] of refusals) {
    it(`is answered as plain HTTP ${what}`, async () => {
      const { t, taken } = await speaking();
      const client = await rawClient(t.url);
      client.send(bytes);
      const text = await client.closed();
      expect(text)
        .to.match(new RegExp(`^HTTP/1\\.1 ${status} [^]*${code}"\\}\\}$`))
        .and.to.match(/\r\nConnection: close\r\n/);
      expect(taken).to.have.length(0);
      await eventually(() => t.host.activity.count === 0);
      expect(t.lines.filter(({ msg }) => msg === 'http request').map((line) => line['status'])).to.deep.equal([status]);
    });
  }

  it('is relayed and cleaned where the upstream refuses it', async () => {
    const upstream = await stubUpstream((_request, response) => {
      response.writeHead(403, { 'content-type': 'text/plain' }).end('no: stub-key-0123456789');
    });
    const t = await startHost(
      { targets: [upstream.target('a', {}, ABLE)] },
      { variables: { STUB_API_KEY: 'stub-key-0123456789' } },
    );
    const client = await rawClient(t.url);
    client.send(asking());
    expect(await client.closed()).to.match(/^HTTP\/1\.1 403 [^]*no: \[REDACTED:GATEWAY_CREDENTIAL\]$/);
  });

  it('keeps its slot for its life, and is refused where none is free', async () => {
    const { t, taken } = await speaking({ concurrency: { max_concurrency: 1, queue_size: 1 }, circuit_breaker: {} });
    await opened(t);
    const waiting = await rawClient(t.url);
    waiting.send(asking());
    await eventually(() => t.host.slot.leases === 2);
    const third = await rawClient(t.url);
    third.send(asking());
    expect(await third.closed()).to.match(/^HTTP\/1\.1 429 [^]*provider_saturated/);
    taken[0]!.socket.destroy();
    await waiting.until(/101 Switching/);
    taken[1]!.socket.resume();
    waiting.socket.destroy();
    await eventually(() => t.host.slot.leases === 0);
  });

  it('ends after 15 minutes of silence, not before', async () => {
    const clock = fakeClock();
    const { t, taken } = await speaking({}, { request_timeout: '2s' }, { clock });
    const client = await opened(t);
    clock.advance(14 * 60_000);
    taken[0]!.socket.write('here');
    await client.until(/here$/);
    clock.advance(14 * 60_000);
    expect(client.socket.readableEnded).to.equal(false);
    clock.advance(60_000);
    await client.closed().catch(() => {});
    await eventually(() => t.host.slot.leases === 0);
    await eventually(() => clock.waiting === 0);
  });

  for (const [what, change, reason] of [
    ['is revoked', (keys, id) => keys.revoke(id, 'other'), 'revoked'],
    ['is rotated', (keys, id) => keys.rotate(id), 'replaced'],
    ['has expired', (keys, id) => keys.update(id, { expiresAt: 1 }, 'other'), 'expired'],
  ] as const satisfies readonly (readonly [string, (keys: KeyStore, id: string) => Promise<unknown>, string])[]) {
    it(`ends on both sides when its key ${what}`, async () => {
      const { t, taken } = await speaking({ circuit_breaker: { failure_threshold: 1 } });
      const { keys } = t.host.stores;
      const { key, record } = await keys.create({ name: 'ends', scopes: ['read_only'] });
      const client = await rawClient(t.url);
      client.send(asking(PATH, `Authorization: Bearer ${key}\r\n`));
      await client.until(/101 Switching/);
      taken[0]!.socket.resume();
      await change(keys, record.id);
      await client.closed().catch(() => {});
      await eventually(() => taken[0]!.socket.closed && t.host.slot.leases === 0 && t.host.activity.count === 0);
      expect([taken[0]!.socket.closed, t.host.running.size]).to.deep.equal([true, 0]);
      expect(t.host.current?.hooks.circuit.call('a')).to.equal('closed');
      expect(t.lines.find(({ msg }) => msg === 'a request was ended with its credential')).to.include({ reason });
      expect(
        t.samples.filter(({ name }) => name === 'gateway_credentials_ended_total').map(({ labels }) => labels),
      ).to.deep.equal([{ kind: 'tunnel' }]);
    });
  }

  it('ends when the time of its key or session is over, at the next look', async () => {
    for (const isSession of [false, true]) {
      const clock = fakeClock();
      const { t, taken } = await speaking({}, {}, { clock });
      const { keys, sessions } = t.host.stores;
      const { key, record } = await keys.create({
        name: 'ends',
        scopes: ['read_only'],
        ...(!isSession && { expiresAt: clock.now() + 600_000 }),
      });
      const { token } = await sessions.create({ credentialId: record.id, subject: 'x', scopes: [] });
      const client = await rawClient(t.url);
      client.send(asking(PATH, `Authorization: Bearer ${isSession ? token : key}\r\n`));
      await client.until(/101 Switching/);
      taken[0]!.socket.resume();
      for (let minute = 0; minute < (isSession ? 60 : 10); minute += 1) {
        clock.advance(60_000);
        taken[0]!.socket.write('.');
        await client.until(new RegExp(`\\.{${minute + 1}}$`));
      }
      expect([isSession, taken[0]!.socket.closed]).to.deep.equal([isSession, false]);
      clock.advance(6000);
      await eventually(() => taken[0]!.socket.closed);
      expect([isSession, taken[0]!.socket.closed]).to.deep.equal([isSession, true]);
    }
  });

  it('ends with the last leases at the end of a drain', async () => {
    const { GatewayError } = await import('gw/contract');
    const { t } = await speaking();
    const client = await opened(t);
    t.host.slot.endAll(new GatewayError('upstream_unavailable', 'the gateway is shutting down'));
    await client.closed().catch(() => {});
    await eventually(() => t.host.slot.leases === 0 && t.host.activity.count === 0);
  });

  it('is served as any other request on a path that has a route', async () => {
    const { t } = await speaking();
    const client = await rawClient(t.url);
    client.send(asking('/v1/chat/completions'));
    await client.until(/ 405 [^]*"\}\}$/);
  });
});
