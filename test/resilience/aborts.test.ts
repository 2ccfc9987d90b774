import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  ask,
  atEnd,
  chunk,
  eventually,
  faultUpstream,
  type FaultUpstream,
  forSuite,
  type GatewayProcess,
  hang,
  head,
  MASTER_KEY,
  type Move,
  startGateway,
  temporaryFolder,
  write,
} from '../kit/index.ts';
import { bodyOf } from './broken/kind.ts';
import { askFor } from './support/surfaces.ts';

interface Scene {
  readonly gateway: GatewayProcess;
  readonly upstream: FaultUpstream;
  /** Connections to an upstream that takes them and never sends a byte, not even to begin TLS. */
  readonly mute: ReadonlySet<Socket>;
  /** How the upstream answers. */
  play: (answer: Parameters<typeof bodyOf>[0]) => readonly Move[] | undefined;
}

const config = (): string => `strategy: { mode: fallback }
targets:
  - { virtual_key: openai, models: [m], concurrency: { max_concurrency: 1, queue_size: 5 } }
  - { virtual_key: groq, models: [mute], concurrency: { max_concurrency: 1, queue_size: 5 } }
`;

async function muteServer(): Promise<{ readonly port: number; readonly sockets: ReadonlySet<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => sockets.delete(socket))
      .resume();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

async function open(): Promise<Scene> {
  const scene: { current: Scene | undefined } = { current: undefined };
  const upstream = await faultUpstream({
    script: () => ({ fault: 'ok' }),
    play: (_call, answer) => scene.current?.play(answer),
  });
  const { port, sockets } = await muteServer();
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'config.yaml'), config());
  const gateway = await startGateway({
    cwd: folder,
    variables: {
      GATEWAY_CONFIG: join(folder, 'config.yaml'),
      LOG_LEVEL: 'debug',
      OPENAI_API_KEY: 'k',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      GROQ_API_KEY: 'k',
      GROQ_BASE_URL: `https://127.0.0.1:${port}/v1`,
    },
  });
  scene.current = { gateway, upstream, mute: sockets, play: () => undefined };
  return scene.current;
}

const request = (more: object): string => {
  const body = JSON.stringify(ask('hi', more));
  return `POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

interface Client {
  readonly socket: Socket;
  text(): string;
}

async function dial({ gateway }: Scene): Promise<Client> {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  let text = '';
  socket
    .on('error', () => {})
    .on('data', (bytes) => {
      text += bytes.toString('latin1');
    });
  atEnd(() => {
    socket.destroy();
  });
  await once(socket, 'connect');
  return { socket, text: () => text };
}

interface Stage {
  readonly name: string;
  /** What the client has sent when it leaves. */
  readonly sent: string;
  readonly play?: Scene['play'];
  /** It has come as far as it is to leave. */
  readonly isThere?: (scene: Scene, client: Client) => boolean;
  /** Whether the gateway took it for a request. */
  readonly isRequest?: boolean;
}

const silent = (): readonly Move[] => [hang];
const headOf = (contentType: string): Move =>
  head(200, [
    ['content-type', contentType],
    ['transfer-encoding', 'chunked'],
  ]);
const isAsked = ({ upstream }: Scene): boolean => upstream.busy === 1;
/** The upstream has sent what it has: the gateway has it a moment later. */
const hasHung = (scene: Scene): boolean => isAsked(scene) && scene.gateway.lines.length > 0;

const STAGES: readonly Stage[] = [
  { name: 'once it is connected', sent: '' },
  { name: 'in its headers', sent: request({}).slice(0, 60) },
  { name: 'in the middle of its body', sent: request({}).slice(0, -20) },
  {
    name: 'while the upstream is being connected',
    sent: request({ model: 'mute' }),
    isThere: ({ mute }) => mute.size > 0,
    isRequest: true,
  },
  { name: 'before the upstream answers', sent: request({}), play: silent, isThere: isAsked, isRequest: true },
  {
    name: 'in the middle of a whole answer',
    sent: request({}),
    play: (answer) => [headOf(answer.contentType), write(chunk(bodyOf(answer).subarray(0, 50))), hang],
    isThere: hasHung,
    isRequest: true,
  },
  {
    name: 'before the first chunk of a stream',
    sent: request({ stream: true }),
    play: (answer) => [headOf(answer.contentType), write(chunk(Buffer.from(': wait\n\n'))), hang],
    isThere: hasHung,
    isRequest: true,
  },
  {
    name: 'in the middle of a stream',
    sent: request({ stream: true }),
    isRequest: true,
    play: (answer) => [
      headOf(answer.contentType),
      ...answer.pieces.slice(0, 3).map((piece) => write(chunk(piece))),
      hang,
    ],
    isThere: (_scene, client) => client.text().includes('data: '),
  },
];

const WAYS = {
  'resets the connection': (socket: Socket) => socket.resetAndDestroy(),
  'closes the connection': (socket: Socket) => socket.destroy(),
} as const;

const canceled = ({ gateway }: Scene): number =>
  gateway.lines.filter(({ msg }) => msg === 'request canceled by the client').length;

/** No upstream answers, nothing is held, and the only slot is free: the next call is served. */
async function expectForgotten(scene: Scene): Promise<void> {
  const { gateway, upstream, mute } = scene;
  await eventually(() => upstream.busy === 0 && mute.size === 0);
  expect([upstream.busy, mute.size, await gateway.leftover()]).to.deep.equal([0, 0, {}]);
  scene.play = () => undefined;
  expect((await askFor('chat', { url: gateway.url })).status).to.equal(200);
  expect(upstream.sockets.size).to.be.at.most(1);
}

describe('a client that leaves a gateway process', function suite() {
  this.timeout(60_000);
  const opened = forSuite(open);

  for (const [way, leave] of Object.entries(WAYS)) {
    for (const { name, sent, play = () => undefined, isThere = () => true, isRequest = false } of STAGES) {
      it(`${way} ${name}: its call ends, slot and lease are given back, over and over`, async () => {
        const scene = opened();
        const before = canceled(scene);
        for (let round = 1; round <= 3; round += 1) {
          scene.play = play;
          const client = await dial(scene);
          if (sent !== '') client.socket.write(sent);
          await eventually(() => isThere(scene, client));
          expect(isThere(scene, client), 'it has come so far').to.equal(true);
          leave(client.socket);
          if (isRequest) await eventually(() => canceled(scene) === before + round);
          expect(canceled(scene) - before).to.equal(isRequest ? round : 0);
        }
        await expectForgotten(scene);
      });
    }

    it(`${way} while it waits for a slot: it never reaches the upstream, and the call that has the slot keeps it`, async () => {
      const scene = opened();
      scene.play = silent;
      const before = canceled(scene);
      const served = await dial(scene);
      served.socket.write(request({}));
      await eventually(() => isAsked(scene));
      const calls = scene.upstream.played.length;
      const waiting = await Promise.all([0, 1, 2].map(() => dial(scene)));
      for (const { socket } of waiting) socket.write(request({}));
      await eventually(async () => (await fetch(`${scene.gateway.url}/livez`)).status === 200);
      for (const { socket } of waiting) leave(socket);
      await eventually(() => canceled(scene) === before + 3);
      expect([canceled(scene) - before, scene.upstream.played.length - calls, scene.upstream.busy]).to.deep.equal([
        3, 0, 1,
      ]);
      leave(served.socket);
      await eventually(() => canceled(scene) === before + 4);
      await expectForgotten(scene);
    });
  }
});
