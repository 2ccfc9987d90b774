import { expect } from 'chai';
import type { StreamEvent } from '../../host/contract/index.ts';
import { Relay } from '../../host/answer/relay.ts';
import { CommonStream } from '../../host/wire/common-wire.ts';
import { FrameReader } from '../../host/upstream/eventstream.ts';
import { MAX_REPLY_BYTES } from '../../host/upstream/limits.ts';
import { everyCut } from '../kit/index.ts';
import { chunk, event, exception, frame } from '../providers/bedrock-support.ts';

/** Events of these pieces, and why reading stopped. */
function read(...pieces: readonly Buffer[]): { readonly events: StreamEvent[]; readonly failure: string | undefined } {
  const reader = new FrameReader();
  const events: StreamEvent[] = [];
  try {
    for (const piece of pieces) for (const one of reader.push(piece)) events.push(one);
    events.push(...reader.end());
    return { events, failure: undefined };
  } catch (error) {
    return { events, failure: (error as Error).message };
  }
}

const THREE = Buffer.concat([
  event('messageStart', { role: 'assistant' }),
  chunk({ outputText: 'é水🌊' }),
  event('messageStop', { stopReason: 'end_turn' }),
]);
const EVENTS = [
  { type: 'messageStart', data: '{"role":"assistant"}' },
  { type: 'chunk', data: '{"outputText":"é水🌊"}' },
  { type: 'messageStop', data: '{"stopReason":"end_turn"}' },
];

describe('event stream frames', () => {
  it('become events: the type from the header, the payload as text, a chunk unwrapped', () => {
    expect(read(THREE)).to.deep.equal({ events: EVENTS, failure: undefined });
  });

  it('may be cut anywhere', () => {
    for (const [first, second] of everyCut(THREE)) expect(read(first, second).events).to.deep.equal(EVENTS);
    expect(read(...Array.from(THREE, (byte) => Buffer.from([byte]))).events).to.deep.equal(EVENTS);
  });

  it('become events as soon as they are complete, and hold back the rest', () => {
    const reader = new FrameReader();
    const [one, two] = [event('a', {}), event('b', {})];
    expect([...reader.push(Buffer.concat([one, two.subarray(0, 7)]))].map(({ type }) => type)).to.deep.equal(['a']);
    expect(reader.heldBytes).to.equal(7);
    expect([...reader.push(two.subarray(7))].map(({ type }) => type)).to.deep.equal(['b']);
    expect(reader.heldBytes).to.equal(0);
  });

  it('of an exception or an error have its type, and what it says', () => {
    const failed = frame(
      { ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'went "wrong"' },
      '',
    );
    expect(
      read(Buffer.concat([exception('throttlingException', { message: 'slow down' }), failed])).events,
    ).to.deep.equal([
      { type: 'throttlingException', data: '{"message":"slow down"}' },
      { type: 'InternalError', data: '{"message":"went \\"wrong\\""}' },
    ]);
  });

  it('without the usual headers or payload are events all the same', () => {
    expect(read(frame({}, '')).events).to.deep.equal([{ type: '', data: '' }]);
    for (const payload of ['no JSON', 'null', '{"bytes":7}', '[]']) {
      expect(read(frame({ ':event-type': 'chunk' }, payload)).events, payload).to.deep.equal([
        { type: 'chunk', data: payload },
      ]);
    }
  });

  it('are refused with a wrong checksum, wherever the bit has turned, and those before them are read', () => {
    const good = event('a', {});
    const bad = event('b', { text: 'hello' });
    for (let at = 4; at < bad.length; at += 1) {
      const turned = Buffer.from(bad);
      turned[at] = (turned[at] ?? 0) ^ 1;
      const { events, failure } = read(Buffer.concat([good, turned]));
      expect({ types: events.map(({ type }) => type), hasFailed: failure !== undefined }, `byte ${at}`).to.deep.equal({
        types: ['a'],
        hasFailed: true,
      });
    }
  });

  it('are refused when they are shorter than a frame can be, or longer than one may be, before their bytes arrive', () => {
    for (const length of [0, 15, MAX_REPLY_BYTES + 1, 0xffff_ffff]) {
      const start = Buffer.alloc(4);
      start.writeUInt32BE(length);
      expect(read(start).failure, `${length} bytes`).to.equal(
        `a frame of ${length} bytes is not between 16 and ${MAX_REPLY_BYTES}`,
      );
    }
    expect(read(Buffer.from('<html>busy</html>')).failure).to.include('a frame of');
  });

  it('may hold an event of several MiB', () => {
    const text = 'x'.repeat(5 * 1024 * 1024);
    const bytes = chunk({ text });
    const pieces = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) =>
      bytes.subarray(at * 65_536, (at + 1) * 65_536),
    );
    expect(read(...pieces).events).to.deep.equal([{ type: 'chunk', data: JSON.stringify({ text }) }]);
  });

  it('that the stream breaks off are a failure, an empty stream is none', () => {
    expect(read(event('a', {}).subarray(0, -1)).failure).to.match(/^the stream ended inside a frame/);
    expect(read(Buffer.from([0])).failure).to.match(/^the stream ended inside a frame/);
    expect(read()).to.deep.equal({ events: [], failure: undefined });
  });
});

describe('event stream frames in the relay', () => {
  const open = (): Relay =>
    new Relay({
      encoder: new CommonStream(),
      model: 'm',
      created: 1,
      stripUsage: false,
      source: {
        speaks: 'native',
        framing: 'eventstream',
        decode: ({ type, data }) => [
          { choices: [{ index: 0, delta: { content: data }, finish_reason: type === 'end' ? 'stop' : null }] },
        ],
      },
    });

  it('reach the decoder', () => {
    const relay = open();
    expect(relay.push(event('text', 'a'))).to.include('"content":"\\"a\\""');
    relay.push(event('end', 'b'));
    relay.end();
    expect({ isDone: relay.isDone, failure: relay.failure }).to.deep.equal({ isDone: true, failure: undefined });
  });

  it('of several MiB are awaited', () => {
    const relay = open();
    const bytes = event('end', 'x'.repeat(9_500_000));
    relay.push(bytes.subarray(0, 9_400_000));
    expect(relay.failure).to.equal(undefined);
    expect(relay.push(bytes.subarray(9_400_000))).to.have.length.greaterThan(9_500_000);
  });

  it('that are broken end the stream after what came before them', () => {
    const relay = open();
    expect(relay.push(Buffer.concat([event('text', 'kept'), Buffer.alloc(16)]))).to.include('kept');
    expect(relay.failure).to.include({ code: 'upstream_error' });
  });
});
