import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { bearer, defineProvider, GatewayError } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import { WebSocket } from 'undici';
import { FrameSearch } from '../../builtins/passthrough/models/frame-search.ts';
import { atEnd } from '../kit/cleanup.ts';
import { Dice, eventually, startHost, type TestHost } from '../kit/index.ts';
import { stubProvider } from '../kit/upstream.ts';

const TEXT = 1;
const BINARY = 2;
const PING = 9;

interface FrameOptions {
  readonly opcode?: number;
  readonly isLast?: boolean;
  readonly isMasked?: boolean;
  readonly reserved?: number;
}

/** One frame as RFC 6455 5.2 draws it. */
function frame(
  payload: string | Buffer,
  { opcode = TEXT, isLast = true, isMasked = true, reserved = 0 }: FrameOptions = {},
): Buffer {
  const bytes = Buffer.from(payload);
  const mask = Buffer.from([0x12, 0x99, 0xab, 0x07]);
  const length =
    bytes.length < 126
      ? Buffer.from([bytes.length])
      : bytes.length < 65_536
        ? Buffer.from([126, bytes.length >> 8, bytes.length & 0xff])
        : Buffer.concat([
            Buffer.from([127, 0, 0, 0, 0]),
            Buffer.from(Uint32Array.of(bytes.length).buffer).toReversed(),
          ]);
  length[0] = (length[0] ?? 0) | (isMasked ? 0x80 : 0);
  return Buffer.concat([
    Buffer.from([(isLast ? 0x80 : 0) | reserved | opcode]),
    length,
    ...(isMasked ? [mask, Buffer.from(bytes.map((byte, at) => byte ^ mask[at % 4]!))] : [bytes]),
  ]);
}

const GOOD = JSON.stringify({ type: 'session.update', session: { model: 'm' } });
const BAD = JSON.stringify({
  type: 'session.update',
  session: { audio: { input: { transcription: { model: 'o1-pro' } } } },
});

/** What becomes of frames for a key that may ask for `m`; cut in random pieces. */
function verdictOf(frames: readonly Buffer[], dice: Dice): string {
  const search = new FrameSearch(200_000, (named) =>
    named.some(([model]) => model !== 'm') ? new GatewayError('model_not_found', 'no') : undefined,
  );
  const bytes = Buffer.concat(frames);
  try {
    for (let at = 0; at < bytes.length;) {
      const end = at + 1 + dice.below(dice.pick([1, 20, 100_000]));
      search.push(bytes.subarray(at, end));
      at = end;
    }
    return 'passed';
  } catch (error) {
    return (error as GatewayError).code;
  }
}

const CASES: Readonly<Record<string, readonly [expected: string, frames: readonly Buffer[]]>> = {
  'a model of the list': ['passed', [frame(GOOD), frame(GOOD)]],
  'another model': ['model_not_found', [frame(GOOD), frame(BAD)]],
  'another model in parts, with a ping between them': [
    'model_not_found',
    [
      frame(BAD.slice(0, 9), { isLast: false }),
      frame('x', { opcode: PING }),
      frame(BAD.slice(9, 60), { opcode: 0, isLast: false }),
      frame(BAD.slice(60), { opcode: 0 }),
    ],
  ],
  'another model without a mask': ['model_not_found', [frame(BAD, { isMasked: false })]],
  'another model in bytes': ['model_not_found', [frame(BAD, { opcode: BINARY })]],
  'another model behind blanks and a mark': ['model_not_found', [frame(`\ufeff \n${BAD}`)]],
  'another model in a list': ['model_not_found', [frame(`[${BAD}]`)]],
  'another model in a long message': [
    'model_not_found',
    [frame(JSON.stringify({ audio: 'x'.repeat(70_000), model: 'o1-pro' }))],
  ],
  'a long message': [
    'passed',
    [
      frame(JSON.stringify({ audio: 'x'.repeat(70_000) })),
      frame(JSON.stringify({ audio: 'x'.repeat(300) })),
      frame(GOOD),
    ],
  ],
  'a message that is too long': ['request_rejected', [frame('x'.repeat(200_001))]],
  sound: ['passed', [frame(Buffer.from([0, 1, 2, 255, 0x7b]), { opcode: BINARY }), frame('plain words'), frame('')]],
  'JSON that is broken': ['request_rejected', [frame('{"model":"m",}')]],
  'JSON that says something twice': ['request_rejected', [frame('{"model":"o1-pro","model":"m"}')]],
  'a compressed frame': ['request_rejected', [frame(GOOD, { reserved: 0x40 })]],
  'what is said': [
    'passed',
    [
      frame(
        JSON.stringify({
          type: 'conversation.item.create',
          item: { type: 'message', model: 'x', content: [{ type: 'input_text', text: '{"model":"o1-pro"}' }] },
        }),
      ),
    ],
  ],
};

