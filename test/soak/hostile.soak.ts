import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { ask, type GatewayProcess, startGateway, temporaryFolder } from '../kit/index.ts';
import { atEnd } from '../kit/cleanup.ts';

interface Connection {
  readonly socket: Socket;
  /** All that came back, once the other side has closed. */
  readonly closed: Promise<string>;
}

async function open({ url }: GatewayProcess, text: string): Promise<Connection> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  atEnd(() => {
    socket.destroy();
  });
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1');
  });
  socket.on('error', () => {});
  const closed = once(socket, 'close').then(() => received);
  await once(socket, 'connect');
  socket.write(text);
  return { socket, closed };
}

const start = async (variables: Record<string, string> = {}): Promise<GatewayProcess> =>
  startGateway({ variables, cwd: await temporaryFolder() });

describe('slow and silent clients', () => {
  it('are let go after ten seconds without whole headers, while others are served', async function slowHeaders() {
    this.timeout(60_000);
    const gateway = await start();
    const startedAt = performance.now();
    const slow = await Promise.all(
      Array.from({ length: 50 }, () => open(gateway, 'POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n')),
    );
    const silent = await Promise.all(Array.from({ length: 20 }, () => open(gateway, '')));
    const dribble = setInterval(() => {
      for (const { socket } of slow) socket.write('X: y\r\n');
    }, 500);
    atEnd(() => {
      clearInterval(dribble);
    });
    const headers = { authorization: `Bearer ${gateway.key}` };
    for (let round = 0; round < 20; round += 1) {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers,
        body: JSON.stringify(ask('hi', { model: 'echo' })),
      });
      expect(answer.status).to.equal(200);
    }
    const texts = await Promise.all(slow.map(({ closed }) => closed));
    for (const text of texts)
      expect(text)
        .to.match(/^HTTP\/1\.1 408 /)
        .and.match(/^X-Request-ID: [0-9a-f]{32}$/m);
    await Promise.all(silent.map(({ closed }) => closed));
    expect(performance.now() - startedAt).to.be.within(9500, 15_000);
  });

  it('do not keep a process that drains: half an upload ends with it', async function halfUpload() {
    this.timeout(60_000);
    const gateway = await start({ GW_SHUTDOWN_TIMEOUT: '500ms' });
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Length: 1000\r\n\r\n{`;
    const uploads = await Promise.all(Array.from({ length: 5 }, () => open(gateway, head)));
    await fetch(`${gateway.url}/livez`);
    const startedAt = performance.now();
    expect(await gateway.stop('SIGTERM')).to.equal(0);
    expect(performance.now() - startedAt).to.be.below(8000);
    await Promise.all(uploads.map(({ closed }) => closed));
  });
});
