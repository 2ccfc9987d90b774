import { ask, MASTER_KEY } from '../kit/index.ts';

const CHAT = '/v1/chat/completions';
const KEY = `Authorization: Bearer ${MASTER_KEY}\r\n`;
const HEAD = `POST ${CHAT} HTTP/1.1\r\nHost: h\r\n${KEY}`;
const BODY = JSON.stringify(ask('hi', { model: 'echo' }));
const CHUNK = `${BODY.length.toString(16)}\r\n${BODY}\r\n`;

/** What is hidden in, or behind, a request whose end is in doubt. It must not be served. */
export const SMUGGLED = '/smuggled';
const HIDDEN = `GET ${SMUGGLED} HTTP/1.1\r\nHost: h\r\n\r\n`;

/** One attack: what is sent, the statuses of all that comes back, and whether the connection may serve on. */
export interface FramingCase {
  readonly what: string;
  readonly request: string;
  readonly statuses: readonly number[];
  readonly isKept: boolean;
}

const cases = (
  statuses: readonly number[],
  isKept: boolean,
  requests: Readonly<Record<string, string>>,
): FramingCase[] => Object.entries(requests).map(([what, request]) => ({ what, request, statuses, isKept }));

/** A request for a probe with these lines after its Host. */
const probe = (lines = '', target = '/livez'): string => `GET ${target} HTTP/1.1\r\nHost: h\r\n${lines}\r\n`;
const hosted = (host: string): string => `GET /livez HTTP/1.1\r\n${host}\r\n${HIDDEN}`;
/** A chat request whose body begins with these bytes, in chunks, and whatever may follow. */
const chunked = (bytes: string, rest = HIDDEN): string => `${HEAD}Transfer-Encoding: chunked\r\n\r\n${bytes}${rest}`;
const coded = (coding: string): string => `${HEAD}Transfer-Encoding:${coding}\r\n\r\n${CHUNK}0\r\n\r\n${HIDDEN}`;
const sized = (lines: string): string => `${HEAD}${lines}\r\n${HIDDEN}`;

const lengths = cases([400], false, {
  'one length twice': `${HEAD}Content-Length: ${BODY.length}\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
  'one length in a list': `${HEAD}Content-Length: ${BODY.length}, ${BODY.length}\r\n\r\n${BODY}`,
  'two lengths': sized(`Content-Length: 0\r\nContent-Length: ${HIDDEN.length}\r\n`),
  'a length with a sign': sized('Content-Length: +5\r\n'),
  'a negative length': sized('Content-Length: -1\r\n'),
  'a length in hexadecimal': sized('Content-Length: 0x10\r\n'),
  'an empty length': sized('Content-Length: \r\n'),
  'a length with a blank': sized('Content-Length: 1 0\r\n'),
  'a length with an underscore': sized('Content-Length: 1_0\r\n'),
  'a length beyond all numbers': sized('Content-Length: 99999999999999999999999\r\n'),
  'a length that would wrap to 0': sized('Content-Length: 18446744073709551616\r\n'),
  'a length and chunks': `${HEAD}Content-Length: ${HIDDEN.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'chunks and a length': `${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'a blank before the colon of a length': sized('Content-Length : 5\r\n'),
  'a blank before a length': sized(' Content-Length: 5\r\n'),
  'a length on a folded line': sized('Content-Length:\r\n 5\r\n'),
});

const codings = [
  ...cases([400], false, {
    'an empty transfer coding': coded(' '),
    'chunks that are not the outermost coding': coded(' chunked, gzip'),
    'chunks twice': coded(' chunked, chunked'),
    'chunks, and another line that says none': coded(' chunked\r\nTransfer-Encoding: identity'),
    'a list of codings with nothing at its end': coded(' chunked,'),
    'a vertical tab before the coding': coded(' \x0bchunked'),
    'a blank before the colon of the coding': `${HEAD}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
    'a coding on a folded line': coded('\r\n chunked'),
    'chunks in HTTP/1.0': coded(' chunked').replace('HTTP/1.1', 'HTTP/1.0'),
    'chunks in HTTP/1.0 that stays': coded(' chunked\r\nConnection: keep-alive').replace('HTTP/1.1', 'HTTP/1.0'),
  }),
  ...cases([501], false, {
    'gzip in chunks': coded(' gzip, chunked'),
    'gzip in chunks, in two lines': coded(' gzip\r\nTransfer-Encoding: chunked'),
    'no coding in chunks': coded(' identity\r\nTransfer-Encoding: chunked'),
    'gzip without chunks': coded(' gzip'),
    'an unknown coding': coded(' xchunked'),
    'no coding': coded(' identity'),
    'chunks in quotation marks': coded(' "chunked"'),
    'chunks with a parameter': coded(' chunked;a=b'),
  }),
  ...cases([200], true, {
    'chunks in capitals': `${HEAD}Transfer-Encoding: CHUNKED\r\n\r\n${CHUNK}0\r\n\r\n`,
    'chunks between blanks': `${HEAD}Transfer-Encoding:\t chunked \r\n\r\n${CHUNK}0\r\n\r\n`,
  }),
];