describe('frames of a key with a list of models', () => {
  for (const [what, [expected, frames]] of Object.entries(CASES)) {
    it(`are looked through, however they are cut: ${what}`, () => {
      const dice = new Dice(3803);
      for (let at = 0; at < 20; at += 1) expect(verdictOf(frames, dice)).to.equal(expected);
    });
  }
});

interface Speaking {
  readonly t: TestHost;
  readonly taken: { readonly socket: Socket; readonly headers: Record<string, unknown>; received: string }[];
}

async function speaking(): Promise<Speaking> {
  const taken: Speaking['taken'][number][] = [];
  const server = createServer();
  server.on('upgrade', (request, stream) => {
    const socket = stream as Socket;
    const one = { socket, headers: request.headers, received: '' };
    socket
      .on('error', () => {})
      .on('data', (bytes) => {
        one.received += bytes.toString('latin1');
      })
      .on('end', () => socket.end());
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    taken.push(one);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
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
    passthrough: true,
    responses: true,
    connection: {
      env: ['STUB_API_KEY'],
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      authorize: bearer('STUB_API_KEY'),
    },
  });
  return {
    taken,
    t: await startHost({ targets: [{ virtual_key: 'a', models: ['m', 'o1-pro'], [stubProvider]: provider }] }),
  };
}

async function connected({ t }: Speaking, limits: object, path: string): Promise<WebSocket> {
  const { key } = await t.host.stores.keys.create({ name: 'limited', scopes: ['read_only'], limits });
  const socket = new WebSocket(t.url.replace('http', 'ws') + path, { headers: { authorization: `Bearer ${key}` } });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error('not open')));
  });
  return socket;
}

describe('a tunnel of a key with a list of models', () => {
  for (const path of ['/v1/realtime?model=m', '/v1/responses?model=m']) {
    it(`carries what names models of the list, and ends before another one arrives: ${path}`, async () => {
      const scene = await speaking();
      const socket = await connected(scene, { models: ['m'] }, path);
      const [upstream] = scene.taken;
      expect(upstream?.headers).not.to.have.property('sec-websocket-extensions');
      socket.send(GOOD);
      await eventually(() => (upstream?.received.length ?? 0) > GOOD.length);
      const before = upstream?.received.length;
      const closed = once(socket, 'close');
      socket.send(BAD);
      await closed;
      await eventually(() => scene.t.host.slot.leases === 0);
      expect(upstream?.received.length).to.equal(before);
      expect(scene.t.lines.find(({ msg }) => msg === 'pass-through request failed'))
        .to.have.property('error')
        .that.includes('o1-pro');
    });
  }

  it('is not looked at without a list', async () => {
    const scene = await speaking();
    const socket = await connected(scene, { providers: ['a'] }, '/v1/realtime?model=m');
    const [upstream] = scene.taken;
    expect(upstream?.headers).to.have.property('sec-websocket-extensions');
    socket.send(BAD);
    await eventually(() => (upstream?.received.length ?? 0) > 0);
    const closed = once(socket, 'close');
    upstream?.socket.destroy();
    await closed;
  });
});
