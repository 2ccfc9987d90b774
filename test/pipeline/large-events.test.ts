import { expect } from 'chai';
import { setImmediate } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import type { ChatChunk, StreamEvent } from '../../host/contract/index.ts';
import { Relay } from '../../host/answer/relay.ts';
import type { RelaySource } from '../../host/answer/relay-source.ts';
import { CommonStream } from '../../host/wire/common-wire.ts';
import { MAX_REPLY_BYTES } from '../../host/upstream/limits.ts';
import { EventReader } from '../../host/upstream/sse.ts';
import { openSse, some, startHost, stubUpstream } from '../kit/index.ts';
import { event } from '../providers/bedrock-support.ts';

const MIB = 1024 * 1024;
const HEAD = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'routed' };
const text = (content: string): object => ({
  ...HEAD,
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
});

/** A decoder that passes on how long an event was. */
const measuring = ({ data }: StreamEvent): ChatChunk[] => [
  { choices: [{ index: 0, delta: { content: `${data.length}` } }] },
];

const FRAMINGS: Readonly<Record<string, { readonly source: RelaySource; readonly bytesOf: (size: number) => Buffer }>> =
  {
    'common wire': {
      source: { speaks: 'common', framing: 'sse' },
      bytesOf: (size) => Buffer.from(`data: ${JSON.stringify(text('x'.repeat(size)))}\n\n`),
    },
    'native events': {
      source: { speaks: 'native', framing: 'sse', decode: measuring },
      bytesOf: (size) => Buffer.from(`event: e\ndata: {"a":"${'x'.repeat(size)}"}\n\n`),
    },
    'native events of many lines': {
      source: { speaks: 'native', framing: 'sse', decode: measuring },
      bytesOf: (size) => Buffer.from(`data: ${`${'x'.repeat(70)}\ndata: `.repeat(size / 77)}\n\n`),
    },
    'lines of JSON': {
      source: { speaks: 'native', framing: 'ndjson', decode: measuring },
      bytesOf: (size) => Buffer.from(`{"a":"${'x'.repeat(size)}"}\n`),
    },
    frames: {
      source: { speaks: 'native', framing: 'eventstream', decode: measuring },
      bytesOf: (size) => event('e', { a: 'x'.repeat(size) }),
    },
  };

const open = (source: RelaySource = { speaks: 'common', framing: 'sse' }): Relay =>
  new Relay({
    encoder: new CommonStream(),
    model: 'routed',
    created: 1,
    stripUsage: false,
    source,
  });

function pushAll(relay: Relay, bytes: Buffer, size: number): void {
  for (let at = 0; at < bytes.length && !relay.failure; at += size) relay.push(bytes.subarray(at, at + size));
}

/** Bytes in use after everything that can go has gone: not what this turn of the event loop may still have on its stack. */
async function heapBytes(): Promise<number> {
  await setImmediate();
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage(); // long strings made from bytes lie outside the heap
  return heapUsed + external;
}

/** How many characters and bytes `run` had the runtime look at or copy. */
function workOf(run: () => void): number {
  let work = 0;
  const undo: (() => void)[] = [];
  const count = (holder: any, name: string, sizeOf: (self: any, args: readonly any[], result: any) => number): void => {
    const original = holder[name];
    holder[name] = function counted(this: unknown, ...args: unknown[]) {
      const result = original.apply(this, args);
      work += sizeOf(this, args, result);
      return result;
    };
    undo.push(() => {
      holder[name] = original;
    });
  };
  const lengths = (pieces: readonly { readonly length: number }[]): number =>
    pieces.reduce((sum, { length }) => sum + length, 0);
  count(String.prototype, 'indexOf', (self, [, from = 0], found) => (found < 0 ? self.length : found) - from); // from there to where it stands
  for (const name of ['lastIndexOf', 'includes', 'split', 'match', 'matchAll', 'replace'])
    count(String.prototype, name, (self) => self.length);
  count(RegExp.prototype, 'test', (_self, [given]) => given.length);
  count(Array.prototype, 'join', (self) => lengths(self));
  count(Buffer, 'concat', (_self, [pieces]) => lengths(pieces));
  count(Buffer.prototype, 'toString', (self) => self.length);
  try {
    run();
  } finally {
    for (const restore of undo) restore();
  }
  return work;
}

