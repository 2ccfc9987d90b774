import { brotliCompressSync, deflateRawSync, deflateSync, zstdCompressSync } from 'node:zlib';
import { type GoodAnswer, type HeaderList, sseEvent } from '../../kit/index.ts';
import {
  all,
  ANSWERED,
  bodyOf,
  type BrokenKind,
  type Expected,
  FAILED,
  framed,
  FRAMINGS,
  type Seen,
  zip,
} from './kind.ts';

interface Body {
  readonly name: string;
  readonly make: (answer: GoodAnswer) => Buffer;
  readonly headers?: HeaderList;
  readonly expected: Expected;
}

/** What follows from bytes that are not an answer: chat fails; as speech they are sounds like any other, but for none at all. */
const useless: Expected = { whole: 'failed', stream: 'failed', speech: 'answer' };

const texts: readonly (readonly [name: string, text: string, expected?: Expected])[] = [
  ['nothing', '', FAILED],
  ['a blank', ' '],
  ['line ends', '\r\n\r\n\n'],
  ['null', 'null'],
  ['true', 'true'],
  ['a number', '12'],
  ['a text', '"hello"'],
  ['an empty list', '[]'],
  ['an empty object', '{}'],
  ['half an object', '{"choices":[{"mess'],
  ['two documents', '{"choices":[]}{"choices":[]}'],
  ['a page', '<html><body>bad gateway</body></html>'],
  ['XML', '<?xml version="1.0"?><Error><Code>x</Code></Error>'],
  ['NaN', '{"choices":NaN}'],
  ['single quotes', "{'choices':[]}"],
  ['a comment', '// {"choices":[]}'],
  ['NULs', '\0'.repeat(64)],
  ['a byte order mark alone', '\uFEFF'],
  ['a request', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['another answer', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'],
];

/** JSON that has the members of an answer, and something else in them. As events they are a stream that begins, and ends before its end. */
const shapes: readonly (readonly [name: string, value: unknown, stream: Seen])[] = [
  ['choices that are null', { choices: null }, 'broken'],
  ['choices that are an object', { choices: {} }, 'broken'],
  ['choices that are a text', { choices: 'x' }, 'broken'],
  ['no choices in the list', { choices: [] }, 'broken'],
  ['a choice that is null', { choices: [null] }, 'broken'],
  ['a choice that is a number', { choices: [7] }, 'broken'],
  ['a choice that is a list', { choices: [[]] }, 'broken'],
  ['an error', { error: { message: 'no' } }, 'failed'],
  ['an error that is a text', { error: 'no' }, 'failed'],
  [
    'an error beside an answer',
    {
      error: { message: 'no' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
    },
    'failed',
  ],
];

const encoded: readonly (readonly [
  name: string,
  encoding: string,
  pack: (body: Buffer) => Buffer,
  expected: Expected,
])[] = [
  ['gzip', 'gzip', zip, ANSWERED],
  ['GZIP', 'GZIP', zip, ANSWERED],
  ['x-gzip', 'x-gzip', zip, ANSWERED],
  ['deflate', 'deflate', (body) => deflateSync(body), ANSWERED],
  ['brotli', 'br', (body) => brotliCompressSync(body), ANSWERED],
  ['zstd', 'zstd', (body) => zstdCompressSync(body), ANSWERED],
  ['identity', 'identity', (body) => body, ANSWERED],
  ['deflate without its header', 'deflate', (body) => deflateRawSync(body), FAILED],
  ['a lie', 'gzip', (body) => body, FAILED],
  ['brotli for gzip', 'gzip', (body) => brotliCompressSync(body), FAILED],
  ['gzip for brotli', 'br', zip, FAILED],
  ['gzip for zstd', 'zstd', zip, FAILED],
  ['nothing at all', 'gzip', () => Buffer.alloc(0), FAILED],
  ['its first bytes', 'gzip', (body) => zip(body).subarray(0, 6), FAILED],
  ['a broken checksum', 'gzip', (body) => Buffer.concat([zip(body).subarray(0, -8), Buffer.alloc(8, 0xff)]), FAILED],
  ['gzip and an unknown encoding', 'compress', (body) => body, ANSWERED],
];

const bodies: readonly Body[] = [
  ...texts.map(([name, text, expected = useless]): Body => ({ name, make: () => Buffer.from(text), expected })),
  ...shapes.map(([name, value, stream]): Body => ({
    name,
    make: ({ isStream }) => Buffer.from(isStream ? sseEvent(value) : JSON.stringify(value)),
    expected: { whole: 'failed', stream, speech: 'answer' },
  })),
  ...encoded.map(([name, encoding, pack, expected]): Body => ({
    name: `${name} as ${encoding}`,
    make: (answer) => pack(bodyOf(answer)),
    headers: [['content-encoding', encoding]],
    expected,
  })),
  {
    name: 'bytes that are not text',
    make: () => Buffer.from(Array.from({ length: 256 }, (_, at) => 255 - at)),
    expected: useless,
  },
  {
    name: 'two bytes a character',
    make: (answer) => Buffer.from(bodyOf(answer).toString('utf8'), 'utf16le'),
    expected: useless,
  },
  {
    name: 'a byte order mark before the answer',
    make: (answer) => Buffer.concat([Buffer.from('\uFEFF'), bodyOf(answer)]),
    expected: all('answer'),
  }, // RFC 8259 8.1: a parser may leave it out
  {
    name: 'blanks around the answer',
    make: (answer) => Buffer.concat([Buffer.from(' \n\n'), bodyOf(answer), Buffer.from('\n\n  ')]),
    expected: all('answer'),
  },
  {
    name: 'something after the answer',
    make: (answer) => Buffer.concat([bodyOf(answer), Buffer.from('<!-- served by proxy 7 -->')]),
    expected: { whole: 'failed', stream: 'answer', speech: 'answer' },
  },
];

/** What stands in the body, under each way of telling where it ends. */
export const BODIES: readonly BrokenKind[] = bodies.flatMap(({ name, make, headers, expected }) =>
  FRAMINGS.map((framing) => ({
    name: `${name}, ${framing}`,
    play: (answer: GoodAnswer) => framed(framing, answer.contentType, make(answer), headers),
    expected,
  })),
);
