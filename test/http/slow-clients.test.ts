import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import Joi from 'joi';
import { answer, definePlugin } from 'gw/contract';
import {
  ask,
  chatReply,
  fakeClock,
  type FakeClock,
  MASTER_KEY,
  rawClient,
  type RawClient,
  replyJson,
  startHost,
  type StubHandler,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { everySurface } from '../surfaces/kit.ts';

const LARGE = 12 * 1024 * 1024;
/** Longest time a client may take nothing. */
const LIMIT_MS = 15_000;

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
const post = (path: string, body: object, rest = ''): string => {
  const text = JSON.stringify(body);
  return `POST ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nContent-Length: ${text.length}\r\n${rest}\r\n${text}`;
};

/** Answers of the gateway that are larger than all buffers on their way. */
const answers: Readonly<Record<string, string>> = {
  'a whole answer': post('/v1/chat/completions', ask()),
  'a whole answer that is replayed as a stream': post(
    '/v1/chat/completions',
    ask('hi', { model: 'replayed', stream: true }),
  ),
  'bytes that are relayed': post('/v1/audio/speech', { model: 'm', input: 'hi', voice: 'alloy' }),
};

const LARGE_REPLY = chatReply('x'.repeat(LARGE));

const sayAll: StubHandler = (request, response) => {
  if (request.url.includes('speech')) response.end(Buffer.alloc(LARGE, 'x'));
  else replyJson(response, 200, LARGE_REPLY);
};

/** More than a connection buffers by itself. */
const SECOND = chatReply('x'.repeat(300_000)) as never;

/** Answers the model `replayed` itself. */
const replay = definePlugin({
  name: 'replay',
  type: 'transform',
  summary: 'Answers by itself',
  stages: ['before_request'],
  settings: Joi.object({}),
  create: () => ({
    before_request: ({ request }) =>
      request.model === 'replayed'
        ? answer(JSON.stringify(request).includes('second') ? SECOND : (LARGE_REPLY as never))
        : undefined,
  }),
});

interface Slow {
  readonly t: TestHost;
  readonly clock: FakeClock;
  readonly client: RawClient;
  /** The gateway's end of the client's connection. */
  readonly server: Socket;
  readonly responses: ServerResponse[];
}

/** A client that has not asked yet, under a clock that stands still. */
async function slowClient(handler: StubHandler = sayAll): Promise<Slow> {
  const clock = fakeClock();
  const stub = await stubUpstream(handler);
  const plugins = [{ name: 'replay', stage: 'before_request', enabled: true }];
  const t = await startHost(
    { strategy: { mode: 'single' }, targets: [stub.target('a', { models: ['m', 'replayed'] }, everySurface)], plugins },
    { clock, modules: [replay] },
  );
  const connected = Promise.withResolvers<Socket>();
  const responses: ServerResponse[] = [];
  t.server.once('connection', connected.resolve);
  t.server.on('request', (_request, response) => {
    responses.push(response);
  });
  const client = await rawClient(t.url);
  return { t, clock, client, server: await connected.promise, responses };
}

/** Waits until the gateway has nothing to do but to wait for the client. */
async function stalled({ server, clock }: Slow): Promise<void> {
  while (server.writableLength === 0 || clock.waiting === 0) await turn();
  for (let sent = -1; sent !== server.bytesWritten;) {
    sent = server.bytesWritten;
    for (let turns = 0; turns < 20; turns += 1) await turn();
  }
}

describe('a client that takes nothing of', () => {
  for (const [what, request] of Object.entries(answers)) {
    it(`${what} is cut off after ${LIMIT_MS} ms, and holds nothing any more`, async () => {
      const slow = await slowClient();
      const { t, clock, client } = slow;
      client.socket.pause();
      client.send(request);
      await stalled(slow);
      clock.advance(LIMIT_MS - 1);
      await turn();
      expect([t.host.activity.count, slow.server.destroyed]).to.deep.equal([1, false]);
      clock.advance(1);
      while (t.host.activity.count > 0 || t.host.slot.leases > 0) await turn();
      expect([slow.server.destroyed, slow.server.writableLength]).to.deep.equal([true, 0]);
      expect(
        t.lines.some(({ msg }) => msg === 'http request'),
        'an answer that did not arrive does not count as a request served',
      ).to.equal(false);
    });
  }
});

describe('a client that takes a little now and then of', () => {
  for (const [what, request] of Object.entries(answers)) {
    it(`${what} gets all of it`, async function slowly() {
      this.timeout(60_000);
      const slow = await slowClient();
      const { t, clock, client, server, responses } = slow;
      let received = 0;
      client.socket
        .removeAllListeners('data')
        .on('data', (piece: Buffer) => {
          received += piece.length;
        })
        .pause();
      client.send(request);
      await stalled(slow);
      for (let round = 0; server.writableLength > 0; round += 1) {
        clock.advance(LIMIT_MS - 1);
        const before = server.bytesWritten;
        client.socket.resume();
        while (server.bytesWritten === before && server.writableLength > 0) await turn();
        client.socket.pause();
        for (let turns = 0; turns < 20; turns += 1) await turn();
        expect(server.destroyed, `round ${round}`).to.equal(false);
        for (const event of ['drain', 'close'])
          expect(responses[0]?.listenerCount(event), `${event} in round ${round}`).to.be.below(6);
      }
      client.socket.resume();
      const isWhole = (): boolean => t.host.activity.count === 0 && received > LARGE;
      while (!isWhole()) await turn();
      expect(t.lines.filter(({ msg }) => msg === 'http request')).to.have.length(1);
    });
  }
});

describe('an answer that stands behind another one of its connection', () => {
  for (const stream of [false, true]) {
    it(`is not blamed for the wait when it is ${stream ? 'a stream' : 'whole'}`, async () => {
      const held = Promise.withResolvers<ServerResponse>();
      const slow = await slowClient((request, response) => {
        if (request.text.includes('first')) held.resolve(response);
        else replyJson(response, 200, SECOND);
      });
      const { clock, client } = slow;
      client.send(
        post('/v1/chat/completions', ask('first')) +
          post('/v1/chat/completions', ask('second', { model: 'replayed', stream })),
      );
      const first = await held.promise;
      while (slow.responses.length < 2 || !slow.responses[1]!.headersSent) await turn();
      await turn();
      for (let at = 0; at < 4; at += 1) clock.advance(LIMIT_MS - 1);
      replyJson(first, 200, chatReply('the first'));
      while (
        !/(?:\[DONE\]\n\n\r\n0\r\n\r\n|\})$/.test(client.received().slice(-40)) ||
        client.received().split('HTTP/1.1 200 OK').length < 3
      )
        await turn();
      expect(client.received().indexOf('the first')).to.be.below(client.received().indexOf('xxx'));
    });
  }
});

describe('HEAD of an answer that leaves in pieces', () => {
  it('tells its length, and keeps its body', async () => {
    const stub = await stubUpstream(() => {});
    const t = await startHost({ targets: [stub.target('a')] });
    const client = await rawClient(t.url);
    const request = (method: string): string => `${method} /openapi.json HTTP/1.1\r\nHost: h\r\n\r\n`;
    client.send(request('HEAD') + request('GET'));
    await client.until(/HTTP\/1\.1 200 OK[^]*HTTP\/1\.1 200 OK/);
    const [head, ...rest] = client.received().split('\r\n\r\n');
    const length = Number(/^Content-Length: (\d+)$/m.exec(head ?? '')?.[1]);
    expect(length).to.be.above(100_000);
    expect(rest[0]).to.match(/^HTTP\/1\.1 200 OK/);
    while ((client.received().split('\r\n\r\n')[2] ?? '').length < length) await turn();
  });
});