describe('a large event', () => {
  for (const [name, { source, bytesOf }] of some(Object.entries(FRAMINGS), { every: 5, from: 1 })) {
    describe(name, () => {
      it('may hold as much as a whole answer', () => {
        const relay = open(source);
        pushAll(relay, bytesOf(MAX_REPLY_BYTES - MIB), 65_536);
        expect({ failure: relay.failure, chunks: relay.chunks }).to.deep.equal({ failure: undefined, chunks: 1 });
      });

      it('is a failure when it holds more, and before its end', () => {
        const relay = open(source);
        pushAll(relay, bytesOf(MAX_REPLY_BYTES * 1.2).subarray(0, -1000), 65_536);
        expect(relay.failure).to.include({ code: 'upstream_error' });
      });

      it('is looked at a fixed number of times, however many reads it takes', () => {
        const bytes = bytesOf(8 * MIB);
        const [few, many] = [256 * 1024, 4096].map((size) => workOf(() => pushAll(open(source), bytes, size))) as [
          number,
          number,
        ];
        expect(few).to.be.within(bytes.length, 12 * bytes.length);
        expect(many).to.be.below(few + 3 * bytes.length);
      });

      it('takes little more memory than its bytes while it is awaited, even when they come one by one', async () => {
        const relay = open(source);
        const bytes = bytesOf(2 * MIB).subarray(0, MIB);
        const before = await heapBytes();
        pushAll(relay, bytes, 1);
        expect((await heapBytes()) - before).to.be.below(6 * MIB);
        expect({ failure: relay.failure, chunks: relay.chunks }).to.deep.equal({ failure: undefined, chunks: 0 });
      });
    });
  }

  it('counts the line ends in its data, so that nothing grows unseen', () => {
    const reader = new EventReader();
    reader.push(Buffer.from('data:\n'.repeat(1000)));
    expect(reader.heldBytes).to.equal(999);
  });

  it('does not stay in memory for what was learned or assembled beside it', async () => {
    const relay = open();
    const small = (round: number): string =>
      `data: ${JSON.stringify(text(`a text of some length, number ${round}`))}\n\n`;
    const before = await heapBytes();
    for (let round = 0; round < 6; round += 1)
      pushAll(relay, Buffer.from(`${small(round)}: ${'x'.repeat(20 * MIB)}\n${small(round)}`), 64 * MIB);
    expect((await heapBytes()) - before).to.be.below(50 * MIB); // the runtime itself may hold on to the last
    expect({ failure: relay.failure, chunks: relay.chunks }).to.deep.equal({ failure: undefined, chunks: 12 });
  });
});

describe('a large event behind a gateway', () => {
  const frameOf = (image: string): string =>
    `data: ${JSON.stringify({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [{ text: 'Here: ' }, { inlineData: { mimeType: 'image/png', data: image } }],
          },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      responseId: 'r',
    })}\r\n\r\n`;

  for (const [name, bytes] of some([
    ['of the size that models send', 3 * MIB],
    ['of the largest size', 49 * MIB],
  ] as const)) {
    it(`brings an image of a Gemini model ${name}`, async () => {
      const image = 'iVBORw0KGgoAAAANSUhEUgAA'.repeat(bytes / 24);
      const upstream = await stubUpstream((_request, response) => {
        openSse(response);
        response.end(frameOf(image));
      });
      const host = await startHost(
        { targets: [{ virtual_key: 'gemini', models: ['gemini-3-pro-image'] }] },
        { variables: { GEMINI_API_KEY: 'k', GEMINI_BASE_URL: upstream.url } },
      );
      const answer = await host.post('/v1/chat/completions', {
        model: 'gemini-3-pro-image',
        stream: true,
        modalities: ['text', 'image'],
        messages: [{ role: 'user', content: 'draw' }],
      });
      expect(answer.status).to.equal(200);
      const events = answer.events();
      expect(events.at(-1)).to.equal('[DONE]');
      const pictures = events.flatMap((chunk) => chunk.choices?.[0]?.delta?.images ?? []);
      expect(pictures).to.have.length(1);
      expect(pictures[0].image_url.url === `data:image/png;base64,${image}`, 'every byte of it').to.equal(true);
    });
  }
});
