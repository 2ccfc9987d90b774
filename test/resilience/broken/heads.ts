import { close } from '../../kit/index.ts';
import { ANSWERED, bodyOf, type BrokenKind, type Expected, FAILED, under, withHead } from './kind.ts';

type Row = readonly [name: string, statusLine: string, expected: Expected, headers?: string];

const CODES = [
  201, 202, 203, 204, 205, 206, 207, 226, 299, 300, 301, 302, 303, 304, 305, 306, 307, 308, 399, 400, 401, 402, 403,
  404, 405, 406, 408, 409, 410, 413, 415, 418, 421, 422, 425, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 520,
  529, 530, 599, 600, 799, 999,
];

/** Error map: docs/reference/data-plane.md#upstream-statuses; which statuses are an answer: docs/reference/providers.md#whole-answers. */
function seenOf(code: number): Expected {
  const refused =
    (
      {
        400: 'error 400',
        413: 'error 413',
        422: 'error 422',
        404: 'error 404',
        429: 'error 429',
        408: 'error 504',
        451: 'error 400',
        504: 'error 504',
      } as const
    )[code] ?? 'failed';
  const isEmpty = code === 204 || code === 304; // whatever follows is not its body
  return { whole: refused, stream: refused, speech: code > 200 && code < 300 && !isEmpty ? 'answer' : refused };
}

const STATUS_LINES: readonly Row[] = [
  ['no reason', 'HTTP/1.1 200', ANSWERED],
  ['an empty reason', 'HTTP/1.1 200 ', ANSWERED],
  ['a long reason', `HTTP/1.1 200 ${'x'.repeat(4000)}`, ANSWERED],
  ['a reason of other characters', 'HTTP/1.1 200 Grüße', ANSWERED],
  ['a lower-case protocol', 'http/1.1 200 OK', FAILED],
  ['two spaces', 'HTTP/1.1  200 OK', FAILED],
  ['a tab', 'HTTP/1.1\t200 OK', FAILED],
  ['a status of two digits', 'HTTP/1.1 20 OK', FAILED],
  ['a status of four digits', 'HTTP/1.1 2000 OK', FAILED],
  ['a status of letters', 'HTTP/1.1 abc OK', FAILED],
  ['a negative status', 'HTTP/1.1 -200 OK', FAILED],
  ['no status', 'HTTP/1.1 OK', FAILED],
  ['the status 000', 'HTTP/1.1 000 None', FAILED],
  ['HTTP/2', 'HTTP/2 200', FAILED],
  ['HTTP/3.0', 'HTTP/3.0 200 OK', FAILED],
  ['a broken version', 'HTTP/1.x 200 OK', FAILED],
  ['a protocol whose answers look the same', 'RTSP/1.0 200 OK', ANSWERED],
  ['an internet radio', 'ICY 200 OK', FAILED],
  ['a NUL in the reason', 'HTTP/1.1 200 O\0K', ANSWERED],
  ['a bare carriage return', 'HTTP/1.1 200 O\rK', FAILED],
  ['blanks before it', '  HTTP/1.1 200 OK', FAILED],
  ['a blank line before it', '\r\nHTTP/1.1 200 OK', ANSWERED],
  ['the echo of a request', 'GET / HTTP/1.1', FAILED],
];

