import { connect } from 'node:net';
import { expect } from 'chai';
import { MASTER_KEY, rawClient, replyJson, startHost, stubUpstream } from '../kit/index.ts';

const CREDENTIAL = 'stub-key-0123456789';
const ABLE = { passthrough: true, responses: true, batches: true };

/** Every way to write a dot, and every way to write a slash, that some server somewhere reads as one. */
const DOTS = ['.', '%2e', '%2E', '%252e', '%25252e', '%252525252e', '%c0%ae', '%e0%80%ae'];
const SLASHES = ['/', '%2f', '%2F', '%252f', '%5c', '%255c', '%c0%af'];
const ENDS = ['', ';x', '%3bx', '%20', '%00'];

const PATHS: readonly string[] = [
  ...DOTS.flatMap((dot) => SLASHES.flatMap((slash) => ENDS.map((end) => `/v1/x${slash}${dot}${dot}${end}${slash}secret`))),
  ...DOTS.flatMap((dot) => [`/v1/${dot}`, `/v1/${dot}/x`, `/v1/files/${dot}${dot}/x`, `/v1/responses/${dot}${dot}/x`, `/v1/batches/a/${dot}.`]),
  '/v1/%25zz%252541', '/v1/a%zz%41', '/v1/%00', '/v1/a%0d%0aX-Evil:%201', '/v1/a%250d%250a', `/v1/${'%25'.repeat(20)}2e`,
];

const KEY = `Authorization: Bearer ${MASTER_KEY}\r\n`;
const NAMED = `${KEY}X-Provider: a\r\n`;

/** Requests whose framing, target or host is in doubt. None may reach the upstream. */
const FRAMES: readonly (readonly [what: string, bytes: string])[] = [
  ['two lengths', `POST /v1/x HTTP/1.1\r\nHost: h\r\n${NAMED}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`],
  ['a length and chunks', `POST /v1/x HTTP/1.1\r\nHost: h\r\n${NAMED}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/smuggled HTTP/1.1\r\n\r\n`],
  ['a coding that is not known', `POST /v1/x HTTP/1.1\r\nHost: h\r\n${NAMED}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ['a coding in disguise', `POST /v1/x HTTP/1.1\r\nHost: h\r\n${NAMED}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`],
  ['a negative length', `POST /v1/x HTTP/1.1\r\nHost: h\r\n${NAMED}Content-Length: -1\r\n\r\n`],
  ['two hosts', `GET /v1/x HTTP/1.1\r\nHost: h\r\nHost: i\r\n${NAMED}\r\n`],
  ['no host', `GET /v1/x HTTP/1.1\r\n${NAMED}\r\n`],
  ['a host with userinfo', `GET /v1/x HTTP/1.1\r\nHost: a@b\r\n${NAMED}\r\n`],
  ['two credentials', `GET /v1/x HTTP/1.1\r\nHost: h\r\n${NAMED}Authorization: Bearer x\r\n\r\n`],
  ['two providers', `GET /v1/x HTTP/1.1\r\nHost: h\r\n${NAMED}X-Provider: a\r\n\r\n`],
  ['no credential', 'GET /v1/x HTTP/1.1\r\nHost: h\r\nX-Provider: a\r\n\r\n'],
  ['a credential tied to the connection of one without', 'GET /v1/x HTTP/1.1\r\nHost: h\r\nX-Provider: a\r\nConnection: authorization\r\n\r\n'],
  ['an address of another scheme', `GET ftp://h/v1/x HTTP/1.1\r\nHost: h\r\n${NAMED}\r\n`],
  ['an address with userinfo', `GET http://u:p@h/v1/x HTTP/1.1\r\nHost: h\r\n${NAMED}\r\n`],
  ['a backslash', `GET /v1\\x HTTP/1.1\r\nHost: h\r\n${NAMED}\r\n`],
  ['a fragment', `GET /v1/x#y HTTP/1.1\r\nHost: h\r\n${NAMED}\r\n`],
  ['a tunnel', `CONNECT h:80 HTTP/1.1\r\nHost: h\r\n${NAMED}\r\n`],
  ['TRACE', `TRACE /v1/x HTTP/1.1\r\nHost: h\r\n${NAMED}\r\n`],
  ['a folded header', `GET /v1/x HTTP/1.1\r\nHost: h\r\n${NAMED}X-A: 1\r\n Authorization: b\r\n\r\n`],
  ['a blank before a colon', `GET /v1/x HTTP/1.1\r\nHost: h\r\n${NAMED}X-A : 1\r\n\r\n`],
];

describe('what is passed through, under attack', () => {
  async function target(): Promise<{ url: string; seen: readonly { url: string }[] }> {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, {}));
    const t = await startHost({ batch_target: 'a', responses_target: 'a', targets: [upstream.target('a', {}, ABLE)] }, { variables: { STUB_API_KEY: CREDENTIAL } });
    return { url: t.url, seen: upstream.seen };
  }

  it(`sends none of ${PATHS.length} paths that lead elsewhere`, async () => {
    const { url, seen } = await target();
    for (const path of PATHS) {
      const client = await rawClient(url);
      client.send(`GET ${path} HTTP/1.1\r\nHost: h\r\n${NAMED}Connection: close\r\n\r\n`);
      const text = await client.closed();
      if (path.includes('/..') || path.startsWith('/v1/.') || path.includes('%')) expect(text, path).to.match(/^HTTP\/1\.1 400 [^]*invalid_proxy_path/);
      expect(seen, path).to.have.length(0);
    }
  }).timeout(60_000);

  for (const [what, bytes] of FRAMES) {
    it(`sends nothing of a request with ${what}`, async () => {
      const { url, seen } = await target();
      const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
      let text = '';
      socket.on('data', (piece) => {
        text += piece.toString('latin1');
        socket.end();
      });
      socket.on('error', () => {});
      socket.write(Buffer.from(bytes, 'latin1'));
      await new Promise((resolve) => { socket.on('close', resolve); });
      expect(text).to.match(/^HTTP\/1\.1 (?:4\d\d|501) /);
      expect(seen).to.have.length(0);
    });
  }

  for (const path of ['/v1/file..name', '/v1/...', '/v1/a%2Fb%3Ac', '/v1//x//y', '/v1/100%25-ready', '/v1/..x', '/v1/x?a=../..&b=%2e%2e']) {
    it(`sends ${path} as it was written`, async () => {
      const { url, seen } = await target();
      const client = await rawClient(url);
      client.send(`GET ${path} HTTP/1.1\r\nHost: h\r\n${NAMED}Connection: close\r\n\r\n`);
      expect(await client.closed()).to.match(/^HTTP\/1\.1 200 /);
      expect(seen.map((each) => each.url)).to.deep.equal([path.slice('/v1'.length)]);
    });
  }
});
