import {
  bytesOf,
  chunk,
  chunked,
  close,
  cutAfter,
  type GoodAnswer,
  hang,
  head,
  LAST_CHUNK,
  type Move,
  reset,
  sized,
  spaced,
  wait,
  write,
} from '../../kit/index.ts';
import {
  all,
  ANSWERED,
  bodyOf,
  type BrokenKind,
  type Expected,
  FAILED,
  framed,
  type Framing,
  FRAMINGS,
} from './kind.ts';

const streamHead = ({ contentType }: GoodAnswer): Move =>
  head(200, [
    ['content-type', contentType],
    ['transfer-encoding', 'chunked'],
  ]);
const inChunks = (
  answer: GoodAnswer,
  pack: (body: Buffer) => string | Buffer,
  end: string | Buffer = LAST_CHUNK,
): readonly Move[] => [streamHead(answer), write(pack(bodyOf(answer))), write(end)];
const hex = (size: number): string => size.toString(16);
const line = (size: string, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${size}\r\n`), body, Buffer.from('\r\n')]);

/** A stream's answer is over with its end marker; what breaks after it does no harm. */
const afterIts: Expected = { whole: 'failed', stream: 'answer', speech: 'cut' };

const chunks: readonly (readonly [name: string, play: BrokenKind['play'], expected: Expected])[] = [
  ['a size of letters', (answer) => inChunks(answer, (body) => line('zz', body)), FAILED],
  ['a negative size', (answer) => inChunks(answer, (body) => line(`-${hex(body.length)}`, body)), FAILED],
  ['a size with a sign', (answer) => inChunks(answer, (body) => line(`0x${hex(body.length)}`, body)), FAILED],
  ['no size', (answer) => inChunks(answer, (body) => line('', body)), FAILED],
  ['a size beyond all numbers', (answer) => inChunks(answer, (body) => line('f'.repeat(40), body)), FAILED],
  [
    'a size in capitals with zeros before it',
    (answer) => inChunks(answer, (body) => line(`000${hex(body.length).toUpperCase()}`, body)),
    ANSWERED,
  ],
  ['an extension', (answer) => inChunks(answer, (body) => line(`${hex(body.length)};name=value;flag`, body)), ANSWERED],
  [
    'sizes that are too small',
    (answer) => inChunks(answer, (body) => line(hex(body.length - 5), body)),
    { whole: 'failed', stream: 'broken', speech: 'cut' },
  ],
  [
    'line ends of one character',
    (answer) =>
      inChunks(answer, (body) => Buffer.concat([Buffer.from(`${hex(body.length)}\n`), body, Buffer.from('\n')])),
    FAILED,
  ],
  [
    'one byte each',
    (answer) => [
      streamHead(answer),
      ...Array.from(bodyOf(answer), (byte) => write(chunk(Buffer.from([byte])))),
      write(LAST_CHUNK),
    ],
    ANSWERED,
  ],
  ['trailers', (answer) => inChunks(answer, (body) => chunk(body), '0\r\nX-Late: yes\r\n\r\n'), ANSWERED],
  ['broken trailers', (answer) => inChunks(answer, (body) => chunk(body), '0\r\nnonsense\r\n\r\n'), afterIts],
  [
    'no last one, and the end of the connection',
    (answer) => [streamHead(answer), write(chunk(bodyOf(answer))), close],
    afterIts,
  ],
  [
    'half a last one, and the end of the connection',
    (answer) => [streamHead(answer), write(chunk(bodyOf(answer))), write('0\r\n'), close],
    afterIts,
  ],
  [
    'more after the last one',
    (answer) => [...chunked(200, answer.contentType, answer.pieces), write('5\r\nhello\r\n0\r\n\r\n')],
    ANSWERED,
  ],
  [
    'a second answer after the last one',
    (answer) => [...chunked(200, answer.contentType, answer.pieces), ...sized(200, answer.contentType, bodyOf(answer))],
    ANSWERED,
  ],
];

const lengths: readonly (readonly [name: string, play: BrokenKind['play'], expected: Expected])[] = [
  ['a length of one too few', (answer) => lied(answer, -1), { whole: 'failed', stream: 'answer', speech: 'answer' }],
  [
    'a length of half',
    (answer) => lied(answer, -Math.ceil(bodyOf(answer).length / 2)),
    { whole: 'failed', stream: 'broken', speech: 'answer' },
  ],
  ['a length of nothing', (answer) => lied(answer, -bodyOf(answer).length), FAILED],
  ['a length of one too many, and the end of the connection', (answer) => [...lied(answer, 1), close], afterIts],
  [
    'a length of many too many, and the end of the connection',
    (answer) => [...lied(answer, 1_000_000), close],
    afterIts,
  ],
  [
    'an answer that closes without saying so',
    (answer) => [...sized(200, answer.contentType, bodyOf(answer)), close],
    ANSWERED,
  ],
  [
    'an answer that says it closes, and does not',
    (answer) => sized(200, answer.contentType, bodyOf(answer), [['connection', 'close']]),
    ANSWERED,
  ],
  [
    'an answer of HTTP/1.0',
    (answer) => [write(`HTTP/1.0 200 OK\r\nContent-Type: ${answer.contentType}\r\n\r\n`), write(bodyOf(answer)), close],
    ANSWERED,
  ],
  ['an answer before the request is there', (answer) => framed('sized', answer.contentType, bodyOf(answer)), ANSWERED],
];

function lied(answer: GoodAnswer, by: number): readonly Move[] {
  const body = bodyOf(answer);
  return [
    head(200, [
      ['content-type', answer.contentType],
      ['content-length', String(body.length + by)],
    ]),
    write(body),
  ];
}

/** Where a connection may end, as a share of head and body; beyond 1, of the body. */
const STAGES = [
  ['before anything', () => 0],
  ['in the status line', () => 5],
  ['after the status line', () => 17],
  ['in a header', () => 25],
  ['after the headers', (headBytes: number) => headBytes],
  ['after the first byte of the body', (headBytes: number) => headBytes + 1],
  ['in the middle of the body', (headBytes: number, total: number) => headBytes + Math.floor((total - headBytes) / 3)],
  ['before the last byte', (_headBytes: number, total: number) => total - 1],
] as const;

type Ending = 'reset' | 'close' | 'silence';
const ENDINGS: Readonly<Record<Ending, Move>> = { reset, close, silence: hang };

/** The first byte of the body is there; of chunks it is the size of the first. At the last stage a single byte is missing. */
const FIRST_BYTE = 5;
const LAST_BYTE = STAGES.length - 1;

function expectedOf(ending: Ending, stage: number, framing: Framing): Expected {
  const isSilent = ending === 'silence';
  const isBegun = stage > FIRST_BYTE || (stage === FIRST_BYTE && framing !== 'chunked');
  if (!isBegun) return isSilent ? all('timeout') : FAILED;
  const unended = isSilent ? 'timeout' : 'failed';
  const stream = stage === LAST_BYTE ? 'answer' : stage === FIRST_BYTE ? unended : isSilent ? 'waits' : 'broken';
  const isUnnoticed = framing === 'until it closes' && !isSilent; // it ends as it was announced
  return { whole: unended, stream, speech: isUnnoticed ? 'answer' : 'cut' };
}

const cuts: readonly BrokenKind[] = (Object.keys(ENDINGS) as Ending[]).flatMap((ending) =>
  FRAMINGS.flatMap((framing) =>
    STAGES.map(([where, at], stage): BrokenKind => ({
      name: `${ending} ${where}, ${framing}`,
      isSilent: ending === 'silence',
      expected: expectedOf(ending, stage, framing),
      play: (answer) => {
        const moves = framed(framing, answer.contentType, bodyOf(answer)).filter(({ do: what }) => what === 'write');
        return cutAfter(
          moves,
          at(bytesOf(moves.slice(0, 1)), bytesOf(moves) - (framing === 'chunked' ? LAST_CHUNK.length + 2 : 0)),
          ENDINGS[ending],
        );
      },
    })),
  ),
);

const drips: readonly BrokenKind[] = FRAMINGS.flatMap((framing): readonly BrokenKind[] => [
  {
    name: `a byte at a time, ${framing}`,
    expected: ANSWERED,
    play: (answer) => {
      const moves = framed(framing, answer.contentType, bodyOf(answer).subarray(0, answer.isStream ? undefined : 600));
      return moves.flatMap((move) =>
        move.do === 'write' ? Array.from(move.bytes, (byte) => write(Buffer.from([byte]))) : [move],
      );
    },
  },
  {
    name: `with pauses, ${framing}`,
    expected: ANSWERED,
    play: (answer) => spaced(framed(framing, answer.contentType, bodyOf(answer)), () => 20),
  },
]);

/** What happens to the connection: chunks, lengths, ends at every stage, drips. */
export const CONNECTIONS: readonly BrokenKind[] = [
  ...chunks.map(([name, play, expected]) => ({ name: `chunks with ${name}`, play, expected })),
  ...lengths.map(([name, play, expected]) => ({ name, play, expected })),
  ...cuts,
  ...drips,
  { name: 'silence instead of an answer', isSilent: true, expected: all('timeout'), play: () => [hang] },
  {
    name: 'an informational reply and silence',
    isSilent: true,
    expected: all('timeout'),
    play: () => [head(100, []), wait(5), head(102, []), hang],
  },
];