const HEADERS: readonly Row[] = [
  ['a header without a colon', 'HTTP/1.1 200 OK', FAILED, 'nonsense\r\n'],
  ['a header with an empty name', 'HTTP/1.1 200 OK', FAILED, ': x\r\n'],
  ['a blank before the colon', 'HTTP/1.1 200 OK', FAILED, 'X-Odd : x\r\n'],
  ['a blank inside the name', 'HTTP/1.1 200 OK', FAILED, 'X Odd: x\r\n'],
  ['a header that goes on on the next line', 'HTTP/1.1 200 OK', FAILED, 'X-Folded: a\r\n b\r\n'],
  ['a NUL in a header', 'HTTP/1.1 200 OK', FAILED, 'X-Odd: a\0b\r\n'],
  ['a bare carriage return in a header', 'HTTP/1.1 200 OK', FAILED, 'X-Odd: a\rb\r\n'],
  ['bytes beyond ASCII in a header', 'HTTP/1.1 200 OK', ANSWERED, 'X-Odd: gr\u00fc\u00dfe\r\n'],
  ['an empty header', 'HTTP/1.1 200 OK', ANSWERED, 'X-Empty:\r\n'],
  ['one header a thousand times', 'HTTP/1.1 200 OK', ANSWERED, 'A: b\r\n'.repeat(1000)],
  ['more headers than fit', 'HTTP/1.1 200 OK', FAILED, `X-Padding: ${'x'.repeat(1_100_000)}\r\n`],
  ['the same length twice', 'HTTP/1.1 200 OK', FAILED, 'Content-Length: 7\r\nContent-Length: 7\r\n'],
  ['a keep-alive of nothing', 'HTTP/1.1 200 OK', ANSWERED, 'Connection: keep-alive\r\nKeep-Alive: timeout=0\r\n'],
  ['a keep-alive of nonsense', 'HTTP/1.1 200 OK', ANSWERED, 'Keep-Alive: timeout=-5, max=soon\r\n'],
  ['a connection of nonsense', 'HTTP/1.1 200 OK', ANSWERED, 'Connection: perhaps, , ;\r\n'],
  ['an upgrade that was not asked for', 'HTTP/1.1 200 OK', ANSWERED, 'Upgrade: h2c\r\n'],
  [
    "headers of the gateway's own",
    'HTTP/1.1 200 OK',
    ANSWERED,
    'X-Gateway-Target: x\r\nX-Request-ID: x\r\nSet-Cookie: a=b\r\nContent-Security-Policy: x\r\n',
  ],
  [
    'headers named like members of every object',
    'HTTP/1.1 200 OK',
    ANSWERED,
    '__proto__: x\r\nconstructor: y\r\ntoString: z\r\n',
  ],
  ['a trailer announced and not sent', 'HTTP/1.1 200 OK', ANSWERED, 'Trailer: X-Late\r\n'],
];

const LENGTHS: readonly (readonly [name: string, headers: string, expected: Expected])[] = [
  ['a length of letters', 'Content-Length: many\r\n', FAILED],
  ['a negative length', 'Content-Length: -1\r\n', FAILED],
  ['a length with a sign', 'Content-Length: +10\r\n', FAILED],
  ['a length in hexadecimal', 'Content-Length: 0x10\r\n', FAILED],
  ['a length with a fraction', 'Content-Length: 10.0\r\n', FAILED],
  ['a length with blanks inside', 'Content-Length: 1 0\r\n', FAILED],
  ['a length beyond all numbers', 'Content-Length: 99999999999999999999999999\r\n', FAILED],
  ['an empty length', 'Content-Length:\r\n', FAILED],
  ['two lengths in one', 'Content-Length: 10, 10\r\n', FAILED],
  ['chunked twice', 'Transfer-Encoding: chunked, chunked\r\n', FAILED],
  ['chunked, of a body that is not', 'Transfer-Encoding: chunked\r\n', FAILED],
  ['chunked and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 10\r\n', FAILED],
];

const TYPES: readonly (readonly [name: string, header: string, expected: Expected])[] = [
  ['no content type', '', ANSWERED],
  ['an empty content type', 'Content-Type:\r\n', ANSWERED],
  ['text', 'Content-Type: text/plain\r\n', ANSWERED],
  ['a page', 'Content-Type: text/html; charset=utf-8\r\n', ANSWERED],
  ['a content type of nonsense', 'Content-Type: ;;;=\r\n', ANSWERED],
  ['two content types', 'Content-Type: text/html\r\nContent-Type: image/png\r\n', ANSWERED],
  ['another character set', 'Content-Type: application/octet-stream; charset=utf-16\r\n', ANSWERED],
];

/** Status lines, headers, and what they say of the length. */
export const HEADS: readonly BrokenKind[] = [
  ...CODES.map((code) => ({
    name: `status ${code}`,
    play: under(`HTTP/1.1 ${code} Whatever`),
    expected: seenOf(code),
  })),
  ...[...STATUS_LINES, ...HEADERS].map(([name, line, expected, headers]) => ({
    name,
    play: under(line, headers),
    expected,
  })),
  ...LENGTHS.map(([name, headers, expected]) => ({
    name,
    play: withHead(({ contentType }) => `Content-Type: ${contentType}\r\n${headers}`),
    expected,
  })),
  // Neither tells where the body ends: it ends with the connection.
  ...['cramped', 'chunked, gzip'].map((encoding): BrokenKind => ({
    name: `the transfer encoding ${encoding}`,
    expected: ANSWERED,
    play: (answer) => [
      ...withHead(({ contentType }) => `Content-Type: ${contentType}\r\nTransfer-Encoding: ${encoding}\r\n`)(answer),
      close,
    ],
  })),
  ...TYPES.map(([name, header, expected]) => ({
    name,
    play: withHead((answer) => `${header}Content-Length: ${bodyOf(answer).length}\r\n`),
    expected,
  })),
];
