import { once } from 'node:events';
import { expect } from 'chai';
import {
  ask,
  chatReply,
  chatChunks,
  MASTER_KEY,
  openSse,
  rawClient,
  replyJson,
  sseEvent,
  startGateway,
  startHost,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';
const KEY = `Authorization: Bearer ${MASTER_KEY}\r\n`;
const body = JSON.stringify(ask());
const streamBody = JSON.stringify(ask('hi', { stream: true }));

async function chatHost(): Promise<TestHost> {
  const stub = await stubUpstream((request, response) => {
    if (request.json()['stream'] !== true) {
      replyJson(response, 200, chatReply('hello'));
      return;
    }
    openSse(response); // and never ends
    for (const chunk of chatChunks(['one']).slice(0, 2)) response.write(sseEvent(chunk));
  });
  return startHost({ strategy: { mode: 'fallback' }, targets: [stub.target('a')] });
}

const post = (path: string, payload = body, more = KEY): string =>
  `POST ${path} HTTP/1.1\r\nHost: h\r\n${more}Content-Length: ${payload.length}\r\n\r\n${payload}`;

/** What a request that Node's parser refuses is answered. */
async function refusalOf(t: TestHost, request: string): Promise<{ status: number; head: string; body: string }> {
  const client = await rawClient(t.url);
  client.send(request);
  const text = await client.closed();
  const [head = '', rest = ''] = text.split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), head, body: rest };
}

function expectEnvelope({ head, body: text }: { head: string; body: string }, code: string): void {
  expect(head).to.match(/^Content-Type: application\/json$/m);
  expect(head).to.match(/^Connection: close$/m);
  expect(JSON.parse(text).error).to.include({ type: 'invalid_request_error', code });
}

function expectSecured(head: string): void {
  expect(head).to.match(/^Content-Security-Policy: default-src 'self';/m);
  expect(head).to.match(/^X-Content-Type-Options: nosniff$/m);
  expect(head).to.match(/^X-Frame-Options: DENY$/m);
  expect(head).to.match(/^Referrer-Policy: strict-origin-when-cross-origin$/m);
  expect(head).to.match(/^Permissions-Policy: camera=/m);
  expect(head).to.match(/^X-Request-ID: [0-9a-f]{32}$/m);
}

describe('what is not HTTP', () => {
  const cases: [what: string, request: string, status: number, code: string][] = [
    ['a method that the parser does not know', 'FOO /livez HTTP/1.1\r\nHost: h\r\n\r\n', 501, 'method_not_supported'],
    [
      'such a method on a native route with a key',
      `FOO ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}\r\n`,
      501,
      'method_not_supported',
    ],
    ['a version that does not exist', 'GET /livez HTTP/9.9\r\nHost: h\r\n\r\n', 400, 'invalid_request'],
    ['a target with a control character', 'GET /li\x01vez HTTP/1.1\r\nHost: h\r\n\r\n', 400, 'invalid_request'],
    ['a header without a colon', 'GET /livez HTTP/1.1\r\nHost: h\r\nNonsense\r\n\r\n', 400, 'invalid_request'],
    ['a header with a NUL', 'GET /livez HTTP/1.1\r\nHost: h\r\nX: a\x00b\r\n\r\n', 400, 'invalid_request'],
    [
      'two different lengths',
      `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`,
      400,
      'invalid_request',
    ],
    [
      'a length and chunks',
      `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      'invalid_request',
    ],
    [
      'a negative length',
      `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}Content-Length: -1\r\n\r\n`,
      400,
      'invalid_request',
    ],
    [
      'a chunk without a size',
      `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
      400,
      'invalid_request',
    ],
    [
      'headers beyond a mebibyte',
      `GET /livez HTTP/1.1\r\nHost: h\r\nX: ${'a'.repeat(1_100_000)}\r\n\r\n`,
      431,
      'invalid_request',
    ],
  ];
  for (const [what, request, status, code] of cases) {
    it(`is answered ${status}, secured and closed: ${what}`, async () => {
      const t = await chatHost();
      const answer = await refusalOf(t, request);
      expect(answer.status).to.equal(status);
      expectEnvelope(answer, code);
      expectSecured(answer.head);
      expect((await t.get('/livez')).status).to.equal(200);
    });
  }

  it('gets 408 when its headers were too slow', async () => {
    const t = await chatHost();
    expect(t.server.headersTimeout).to.equal(10_000);
    t.server.headersTimeout = 100; // what is checked once a second
    const client = await rawClient(t.url);
    client.send('GET /livez HTTP/1.1\r\nHost: h\r\n');
    const text = await client.closed();
    expect(text).to.match(/^HTTP\/1\.1 408 /);
    expectSecured(text);
  });

  it('needs no Host to be answered like everything else', async () => {
    const t = await chatHost();
    const client = await rawClient(t.url);
    client.send(`POST ${CHAT} HTTP/1.1\r\nConnection: close\r\n${KEY}Content-Length: ${body.length}\r\n\r\n${body}`);
    const [head = ''] = (await client.closed()).split('\r\n\r\n');
    expect(head).to.match(/^HTTP\/1\.1 (200|400) /);
    expectSecured(head);
  });

  it('adds nothing to an answer that has begun', async () => {
    const t = await chatHost();
    const client = await rawClient(t.url);
    client.send(post(CHAT, streamBody));
    await client.until(/"content":"one"/);
    client.send('NONSENSE\r\n\r\n');
    const text = await client.closed();
    expect(text.match(/HTTP\/1\.1 \d{3}/g)).to.deep.equal(['HTTP/1.1 200']);
  });
});