const chunks = [
  ...cases([400], false, {
    'a chunk of 0x5 bytes': chunked('0x5\r\nhello\r\n0\r\n\r\n'),
    'a chunk of -1 bytes': chunked('-1\r\nhello\r\n0\r\n\r\n'),
    'a chunk of +5 bytes': chunked('+5\r\nhello\r\n0\r\n\r\n'),
    'a blank before a size': chunked(' 5\r\nhello\r\n0\r\n\r\n'),
    'a blank behind a size': chunked('5 \r\nhello\r\n0\r\n\r\n'),
    'an underscore in a size': chunked('0_5\r\nhello\r\n0\r\n\r\n'),
    'a size that would wrap': chunked('10000000000000005\r\nhello\r\n0\r\n\r\n'),
    'no size': chunked('\r\nhello\r\n0\r\n\r\n'),
    'a size that ends with a line feed': chunked('5\nhello\r\n0\r\n\r\n'),
    'a size that ends with a carriage return': chunked('5\rhello\r\n0\r\n\r\n'),
    'a chunk that ends nowhere': chunked('5\r\nhello0\r\n\r\n'),
    'a chunk that ends with a line feed': chunked('5\r\nhello\n0\r\n\r\n'),
    'a chunk that is longer than it says': chunked('5\r\nhelloXX\r\n0\r\n\r\n'),
    'a last chunk without an end': chunked(`${CHUNK}0\r\n`),
    'an extension that ends with a line feed': chunked('2;\nxx\r\n47\r\n0\r\n\r\n'),
    'an extension with a carriage return': chunked('2;a\rb\r\nxx\r\n0\r\n\r\n'),
    'an extension without an end': chunked(`5;a=${'b'.repeat(50_000)}\r\nhello\r\n0\r\n\r\n`),
    'a trailer that is none': chunked(`${CHUNK}0\r\nbad trailer\r\n\r\n`),
    'a length among the trailers': chunked(`${CHUNK}0\r\nContent-Length: 9\r\n\r\n`),
  }),
  ...cases([431], false, { 'endless trailers': chunked(`${CHUNK}0\r\nX: ${'a'.repeat(1_100_000)}\r\n\r\n`) }),
  ...cases([401], false, {
    'a credential among the trailers': `POST ${CHAT} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNK}0\r\n${KEY}\r\n${HIDDEN}`,
  }),
  ...cases([200], true, {
    extensions: chunked(`${BODY.length.toString(16)};a=b;c="d"\r\n${BODY}\r\n0;e\r\n\r\n`, ''),
    'an extension on every byte': chunked(
      `${Array.from(BODY, (character) => `1;${'x'.repeat(100)}\r\n${character}\r\n`).join('')}0\r\n\r\n`,
      '',
    ),
    trailers: chunked(`${CHUNK}0\r\nX: a\r\n\r\n`, ''),
    'many zeros before a size': chunked(`${'0'.repeat(1000)}${CHUNK}0\r\n\r\n`, ''),
  }),
];

