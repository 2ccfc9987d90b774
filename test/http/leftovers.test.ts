import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import {
  ask,
  chatReply,
  fakeClock,
  type FakeClock,
  MASTER_KEY,
  rawClient,
  replyJson,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';
const KEY = `Authorization: Bearer ${MASTER_KEY}\r\n`;
const MIB = 1024 * 1024;
const SILENCE_MS = 5000;
const LONGEST_MS = 30_000;
const MOST_BYTES = 64 * MIB;

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
const body = JSON.stringify(ask());
const chat = (headers = KEY): string =>
  `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;

interface Setup {
  readonly t: TestHost;
  readonly stub: StubUpstream;
  readonly clock: FakeClock;
  /** The gateway's ends of all connections so far. */
  readonly sockets: readonly Socket[];
}

/** A gateway under a clock that stands still. */
async function setUp(
  handler: StubHandler = (_request, response) => replyJson(response, 200, chatReply('hello')),
): Promise<Setup> {
  const clock = fakeClock();
  const stub = await stubUpstream(handler);
  const t = await startHost(
    { strategy: { mode: 'fallback' }, targets: [stub.target('a')], max_request_bytes: 1000 },
    { clock },
  );
  const sockets: Socket[] = [];
  t.server.on('connection', (socket: Socket) => {
    sockets.push(socket);
  });
  return { t, stub, clock, sockets };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turn();
}

/** What is answered at once, and leaves the client in the middle of sending something. */
const ENDINGS: readonly [what: string, request: string, status: RegExp][] = [
  [
    'a body too large for the gateway',
    `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}Connection: close\r\nContent-Length: 99999999\r\n\r\nx`,
    /^HTTP\/1\.1 413 /,
  ],
  [
    'a body that became too large',
    `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n${'x'.repeat(4095)}\r\nff\r\n`,
    /^HTTP\/1\.1 413 /,
  ],
  ['a body for an unknown path', 'POST /nowhere HTTP/1.0\r\nContent-Length: 99999999\r\n\r\nx', /^HTTP\/1\.1 404 /],
  [
    'a preflight with a body',
    'OPTIONS /nowhere HTTP/1.1\r\nHost: h\r\nOrigin: a\r\nConnection: close\r\nContent-Length: 99999999\r\n\r\nx',
    /^HTTP\/1\.1 204 /,
  ],
  [
    'a body that waits to be invited',
    `POST ${CHAT} HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n`,
    /^HTTP\/1\.1 401 /,
  ],
  ['two hosts', 'GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n', /^HTTP\/1\.1 400 /],
  [
    'a transfer coding',
    `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}Transfer-Encoding: gzip, chunked\r\n\r\n`,
    /^HTTP\/1\.1 501 /,
  ],
  ['no HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', /^HTTP\/1\.1 501 /],
  ['no HTTP any more', `${chat()}!\r\n\r\n`, /^HTTP\/1\.1 200 /],
  [
    'a chunk that is none',
    `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    /^HTTP\/1\.1 400 /,
  ],
  ['CONNECT', 'CONNECT api.example:443 HTTP/1.1\r\nHost: h\r\n\r\n', /^HTTP\/1\.1 404 /],
  [
    'CONNECT with a body',
    'CONNECT api.example:443 HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nx',
    /^HTTP\/1\.1 404 /,
  ],
];

describe('a connection that ends with', () => {
  for (const [what, request, status] of ENDINGS) {
    it(`${what} is closed from our side at once, and from both after ${SILENCE_MS} ms of silence`, async () => {
      const { t, clock, sockets } = await setUp();
      const client = await rawClient(t.url);
      client.send(request);
      expect(await client.ended())
        .to.match(status)
        .and.to.match(/^Connection: close\r$/m);
      await until(() => t.host.activity.count > 0);
      clock.advance(SILENCE_MS - 1);
      await turn();
      expect(sockets[0]?.destroyed).to.equal(false);
      expect(t.host.activity.count).to.be.above(0);
      clock.advance(1);
      await until(() => sockets[0]?.destroyed === true && t.host.activity.count === 0);
      expect(clock.waiting).to.equal(0);
    });

    it(`${what} is closed when the client closes it`, async () => {
      const { t, clock, sockets } = await setUp();
      const client = await rawClient(t.url);
      client.send(request);
      await client.ended();
      client.socket.end();
      await until(() => sockets[0]?.destroyed === true && t.host.activity.count === 0 && clock.waiting === 0);
    });

    it(`${what} is cut off when the client sends on and on`, async () => {
      const { t, sockets } = await setUp();
      const client = await rawClient(t.url);
      client.send(request);
      await until(() => sockets.length > 0);
      const [server] = sockets;
      client.socket.on('error', () => {});
      const piece = Buffer.alloc(MIB, 'x');
      while (!server!.destroyed) {
        if (!client.socket.write(piece))
          await Promise.race(['drain', 'close'].map((event) => once(client.socket, event).catch(() => {})));
        await turn();
      }
      expect(server!.bytesRead).to.be.within(MOST_BYTES, MOST_BYTES + MIB);
      await until(() => t.host.activity.count === 0);
    });

    it(`${what} is cut off after ${LONGEST_MS} ms, however steadily the client sends`, async () => {
      const { t, clock, sockets } = await setUp();
      const client = await rawClient(t.url);
      client.socket.on('error', () => {});
      client.send(request);
      await client.ended();
      await until(() => t.host.activity.count > 0);
      const [server] = sockets;
      for (let at = 0; at < LONGEST_MS; at += 3000) {
        expect(server!.destroyed, `${at} ms`).to.equal(false);
        const before = server!.bytesRead;
        client.send('x');
        await until(() => server!.bytesRead > before || server!.destroyed);
        await turn();
        clock.advance(3000);
      }
      await until(() => server!.destroyed && t.host.activity.count === 0);
    });
  }
});

