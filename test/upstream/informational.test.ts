import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import {
  type Answer,
  ask,
  atEnd,
  chatChunks,
  chatReply,
  sseEvent,
  startHost,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const REPLY = JSON.stringify(chatReply('hello'));
const EVENTS = [...chatChunks(['one ', 'two']), '[DONE]'].map(sseEvent).join('');
const whole = (type: string, body: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** Informational replies, as they come over the wire; the request asked for none. */
const UNASKED: readonly (readonly [string, string])[] = [
  ['100', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['100 with headers and other words', 'HTTP/1.1 100 Go on\r\nServer: x\r\nContent-Length: 5\r\n\r\n'],
  ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ['103', 'HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n'],
  ['199', 'HTTP/1.1 199 Whatever\r\n\r\n'],
  [
    'all of them, over and over',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n'.repeat(20),
  ],
];

/** Answers every request on its connections with what comes before, and the answer; byte by byte if `bytewise` is set. */
async function rawUpstream(
  before: string,
  bytewise: boolean,
): Promise<{ readonly url: string; readonly connections: () => number }> {
  let connections = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    connections += 1;
    socket.on('error', () => {});
    socket.on('data', (piece) => {
      const text = piece.toString('latin1');
      if (!text.includes('{')) return; // the body comes last
      const answer =
        before +
        (text.includes('"stream":true') ? whole('text/event-stream', EVENTS) : whole('application/json', REPLY));
      void (async () => {
        for (const part of bytewise ? answer.split('') : [answer]) {
          socket.write(part);
          if (bytewise)
            await new Promise((resolve) => {
              setImmediate(resolve);
            });
        }
      })();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(() => {
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections };
}

async function hostBefore(url: string): Promise<TestHost> {
  const stub = await stubUpstream(() => {});
  return startHost({
    strategy: { mode: 'single' },
    targets: [stub.target('a', {}, { connection: { env: ['STUB_API_KEY'], baseUrl: url } })],
  });
}

const deltas = (answer: Answer): string =>
  answer
    .events()
    .slice(0, -1)
    .map(({ choices }) => choices[0]?.delta.content ?? '')
    .join('');

describe('informational replies that were not asked for', () => {
  for (const [name, before] of UNASKED) {
    for (const bytewise of [false, true]) {
      if (bytewise && before.length > 200) continue;
      it(`are passed over: ${name}${bytewise ? ', a byte at a time' : ''}`, async () => {
        const upstream = await rawUpstream(before, bytewise);
        const host = await hostBefore(upstream.url);
        for (let turn = 0; turn < 3; turn += 1) {
          const unary = await host.post('/v1/chat/completions', ask());
          expect([unary.status, unary.json().choices?.[0].message.content]).to.deep.equal([200, 'hello']);
          const stream = await host.post('/v1/chat/completions', ask('hi', { stream: true }));
          expect([stream.status, deltas(stream), stream.events().at(-1)]).to.deep.equal([200, 'one two', '[DONE]']);
        }
        expect(upstream.connections(), 'connections that six calls took').to.equal(1);
      });
    }
  }

  it('do not count as an answer: without one the call fails', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n'));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    atEnd(() => {
      server.close();
    });
    const host = await hostBefore(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    for (const stream of [false, true]) {
      const answer = await host.post('/v1/chat/completions', ask('hi', { stream }));
      expect([answer.status, answer.json().error.code]).to.deep.equal([502, 'upstream_error']);
    }
  });

  it('do not upgrade either: a 101 that was not asked for fails the call', async () => {
    const upstream = await rawUpstream(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
      false,
    );
    const host = await hostBefore(upstream.url);
    expect((await host.post('/v1/chat/completions', ask())).status).to.equal(502);
  });
});
