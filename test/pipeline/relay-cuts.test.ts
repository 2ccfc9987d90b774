import { expect } from 'chai';
import { Relay } from '../../host/answer/relay.ts';
import { CommonStream } from '../../host/wire/common-wire.ts';
import { EventReader } from '../../host/upstream/sse.ts';
import { chatChunks, eventsOf, some } from '../kit/index.ts';

/** Event streams as the web platform allows them, however their bytes arrive. */
const CHUNKS = chatChunks(['Grüße', ' 日本', '😀\u2028', '', 'tail']).map((chunk) => JSON.stringify(chunk));

const STREAMS: Readonly<Record<string, string>> = {
  LF: CHUNKS.map((data) => `data: ${data}\n\n`).join('') + 'data: [DONE]\n\n',
  CRLF: CHUNKS.map((data) => `data: ${data}\r\n\r\n`).join('') + 'data: [DONE]\r\n\r\n',
  CR: CHUNKS.map((data) => `data: ${data}\r\r`).join('') + 'data: [DONE]\r\r',
  'all line ends in turn':
    CHUNKS.map(
      (data, place) => `data: ${data}${['\n\n', '\r\n\r\n', '\r\r', '\r\n\n', '\n\r\n'][place % 5] ?? ''}`,
    ).join('') + 'data: [DONE]\n\n',
  'a byte order mark': `\ufeff${CHUNKS.map((data) => `data: ${data}\n\n`).join('')}data: [DONE]\n\n`,
  'no space after data:': CHUNKS.map((data) => `data:${data}\n\n`).join('') + 'data:[DONE]\n\n',
  'comments and other fields':
    CHUNKS.map(
      (data, place) => `: ping ${place}\nevent: chunk\nid: ${place}\nretry: 10\nunknown\ndata: ${data}\n\n`,
    ).join('') + ':\n\ndata: [DONE]\n\n',
  'no blank lines, and no end of the last line': `${CHUNKS.map((data) => `data: ${data}\n`).join('')}data: [DONE]`,
};

function relayed(pieces: readonly Uint8Array[]): { readonly events: unknown[]; readonly isDone: boolean } {
  const relay = new Relay({
    encoder: new CommonStream(),
    model: 'm',
    created: 1_700_000_000,
    stripUsage: false,
    source: { speaks: 'common', framing: 'sse' },
  });
  let out = pieces.map((piece) => relay.push(Buffer.from(piece))).join('');
  if (!relay.isDone) out += relay.end();
  return {
    events: eventsOf(Buffer.from(out, 'latin1').toString('utf8')),
    isDone: relay.isDone && relay.failure === undefined,
  };
}

function read(pieces: readonly Uint8Array[]): unknown[] {
  const reader = new EventReader();
  return [...pieces.flatMap((piece) => reader.push(Buffer.from(piece))), ...reader.end()];
}

const inPieces = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, place) =>
    bytes.subarray(place * size, (place + 1) * size),
  );

describe('an event stream', () => {
  const expected = relayed([Buffer.from(STREAMS['LF'] ?? '')]);

  it('is whole in the simplest form', () => {
    expect(expected.isDone).to.equal(true);
    expect(expected.events).to.have.length(CHUNKS.length);
  });

  for (const [at, [name, text]] of Object.entries(STREAMS).entries()) {
    it(`gives the same chunks with ${name}, cut at any byte`, () => {
      const bytes = Buffer.from(text);
      for (const cut of some([...bytes.keys(), bytes.length], { every: 10, from: at % 10 })) {
        const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
        expect(relayed(pieces), `cut at ${cut}`).to.deep.equal(expected);
      }
    });

    it(`gives the same chunks and events with ${name}, in pieces of one to five bytes`, () => {
      const bytes = Buffer.from(text);
      const events = read([bytes]);
      for (const size of [1, 2, 3, 4, 5]) {
        expect(relayed(inPieces(bytes, size)), `pieces of ${size}`).to.deep.equal(expected);
        expect(read(inPieces(bytes, size)), `events in pieces of ${size}`).to.deep.equal(events);
      }
    });
  }

  it('may hold a line of several MiB, in pieces of any size', () => {
    const [chunk] = chatChunks(['x'.repeat(3 * 1024 * 1024)]).slice(1);
    const bytes = Buffer.from(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    const whole = relayed([bytes]);
    expect(whole.events).to.have.length(1);
    for (const size of [1000, 65_536, 1_000_003]) expect(relayed(inPieces(bytes, size))).to.deep.equal(whole);
  });
});
