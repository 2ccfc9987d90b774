import { expect } from 'chai';
import { MASTER_KEY, rawClient, startHost, stubUpstream } from '../kit/index.ts';

const ABLE = { passthrough: true, responses: true, batches: true };
const ASKED = '/v1/jobs/x?y=1';
const UPGRADE =
  'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nConnection: Upgrade\r\n';

/** Headers, as lines, of an answer with these headers of a provider whose root is `/api/v1`. `<root>` stands for that root's origin. */
async function relayed(
  status: number,
  headers: Readonly<Record<string, string | readonly string[]>>,
  more = 'Connection: close\r\n',
): Promise<{ readonly lines: readonly string[]; readonly text: string; readonly host: string }> {
  const origin = { url: '' };
  const filled = (value: string): string => value.replaceAll('<root>', origin.url);
  const upstream = await stubUpstream((_request, response) => {
    response
      .writeHead(
        status,
        Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [
            name,
            typeof value === 'string' ? filled(value) : value.map(filled),
          ]),
        ),
      )
      .end();
  });
  origin.url = upstream.url;
  const t = await startHost(
    {
      targets: [
        upstream.target('a', {}, { ...ABLE, connection: { env: ['STUB_API_KEY'], baseUrl: `${upstream.url}/api/v1` } }),
      ],
    },
    { variables: { OTHER_SECRET: 'environment-secret-1' } },
  );
  const client = await rawClient(t.url);
  client.send(
    `GET ${ASKED} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nX-Provider: a\r\n${more}\r\n`,
  );
  const text = await client.closed();
  return { text, lines: text.split('\r\n\r\n')[0]!.split('\r\n'), host: new URL(upstream.url).host };
}

/** What is sent on of an address; `undefined` where the header is left out. */
const ADDRESSES: readonly (readonly [what: string, sent: string, shown: string | undefined])[] = [
  ['below the root', '<root>/api/v1/jobs/x/?page=2', '/v1/jobs/x/?page=2'],
  ['below the root, relative', 'y?page=2', '/v1/jobs/y?page=2'],
  ['below the root, absolute', '/api/v1/files/f%20x/content#part', '/v1/files/f%20x/content#part'],
  ['of a route below the root', '/api/v1/chat/completions', '/v1/chat/completions'],
  ['of another spelling of a route', '/api/v1/%63hat/completions', undefined],
  ['of a path that leads elsewhere', '/api/v1/%252e%252e/x', undefined],
  ['beside the root', '<root>/internal/jobs', undefined],
  ['that begins as the root does', '<root>/api/v1beta/jobs', undefined],
  ['above the root, by dots', '/api/v1/../../internal', undefined],
  ['of another origin', 'https://files.example.com/f?sig=a%2Fb', 'https://files.example.com/f?sig=a%2Fb'],
  [
    'of another origin, with a credential',
    'https://files.example.com/f?k=environment-secret-1',
    'https://files.example.com/f?k=[REDACTED:OTHER_SECRET]',
  ],
  ['of another origin, with a user', 'https://u:p@files.example.com/f', 'https://files.example.com/f'],
  ['of another origin, without encryption', 'http://files.example.com/f', undefined],
  ['of the provider by another scheme', 'https://127.0.0.1/x', undefined],
  ...[
    'https://10.0.0.8/x',
    'https://[::1]/x',
    'https://0x7f000001/x',
    'https://2130706433/x',
    'https://db/x',
    'https://db./x',
    'https://node.internal/x',
    'https://printer.local/x',
    'https://api.default.svc/x',
    'https://api.localhost/x',
    'https://node.INTERNAL./x',
  ].map((address) => [`inside a network: ${address}`, address, undefined] as const),
  ['of another scheme', 'ftp://files.example.com/f', undefined],
  ['that is none', 'https://[', undefined],
];

const LINKS: readonly (readonly [sent: string, shown: string | undefined])[] = [
  [
    '<<root>/api/v1/jobs?after=x>; rel="next", <http://10.0.0.8/x>; rel="prev", <https://docs.example.com/a,b>; rel=help; title="a, <b>"',
    '</v1/jobs?after=x>; rel="next", <https://docs.example.com/a,b>; rel=help; title="a, <b>"',
  ],
  [
    '<https://docs.example.com>; rel="help"; anchor="http://10.0.0.8/x"; type=a',
    '<https://docs.example.com>; rel="help"; type=a',
  ],
  ['<http://10.0.0.8/x>; rel="prev"', undefined],
  ['no link', undefined],
];

describe('addresses in what is relayed', () => {
  for (const [what, sent, shown] of ADDRESSES) {
    it(`are the client's own or public ones: one ${what}`, async () => {
      const { lines, text, host } = await relayed(200, {
        Location: sent,
        'content-location': sent,
        'Operation-Location': sent,
        'Azure-AsyncOperation': sent,
      });
      const found = lines.filter((line) => /^(?:.+-)?(?:location|asyncoperation):/i.test(line));
      expect(found).to.deep.equal(
        shown === undefined
          ? []
          : ['Location', 'content-location', 'Operation-Location', 'Azure-AsyncOperation'].map(
              (name) => `${name}: ${shown}`,
            ),
      );
      expect(text).not.to.include(host);
    });
  }

  for (const [sent, shown] of LINKS) {
    it(`are those of links: ${sent}`, async () => {
      const { lines, text, host } = await relayed(200, { link: [sent], refresh: '5; url=<root>/internal' });
      expect(lines.filter((line) => /^(?:link|refresh):/i.test(line))).to.deep.equal(
        shown === undefined ? [] : [`link: ${shown}`],
      );
      expect(text).not.to.include(host);
    });
  }

  for (const status of [201, 202, 301, 302, 307, 308, 404, 503]) {
    it(`are so with status ${status}`, async () => {
      const { lines, text, host } = await relayed(status, {
        location: '<root>/api/v1/jobs/',
        'operation-location': '<root>/internal',
        refresh: '1; <root>',
      });
      expect(lines[0]).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(lines.filter((line) => /^(?:operation-)?location:|^refresh/i.test(line))).to.deep.equal([
        'location: /v1/jobs/',
      ]);
      expect(text).not.to.include(host);
    });
  }

  it('are so where a WebSocket is refused', async () => {
    const { lines, text, host } = await relayed(
      307,
      { location: '<root>/api/v1/realtime/', link: '<<root>/internal>; rel=x' },
      UPGRADE,
    );
    expect(lines[0]).to.match(/^HTTP\/1\.1 307 /);
    expect(lines.filter((line) => /^(?:location|link)/i.test(line))).to.deep.equal(['location: /v1/realtime/']);
    expect(text).not.to.include(host);
  });
});
