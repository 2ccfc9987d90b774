import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import {
  ask,
  chatChunks,
  fakeClock,
  type FakeClock,
  type GatewayProcess,
  MASTER_KEY,
  openSse,
  some,
  sseEvent,
  startGateway,
  startHost,
  stubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';
import { atEnd } from '../kit/cleanup.ts';

const CHAT = '/v1/chat/completions';
const KEY = `Authorization: Bearer ${MASTER_KEY}\r\n`;

const request = (method: string, path: string, headers: string, body: string): string =>
  `${method} ${path} HTTP/1.1\r\nHost: h\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
const chat = (model: string, words: number, stream: boolean): string =>
  request('POST', CHAT, KEY, JSON.stringify(ask('word '.repeat(words), { model, stream })));

async function open(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  atEnd(() => {
    socket.destroy();
  });
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return socket;
}

describe('clients that break off', () => {
  const half = { chunk: 'x'.repeat(200_000), length: 'Content-Length: 99999999\r\n\r\n' };
  const attacks: Readonly<Record<string, string>> = {
    'a body that is declared too large': `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}${half.length}${half.chunk}`,
    'a body that becomes too large': `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}Transfer-Encoding: chunked\r\n\r\n${`30d40\r\n${half.chunk}\r\n`.repeat(60)}`,
    'a body without a key': `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${half.length}${half.chunk}`,
    'a body for an unknown path': `POST /nowhere HTTP/1.1\r\nHost: h\r\n${half.length}${half.chunk}`,
    'a preflight with a body': `OPTIONS /nowhere HTTP/1.1\r\nHost: h\r\nOrigin: a\r\n${half.length}${half.chunk}`,
    'a wrong method with a body': `PUT ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}${half.length}${half.chunk}`,
    'an unknown method with a body': `PROPFIND ${CHAT} HTTP/1.1\r\nHost: h\r\n${half.length}${half.chunk}`,
    'a method that HTTP does not know, with a body': `FOO ${CHAT} HTTP/1.1\r\nHost: h\r\n${half.length}${half.chunk}`,
    'a chunk that is none': `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}Transfer-Encoding: chunked\r\n\r\n5\r\nabcdefzz\r\n`,
    'a promise to go on': `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}Expect: 100-continue\r\nContent-Length: 5\r\n\r\n`,
    'a greeting of TLS': `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${'x'.repeat(500)}`,
    'another protocol': `GET /v1/realtime HTTP/1.1\r\nHost: h\r\n${KEY}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n${half.chunk}`,
    'a large answer': chat('echo', 100_000, false),
    'a large stream': chat('echo', 50_000, true),
    'a slow answer': chat('echo-slow', 1000, false),
    'a slow stream': chat('echo-slow', 1000, true),
    'many requests at once':
      chat('echo', 1000, false).repeat(20) + 'GET /livez HTTP/1.1\r\nHost: h\r\n\r\n'.repeat(1000),
  };

  async function strike(
    gateway: GatewayProcess,
    text: string,
    delayMs: number,
    how: 'reset' | 'close' | 'end',
  ): Promise<void> {
    const socket = await open(gateway.url);
    if (how !== 'reset') socket.resume();
    socket.write(Buffer.from(text, 'latin1'));
    await new Promise((resolve) => {
      setTimeout(resolve, delayMs);
    });
    if (how === 'reset') socket.resetAndDestroy();
    else if (how === 'close') socket.destroy();
    else socket.end();
  }

  it('do not end the process, which serves others meanwhile', async function breakOff() {
    this.timeout(60_000);
    const gateway = await startGateway({ cwd: await temporaryFolder() });
    for (const [what, text] of some(Object.entries(attacks), { every: 2 })) {
      await Promise.all(
        [0, 1, 20].flatMap((delayMs) =>
          (['reset', 'close', 'end'] as const).map((how) => strike(gateway, text, delayMs, how)),
        ),
      );
      expect((await fetch(`${gateway.url}/livez`)).status, what).to.equal(200);
    }
    const answer = await fetch(gateway.url + CHAT, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}` },
      body: JSON.stringify(ask('still here', { model: 'echo' })),
    });
    expect(await answer.text()).to.include('still here');
    expect(
      gateway.lines.filter(({ level, msg }) => level === 'ERROR' && msg !== 'pass-through request failed'),
    ).to.deep.equal([]);
    expect(await gateway.stop('SIGTERM')).to.equal(0);
    expect(
      gateway.lines.find(({ msg }) => msg === 'draining'),
      'nothing is counted as running',
    ).to.include({ requests: 0 });
  });
});

describe('a client that stops reading', () => {
  /** A stream larger than all buffers between the upstream and a client that does not read. */
  async function stalled(): Promise<{ t: TestHost; clock: FakeClock; socket: Socket; isWritten: () => boolean }> {
    const clock = fakeClock();
    let isWritten = false;
    const stub = await stubUpstream((_request, response) => {
      openSse(response);
      const [head, chunk, ...rest] = chatChunks(['word '.repeat(2000)]).map(sseEvent);
      response.write(head!);
      for (let at = 0; at < 3000; at += 1) response.write(chunk!);
      response.end(rest.join('') + sseEvent('[DONE]'), () => {
        isWritten = true;
      });
    });
    const t = await startHost({ strategy: { mode: 'fallback' }, targets: [stub.target('a')] }, { clock });
    const socket = await open(t.url);
    socket.write(request('POST', CHAT, KEY, JSON.stringify(ask('hi', { stream: true }))));
    while (clock.waiting < 3)
      await new Promise((resolve) => {
        setImmediate(resolve);
      }); // the silence of the upstream, that towards the client, and the write
    return { t, clock, socket, isWritten: () => isWritten };
  }

  it('is cut off 15 seconds after the first write that does not leave', async () => {
    const { t, clock, socket, isWritten } = await stalled();
    expect(isWritten(), 'the upstream is held back meanwhile').to.equal(false);
    clock.advance(14_999);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(t.host.slot.leases).to.equal(1);
    clock.advance(1);
    while (t.host.slot.leases > 0 || t.host.activity.count > 0)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    socket.resume();
    await once(socket, 'close');
    expect(t.lines.some(({ msg }) => msg === 'request canceled by the client')).to.equal(true);
    expect(t.lines.some(({ msg }) => msg === 'http request')).to.equal(false);
  });

  it('may go on within that time, and gets everything', async () => {
    const { clock, socket } = await stalled();
    clock.advance(14_999);
    let end = '';
    let bytes = 0;
    socket.on('data', (piece) => {
      bytes += piece.length;
      end = (end + piece.toString('latin1')).slice(-100);
    });
    while (!end.includes('data: [DONE]')) await once(socket, 'data');
    expect(bytes).to.be.above(3000 * 10_000);
  });
});