describe('CONNECT', () => {
  it('opens no connection to elsewhere', async () => {
    const t = await chatHost();
    for (const target of ['api.example:443', CHAT, '/livez']) {
      const { status, head, body: text } = await refusalOf(t, `CONNECT ${target} HTTP/1.1\r\nHost: h\r\n\r\n`);
      expect(status).to.equal(404);
      expect(text).to.equal('404 page not found');
      expectSecured(head);
    }
  });

  it('does not end the process when its client resets the connection', async () => {
    const gateway = await startGateway();
    for (let round = 0; round < 20; round += 1) {
      const { socket } = await rawClient(gateway.url);
      socket.write(`CONNECT api.example:443 HTTP/1.1\r\nHost: h\r\n\r\n${'x'.repeat(100_000)}`);
      socket.resetAndDestroy();
      await once(socket, 'close');
    }
    expect((await fetch(`${gateway.url}/livez`)).status).to.equal(200);
    expect(gateway.child.exitCode).to.equal(null);
  });
});

describe('connections', () => {
  it('serve one request after another, also when they come at once', async () => {
    const t = await chatHost();
    const client = await rawClient(t.url);
    client.send(post(CHAT) + post('/livez', '') + post(CHAT));
    const text = await client.until(/hello[^]*hello/);
    expect(text.match(/HTTP\/1\.1 \d{3}/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 405', 'HTTP/1.1 200']);
    expect(text).to.match(/^Keep-Alive: timeout=60$/m);
  });

  it('end with their reply when the client asks for that, and with HTTP/1.0', async () => {
    const t = await chatHost();
    for (const request of [
      'GET /livez HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n',
      'GET /livez HTTP/1.0\r\n\r\n',
    ]) {
      const client = await rawClient(t.url);
      client.send(request);
      expect(await client.closed()).to.match(/^HTTP\/1\.1 200 OK[^]*^Connection: close[^]*\{"status":"ok"\}$/m);
    }
  });

  it('stay open with HTTP/1.0 when the client asks for that', async () => {
    const t = await chatHost();
    const client = await rawClient(t.url);
    const request = 'GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n';
    client.send(request);
    await client.until(/\{"status":"ok"\}$/);
    client.send(request);
    expect((await client.until(/("ok"\}[^]*){2}/)).match(/^Connection: keep-alive/gm)).to.have.length(2);
  });

  it('carry a stream to an HTTP/1.0 client without chunks, and end with it', async () => {
    const stub = await stubUpstream((_request, response) => {
      openSse(response);
      response.end([...chatChunks(['one']), '[DONE]'].map(sseEvent).join(''));
    });
    const t = await startHost({ strategy: { mode: 'fallback' }, targets: [stub.target('a')] });
    const client = await rawClient(t.url);
    client.send(post(CHAT, streamBody).replace('HTTP/1.1', 'HTTP/1.0'));
    const text = await client.closed();
    expect(text).not.to.match(/^Transfer-Encoding/im);
    expect(text.endsWith('data: [DONE]\n\n')).to.equal(true);
  });

  it('read a body in chunks of any size', async () => {
    const t = await chatHost();
    const client = await rawClient(t.url);
    client.send(`POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}Transfer-Encoding: chunked\r\n\r\n`);
    for (const character of body) client.send(`1;extension=x\r\n${character}\r\n`);
    client.send('0\r\nTrailer: value\r\n\r\n');
    expect(await client.until(/hello/)).to.match(/^HTTP\/1\.1 200 /);
  });

  it('invite a body that waits for it, and take other expectations as none', async () => {
    const t = await chatHost();
    const client = await rawClient(t.url);
    client.send(
      `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    expect(await client.until(/\r\n\r\n/)).to.equal('HTTP/1.1 100 Continue\r\n\r\n');
    client.send(body);
    await client.until(/HTTP\/1\.1 200 OK[^]*hello/);
    const other = await rawClient(t.url);
    other.send('GET /livez HTTP/1.1\r\nHost: h\r\nExpect: bananas\r\n\r\n');
    expect(await other.until(/"ok"\}$/)).to.match(/^HTTP\/1\.1 200 /);
  });

  it('are not switched to another protocol', async () => {
    const t = await chatHost();
    const client = await rawClient(t.url);
    client.send(
      'GET /livez HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
    expect(await client.until(/"ok"\}$/)).to.match(/^HTTP\/1\.1 200 /);
  });

  it('forget a client that leaves before its answer, and stop what it asked for', async () => {
    const stub = await stubUpstream(() => {}); // never answers
    const t = await startHost({ strategy: { mode: 'fallback' }, targets: [stub.target('a')] });
    const client = await rawClient(t.url);
    client.send(post(CHAT));
    while (stub.seen.length === 0)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    client.socket.resetAndDestroy();
    while (stub.sockets.size > 0 || t.host.activity.count > 0 || t.host.slot.leases > 0)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    expect(t.lines.some(({ msg }) => msg === 'http request')).to.equal(false);
  });
});