const lines = [
  ...cases([400], false, {
    'a folded header': probe('X: a\r\n b\r\n'),
    'a blank before the first header': 'GET /livez HTTP/1.1\r\n Host: h\r\n\r\n',
    'line feeds only': `GET /livez HTTP/1.1\nHost: h\n\n${HIDDEN}`,
    'a line feed between headers': 'GET /livez HTTP/1.1\r\nHost: h\nX: a\r\n\r\n',
    'a line feed at the end of the headers': `GET /livez HTTP/1.1\r\nHost: h\r\n\n${HIDDEN}`,
    'a carriage return in a header': probe('X: a\rTransfer-Encoding: chunked\r\n'),
    'a carriage return too many': 'GET /livez HTTP/1.1\r\nHost: h\r\r\n\r\n',
    'a NUL in a name': probe('X\0: a\r\n'),
    'a NUL in a value': probe('X: a\0b\r\n'),
    'a NUL in the target': probe('', '/livez\0'),
    'a control character in a value': probe('X: \x01\r\n'),
    'DEL in a value': probe('X: \x7f\r\n'),
    'no name': probe(': a\r\n'),
    'brackets in a name': probe('X(a): a\r\n'),
    'no colon': probe('nonsense\r\n') + HIDDEN,
    'a blank behind the version': 'GET /livez HTTP/1.1 \r\nHost: h\r\n\r\n',
    'a small http': 'GET /livez http/1.1\r\nHost: h\r\n\r\n',
    'HTTP/1.2': 'GET /livez HTTP/1.2\r\nHost: h\r\n\r\n',
    'HTTP/01.1': 'GET /livez HTTP/01.1\r\nHost: h\r\n\r\n',
    'HTTP/2.0': `GET /livez HTTP/2.0\r\nHost: h\r\n\r\n${HIDDEN}`,
    'HTTP/0.9 by name': `GET /livez HTTP/0.9\r\n\r\n${HIDDEN}`,
    'HTTP/0.9': `GET /livez\r\n${HIDDEN}`,
    'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  }),
  ...cases([501], false, {
    'a greeting of TLS': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'a greeting of SSH': 'SSH-2.0-OpenSSH_9\r\n',
    'a line of a proxy protocol': `PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n${HIDDEN}`,
    'a binary proxy protocol': '\r\n\r\n\0\r\nQUIT\n!\x11',
    'a blank before the method': ` ${HIDDEN}`,
    'tabs instead of blanks': 'GET\t/livez\tHTTP/1.1\r\nHost: h\r\n\r\n',
    'a small method': 'get /livez HTTP/1.1\r\nHost: h\r\n\r\n',
  }),
  ...cases([431], false, {
    'a target of more than a mebibyte': probe('', `/${'a'.repeat(1_100_000)}`),
    'too many headers': probe(Array.from({ length: 2000 }, (_, at) => `X-${at}: a\r\n`).join('')),
  }),
  ...cases([200], true, {
    'empty lines before the request': `\r\n\r\n${probe()}`,
    'bytes beyond ASCII in a value': probe('X: \xff\r\n'),
    'many headers': probe(Array.from({ length: 900 }, (_, at) => `X-${at}: a\r\n`).join('')),
  }),
];

const targets = [
  ...cases([400], false, {
    'an absolute target of another scheme': probe('', 'ftp://other/livez') + HIDDEN,
    'an absolute target without a host': probe('', 'http:///livez'),
    'an absolute target with a user': probe('', 'http://a@other/livez') + HIDDEN,
    'an absolute target with an odd port': probe('', 'http://other:x/livez'),
    'a host for a target': probe('', 'other:80') + HIDDEN,
    'an asterisk and more': probe('', '*livez'),
    'a fragment': probe('', '/livez#a'),
    'a backslash': probe('', '/\\livez'),
    'no target': 'GET HTTP/1.1\r\nHost: h\r\n\r\n',
    'no host': `GET /livez HTTP/1.1\r\n\r\n${HIDDEN}`,
    'two hosts': hosted('Host: a\r\nHost: b\r\n'),
    'one host twice': hosted('Host: a\r\nHost: a\r\n'),
    'two hosts in HTTP/1.0': hosted('Host: a\r\nHost: b\r\nConnection: keep-alive\r\n').replace('HTTP/1.1', 'HTTP/1.0'),
    'a host with a blank': hosted('Host: a b\r\n'),
    'a host with a tab': hosted('Host: a\tb\r\n'),
    'a host with a slash': hosted('Host: a/b\r\n'),
    'a host with a user': hosted('Host: a@b\r\n'),
    'a host with an odd port': hosted('Host: a:b\r\n'),
    'a host beyond ASCII': hosted('Host: h\xfc\r\n'),
    'a host on a folded line': hosted('Host: a\r\n b\r\n'),
    'two hosts, one of them absolute': `GET http://other/livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${HIDDEN}`,
  }),
  ...cases([200], true, {
    'an absolute target': probe('', 'http://other/livez'),
    'an absolute target in capitals': probe('', 'HTTP://other:80/livez?a'),
    'an empty host': 'GET /livez HTTP/1.1\r\nHost:\r\n\r\n',
    'an address for a host': 'GET /livez HTTP/1.1\r\nHost: [::1]:80\r\n\r\n',
  }),
  ...cases([404], true, {
    'an asterisk': probe('', '*'),
    'an asterisk for OPTIONS': 'OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n',
    'an absolute target without a path': probe('', 'http://other'),
    'a target of nearly a mebibyte': probe('', `/${'a'.repeat(1_000_000)}`),
  }),
];

const exchanges = [
  ...cases([200], false, {
    'more after the last request': `GET /livez HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n${HIDDEN}`,
    'more after a request of HTTP/1.0': `GET /livez HTTP/1.0\r\n\r\n${HIDDEN}`,
    'an invitation in HTTP/1.0': `POST ${CHAT} HTTP/1.0\r\n${KEY}Expect: 100-continue\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
    'an answer before bytes that are not HTTP': `${probe()}\0${HIDDEN}`,
  }),
  ...cases([200, 200], false, {
    'two answers before bytes that are not HTTP': `${probe()}${probe()}!\r\n\r\n${HIDDEN}`,
  }),
  ...cases([200], true, {
    'a body that the route does not read': `GET /livez HTTP/1.1\r\nHost: h\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
  }),
  ...cases([100, 200], true, {
    'an invitation that is not waited for': `${HEAD}Expect: 100-continue\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
    'two invitations': `${HEAD}Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
    'an invitation for a body in chunks': `${HEAD}Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNK}0\r\n\r\n`,
  }),
  ...cases([401], false, {
    'a body that was not invited': `POST ${CHAT} HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}${HIDDEN}`,
  }),
  ...cases([404], false, {
    'a tunnel': `CONNECT other:80 HTTP/1.1\r\nHost: other:80\r\n\r\n${HIDDEN}`,
    'a tunnel to a path': `CONNECT ${SMUGGLED} HTTP/1.1\r\nHost: h\r\n\r\n${HIDDEN}`,
    'a tunnel with a body': `CONNECT other:80 HTTP/1.1\r\nHost: h\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}${HIDDEN}`,
  }),
  ...cases([405], true, { TRACE: 'TRACE /livez HTTP/1.1\r\nHost: h\r\nCookie: secret\r\n\r\n' }),
];

/** Attacks on how requests are framed. Source: RFC 9112, sections 2 to 9. */
export const FRAMING_CASES: readonly FramingCase[] = [
  ...lengths,
  ...codings,
  ...chunks,
  ...lines,
  ...targets,
  ...exchanges,
];

/** Upgrades are not served, the requests are. Node passes over what came in one packet with them. */
export const UPGRADES: Readonly<Record<string, string>> = {
  'HTTP/2': probe('Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'),
  'WebSocket, with a body': `${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
  'WebSocket, with chunks': `${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNK}0\r\n\r\n`,
};

/** Requests that stop in the middle: their client then closes its side. */
export const CUT_SHORT: Readonly<Record<string, string>> = {
  nothing: '',
  'a method': 'GE',
  'half of a target': 'GET /li',
  'half of the headers': 'GET /livez HTTP/1.1\r\nHos',
  'no body': `${HEAD}Content-Length: 10\r\n\r\n`,
  'half of a body': `${HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY.slice(0, 9)}`,
  'half of a size': chunked('1', ''),
  'half of a chunk': chunked(CHUNK.slice(0, 9), ''),
  'no last chunk': chunked(CHUNK, ''),
  'half of the last chunk': chunked(`${CHUNK}0\r\n`, ''),
  'half of an extension': chunked('5;a=', ''),
  'half of a trailer': chunked(`${CHUNK}0\r\nX: a`, ''),
  'a body that waits to be invited': `${HEAD}Expect: 100-continue\r\nContent-Length: 10\r\n\r\n`,
  'HTTP/0.9': 'GET /livez\r\n',
  'empty lines': '\r\n\r\n\r\n',
};