describe('a body whose request is answered', () => {
  it('is read to its end, and the connection serves on', async () => {
    const { t, clock, sockets } = await setUp();
    const client = await rawClient(t.url);
    client.send(`POST ${CHAT} HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n`);
    await client.until(/^HTTP\/1\.1 401 [^]*\}$/);
    for (let at = 0; at < 4; at += 1) {
      clock.advance(SILENCE_MS - 1);
      const before = sockets[0]!.bytesRead;
      client.send('x'.repeat(50_000));
      await until(() => sockets[0]!.bytesRead >= before + 50_000);
      await turn();
    }
    client.send(chat());
    await client.until(/HTTP\/1\.1 401 [^]*HTTP\/1\.1 200 [^]*hello/);
    await until(() => clock.waiting === 0);
  });

  it(`ends the connection after ${SILENCE_MS} ms of silence`, async () => {
    const { t, clock, sockets } = await setUp();
    const client = await rawClient(t.url);
    client.send(`POST ${CHAT} HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n`);
    await client.until(/^HTTP\/1\.1 401 [^]*\}$/);
    clock.advance(SILENCE_MS - 1);
    await turn();
    expect(sockets[0]?.destroyed).to.equal(false);
    clock.advance(1);
    expect(sockets[0]?.destroyed).to.equal(true);
    await until(() => clock.waiting === 0);
  });

  it('ends the connection when it is too large', async () => {
    const { t, sockets } = await setUp();
    const client = await rawClient(t.url);
    client.socket.on('error', () => {});
    client.send(`POST ${CHAT} HTTP/1.1\r\nHost: h\r\nContent-Length: 999999999\r\n\r\n`);
    await client.until(/^HTTP\/1\.1 401 [^]*\}$/);
    const piece = Buffer.alloc(MIB, 'x');
    while (!sockets[0]!.destroyed) {
      if (!client.socket.write(piece))
        await Promise.race(['drain', 'close'].map((event) => once(client.socket, event).catch(() => {})));
      await turn();
    }
    expect(sockets[0]!.bytesRead).to.be.within(MOST_BYTES, MOST_BYTES + MIB);
  });
});

describe('what is requested after the last answer of a connection', () => {
  const refused: Readonly<Record<string, string>> = {
    'two hosts': 'GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n',
    'a transfer coding': `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    'a target that is none': 'GET no/path HTTP/1.1\r\nHost: h\r\n\r\n',
    'a body that was not invited': `POST ${CHAT} HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx`,
  };
  for (const [what, request] of Object.entries(refused)) {
    it(`is not served: ${what}`, async () => {
      const { t, stub } = await setUp();
      const client = await rawClient(t.url);
      client.send(request + chat().repeat(3));
      expect((await client.ended()).match(/HTTP\/1\.1 \d\d\d/g)).to.have.length(1);
      client.send(chat());
      client.socket.end();
      await until(() => t.host.activity.count === 0);
      expect(stub.seen).to.have.length(0);
    });
  }

  it('is not served while the process drains', async () => {
    const { t, stub } = await setUp();
    t.host.isDraining = true;
    const client = await rawClient(t.url);
    client.send(chat());
    expect(await client.ended()).to.match(/^HTTP\/1\.1 200 /);
    client.send(chat());
    client.socket.end();
    await until(() => t.host.activity.count === 0);
    expect(stub.seen).to.have.length(1);
  });
});

describe('a client that closes its side after its request', () => {
  it('has left: the upstream call ends, and nothing is answered', async () => {
    const { t, stub } = await setUp(() => {}); // never answers
    for (const stream of [false, true]) {
      const client = await rawClient(t.url);
      const question = JSON.stringify(ask('hi', { stream }));
      client.send(`POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}Content-Length: ${question.length}\r\n\r\n${question}`);
      await until(() => stub.sockets.size > 0 && t.host.slot.leases > 0);
      client.socket.end();
      expect(await client.ended()).to.equal('');
      await until(() => stub.sockets.size === 0 && t.host.activity.count === 0 && t.host.slot.leases === 0);
    }
    expect(t.lines.filter(({ msg }) => msg === 'request canceled by the client')).to.have.length(2);
  });
});

describe('an invitation to send a body', () => {
  it('goes to a client whose body is wanted, and to no other', async () => {
    const { t } = await setUp();
    const expecting = (path: string, headers: string, length: number): string =>
      `POST ${path} HTTP/1.1\r\nHost: h\r\n${headers}Expect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;
    const wanted: [path: string, headers: string][] = [
      [CHAT, KEY],
      ['/v1/audio/transcriptions', `${KEY}Content-Type: multipart/form-data; boundary=b\r\n`],
    ];
    for (const [path, headers] of wanted) {
      const client = await rawClient(t.url);
      client.send(expecting(path, headers, body.length));
      expect(await client.until(/\r\n\r\n/), path).to.equal('HTTP/1.1 100 Continue\r\n\r\n');
      client.send(body);
      await client.until(/HTTP\/1\.1 (200|400) /);
    }
    const unwanted: [path: string, headers: string, length: number][] = [
      [CHAT, '', 10],
      [CHAT, KEY, 1001],
      ['/nowhere', '', 10],
      ['/v1/audio/transcriptions', KEY, 10],
      ['/livez', '', 10],
    ];
    for (const [path, headers, length] of unwanted) {
      const client = await rawClient(t.url);
      client.send(expecting(path, headers, length));
      expect(await client.ended(), path).to.match(/^HTTP\/1\.1 4\d\d [^]*^Connection: close\r$/m);
    }
  });
});
