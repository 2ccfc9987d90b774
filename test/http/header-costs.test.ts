import { expectProportion, forSuite, MASTER_KEY, rawClient, startHost, stubUpstream } from '../kit/index.ts';

/** Characters, at first; then twice as many, which is near what headers may have in all. */
const LENGTH = 240_000;

type Make = (length: number) => string;

/** The text again and again, up to a length. */
const filled =
  (piece: string, before = '', after = ''): Make =>
  (length) =>
    before + piece.repeat(Math.floor(length / piece.length)) + after;
const header =
  (name: string, value: Make): Make =>
  (length) =>
    `GET /x HTTP/1.1\r\nHost: h\r\n${name}: ${value(length)}\r\n\r\n`;
const target =
  (value: Make, rest = ''): Make =>
  (length) =>
    `GET ${value(length)} HTTP/1.1\r\nHost: h\r\n${rest}\r\n`;

const REQUESTS: Readonly<Record<string, Make>> = {
  ...Object.fromEntries(
    [',', ', ', '1,', '127.0.0.1,', '::1, ', '1.', ':', '[', '[::1]:', ' ,\t', 'x'].flatMap((piece) =>
      ['X-Forwarded-For', 'X-Real-IP'].map((name) => [
        `${name} of ${JSON.stringify(piece)}`,
        header(name, filled(piece)),
      ]),
    ),
  ),
  'X-Forwarded-For in many lines': (length) =>
    `GET /x HTTP/1.1\r\nHost: h\r\n${`X-Forwarded-For: ${'1,'.repeat(length / 2000)}\r\n`.repeat(900)}\r\n`,
  ...Object.fromEntries(
    ['traceparent', 'X-Request-ID'].flatMap((name) =>
      ['0', '00-', '-', ' a', 'ſ'].map((piece) => [`${name} of ${JSON.stringify(piece)}`, header(name, filled(piece))]),
    ),
  ),
  ...Object.fromEntries(
    [',', 'a=1,', ' ', 'x'].map((piece) => [
      `tracestate of ${JSON.stringify(piece)}`,
      (length: number) =>
        header(
          'tracestate',
          filled(piece),
        )(length).replace('\r\n\r\n', `\r\ntraceparent: 00-${'a'.repeat(32)}-${'b'.repeat(16)}-01\r\n\r\n`),
    ]),
  ),
  'traceparent with a long rest': header('traceparent', filled('-', `01-${'a'.repeat(32)}-${'b'.repeat(16)}-01-`)),
  ...Object.fromEntries(
    [
      filled('x', 'Bearer '),
      filled(' ', 'Bearer', 'x'),
      filled(' ', 'Bearer x', 'y'),
      filled('x ', 'Bearer '),
      filled('Bearer '),
    ].map((value, at) => [
      `Authorization ${at}`,
      (length: number) => header('Authorization', value)(length).replace('/x', '/v1/x'),
    ]),
  ),
  ...Object.fromEntries(
    [
      'Host',
      'Origin',
      'Cookie',
      'Accept',
      'Content-Type',
      'Expect',
      'X-Provider',
      'X-Gateway-Metadata',
      'If-None-Match',
    ].flatMap((name) =>
      ['a', 'a,', '; ', '{"a":', '%'].map((piece) => [
        `${name} of ${JSON.stringify(piece)}`,
        header(name, filled(piece)),
      ]),
    ),
  ),
  'Host of an address': (length) => `GET /x HTTP/1.1\r\nHost: [${':'.repeat(length)}\r\n\r\n`,
  'Host with a port': (length) => `GET /x HTTP/1.1\r\nHost: h:${'1'.repeat(length)}x\r\n\r\n`,
  ...Object.fromEntries(
    ['/', 'a', '%2f', '../', '%zz', ';', '(', 'a/'].map((piece) => [
      `a path of ${JSON.stringify(piece)}`,
      target(filled(piece, '/')),
    ]),
  ),
  ...Object.fromEntries(
    ['/', '%20', '%zz'].map((piece) => [
      `a model of ${JSON.stringify(piece)}`,
      target(filled(piece, '/v1/models/'), `Authorization: Bearer ${MASTER_KEY}\r\n`),
    ]),
  ),
  ...Object.fromEntries(
    ['a=1&', '?', 'a[]=', '%', '&'].map((piece) => [
      `a query of ${JSON.stringify(piece)}`,
      target(filled(piece, '/x?')),
    ]),
  ),
  'an absolute target': target(filled('a', 'http://')),
  'many headers': (length) =>
    `GET /x HTTP/1.1\r\nHost: h\r\n${Array.from({ length: length / 8 }, (_, at) => `${(at + 100_000).toString(36)}: \r\n`).join('')}\r\n`,
  'many headers of one name': (length) => `GET /x HTTP/1.1\r\nHost: h\r\n${'a: b\r\n'.repeat(length / 6)}\r\n`,
  'many hosts': (length) => `GET /x HTTP/1.1\r\n${'Host: b\r\n'.repeat(length / 9)}\r\n`,
};

describe('what is read before a credential is asked for', function headerCosts() {
  this.timeout(60_000);
  const running = forSuite(async () => {
    const stub = await stubUpstream((_request, response) => {
      response.end();
    });
    return startHost({ strategy: { mode: 'fallback' }, targets: [stub.target('a')] });
  });

  for (const [what, make] of Object.entries(REQUESTS)) {
    it(`costs no more than in proportion to its length: ${what}`, async () => {
      await expectProportion(
        LENGTH,
        (length) => {
          const request = make(length);
          return async () => {
            const client = await rawClient(running().url);
            client.send(request);
            await client.until(/\r\n\r\n/);
            client.socket.destroy();
          };
        },
        LENGTH,
      );
    });
  }
});
