import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ServerOptions, WebSocket, WebSocketServer } from 'ws';
import { atEnd, forSuite, type GatewayProcess, startGateway, temporaryFolder } from '../kit/index.ts';

interface Setup {
  readonly gateway: GatewayProcess;
  /** The upstream's ends of the connections, in order. */
  readonly ends: WebSocket[];
}

const MIB = 1024 * 1024;

/** Frames that another implementation makes, through a gateway process, to one that sends each message back. */
describe('WebSocket frames', () => {
  const setup = forSuite(async (): Promise<Setup> => {
    const ends: WebSocket[] = [];
    const server = createServer();
    const sockets = new WebSocketServer({
      server,
      maxPayload: 16 * MIB,
      perMessageDeflate: true,
      maxPendingAutoPongs: 100_000,
    } as ServerOptions);
    sockets.on('connection', (socket) => {
      ends.push(socket);
      socket.on('error', () => {}); // it closes then
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    atEnd(
      () =>
        new Promise<void>((resolve) => {
          for (const socket of sockets.clients) socket.terminate();
          server.close(() => resolve());
        }),
    );
    const cwd = await temporaryFolder();
    await writeFile(
      join(cwd, 'config.yaml'),
      'strategy: {mode: single}\ntargets: [{virtual_key: openai, models: [m], concurrency: {max_concurrency: 2}}]\n',
    );
    const variables = {
      OPENAI_API_KEY: 'upstream-key-3f91c2d4',
      OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    };
    return { gateway: await startGateway({ cwd, variables }), ends };
  });

  async function opened(perMessageDeflate = false): Promise<{ client: WebSocket; end: WebSocket }> {
    const { gateway, ends } = setup();
    ends.length = 0;
    const client = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/realtime?model=m`, {
      headers: { authorization: `Bearer ${gateway.key}` },
      perMessageDeflate,
      maxPayload: 16 * MIB,
    });
    await once(client, 'open');
    return { client, end: ends[0]! };
  }

  const closeOf = async (socket: WebSocket): Promise<readonly [number, string]> => {
    const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
    return [code, reason.toString()];
  };

  for (const isCompressed of [false, true]) {
    it(`arrive whole, of every length at which their form changes${isCompressed ? ', compressed' : ''}`, async () => {
      const { client } = await opened(isCompressed);
      for (const length of [0, 1, 125, 126, 127, 65_535, 65_536, MIB, 4 * MIB]) {
        const sent = randomBytes(length);
        const back = once(client, 'message') as Promise<[Buffer, boolean]>;
        client.send(sent);
        const [data, isBinary] = await back;
        expect([data.equals(sent), isBinary], `${length}`).to.deep.equal([true, true]);
      }
      client.close();
      await once(client, 'close');
    });
  }

  it('arrive in fragments, with pings between them', async () => {
    const { client } = await opened();
    const pieces = Array.from({ length: 300 }, (_, index) => `é 港 ${index}`);
    let pongs = 0;
    client.on('pong', () => {
      pongs += 1;
    });
    const back = once(client, 'message') as Promise<[Buffer, boolean]>;
    for (const [index, piece] of pieces.entries()) {
      client.ping(`${index}`);
      client.send(piece, { fin: index === pieces.length - 1 });
    }
    const [data, isBinary] = await back;
    expect([data.toString(), isBinary, pongs]).to.deep.equal([pieces.join(''), false, pieces.length]);
    client.close();
    await once(client, 'close');
  });

  it('survive a storm of pings, each answered with its own bytes, in order', async () => {
    const { client } = await opened();
    const pongs: string[] = [];
    const all = new Promise<void>((resolve) => {
      client.on('pong', (data) => {
        if (pongs.push(data.toString()) === 5000) resolve();
      });
    });
    const sent = Array.from({ length: 5000 }, (_, index) => `${index}`.padEnd(index % 126, '.'));
    for (const each of sent) client.ping(each);
    await all;
    expect(pongs).to.deep.equal(sent);
    client.close();
    await once(client, 'close');
  });

  it('close with the code and the reason of the side that closes', async () => {
    const mine = await opened();
    const both = Promise.all([closeOf(mine.end), closeOf(mine.client)]);
    mine.client.close(4321, 'I am done, é');
    expect(await both).to.deep.equal([
      [4321, 'I am done, é'],
      [4321, 'I am done, é'],
    ]);
    const other = await opened();
    const seen = closeOf(other.client);
    other.end.close(1013, 'later');
    expect(await seen).to.deep.equal([1013, 'later']);
  });

  it('end without a close where a side is cut off, and give the slot back', async () => {
    for (let round = 0; round < 4; round += 1) {
      const mine = await opened();
      const theirs = closeOf(mine.end);
      mine.client.terminate();
      expect((await theirs)[0]).to.equal(1006);
      const other = await opened();
      const seen = closeOf(other.client);
      other.end.terminate();
      expect((await seen)[0]).to.equal(1006);
    }
    const { client } = await opened(); // there are two slots
    client.close();
    await once(client, 'close');
  });

  it('that a receiver may not take are refused by it, not by the gateway', async () => {
    const { client } = await opened();
    const closed = closeOf(client);
    (client as unknown as { readonly _socket: { write(bytes: Buffer): void } })._socket.write(
      Buffer.from([0xc1, 0x80, 0, 0, 0, 0]),
    ); // a reserved bit is set
    expect((await closed)[0]).to.equal(1002);
  });
});
