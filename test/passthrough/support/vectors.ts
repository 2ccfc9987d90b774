import { MASTER_KEY } from '../../kit/index.ts';
import { FRAMING_CASES, SMUGGLED } from '../../http/framing-cases.ts';

/** An attack: what is sent on a connection of its own, and whether a request may come of it at the upstream. */
export interface Vector {
  readonly what: string;
  /** Latin-1. `ID` stands where a request that is sent on can be recognized. */
  readonly bytes: string;
  /** Nothing of it may reach the upstream. Where this is false one request may, and it must be clean. */
  readonly isRefused: boolean;
}

/** What no upstream may see. */
export const DECOY = 'decoy-3c9d41f7a2b85e60';

const KEY = `Authorization: Bearer ${MASTER_KEY}\r\n`;
const NAMED = `Host: h\r\n${KEY}X-Provider: openai\r\nConnection: close\r\n`;
const asking = (path: string, lines = '', head = NAMED): string =>
  `GET ${path}${path.includes('?') ? '&' : '?'}v=ID HTTP/1.1\r\n${head}${lines}\r\n`;

const vectors = (isRefused: boolean, kind: string, list: Readonly<Record<string, string>>): Vector[] =>
  Object.entries(list).map(([what, bytes]) => ({ what: `${kind}: ${what}`, bytes, isRefused }));
const each = (
  isRefused: boolean,
  kind: string,
  names: readonly string[],
  bytesOf: (name: string) => string,
): Vector[] => names.map((name) => ({ what: `${kind}: ${JSON.stringify(name)}`, bytes: bytesOf(name), isRefused }));

/** Every way to write a dot, and every way to write a slash, that some server somewhere reads as one. */
const DOTS = [
  '.',
  '%2e',
  '%2E',
  '%252e',
  '%25252e',
  '%252525252e',
  '%c0%ae',
  '%e0%80%ae',
  '%f0%80%80%ae',
  '%ef%bc%8e',
  '%u002e',
  '%u002E',
  '%uff0e',
];
const SLASHES = ['/', '%2f', '%2F', '%252f', '%5c', '%255c', '%c0%af', '%ef%bc%8f', '%u2215', '%u005c'];
const ENDS = ['', ';x', '%3bx', '%20', '%00'];

const PATHS: readonly string[] = [
  ...DOTS.flatMap((dot) =>
    SLASHES.flatMap((slash) => ENDS.map((end) => `/v1/x${slash}${dot}${dot}${end}${slash}secret`)),
  ),
  ...DOTS.flatMap((dot) => [
    `/v1/${dot}`,
    `/v1/${dot}/x`,
    `/v1/files/${dot}${dot}/x`,
    `/v1/responses/${dot}${dot}/x`,
    `/v1/batches/a/${dot}.`,
  ]),
  '/v1/%25zz%252541',
  '/v1/a%zz%41',
  '/v1/%00',
  '/v1/x%00.json',
  '/v1/files/f%00/../x',
  '/v1/a%0d%0aX-Evil:%201',
  '/v1/a%250d%250a',
  '/v1/a%0aHost:%20evil',
  `/v1/${'%25'.repeat(20)}2e`,
  '/v1/..',
  '/v1/../',
  '/v1/..;/admin/keys',
  '/v1/;/../admin',
  '/v1/.;a=b/x',
  '/v1//../x',
  '/v1/x//..//..//admin',
  '/v1/x/.%2e/y',
  '/v1/x/%2e./y',
  '/v1/x%2f..%2fy',
  '/v1/x%5c..%5cy',
  '/v1/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '/v1/files/..%2f..%2fmodels',
  '/v1/files/f/..%2fcontent',
  '/v1/batches/..%5c..%5cx',
  '/v1/responses/r%2f..%2f..%2ffiles',
  '/v1/realtime/%2e%2e/x?model=m',
];

/** Names under which some vendor, proxy or framework takes a credential. */
const CREDENTIAL_NAMES = [
  'Cookie',
  'Cookie2',
  'X-Api-Key',
  'Api-Key',
  'ApiKey',
  'X-ApiKey',
  'X-Goog-Api-Key',
  'X-Auth-Token',
  'X-Access-Token',
  'X-Amz-Security-Token',
  'X-Authorization',
  'X-Forwarded-Authorization',
  'X-Original-Authorization',
  'Proxy-Authorization',
  'X-Token',
  'Token',
  'Private-Token',
  'X-Gitlab-Token',
  'X-Vault-Token',
  'X-Csrf-Token',
  'X-Xsrf-Token',
  'X-Session-Token',
  'X-Session-Id',
  'X-Gateway-Session',
  'X-Gateway-Affinity',
  'X-Id-Token',
  'X-Refresh-Token',
  'OpenAI-Api-Key',
  'Anthropic-Api-Key',
  'Ocp-Apim-Subscription-Key',
  'X-Functions-Key',
  'X-Ms-Client-Secret',
  'X-Client-Secret',
  'Client-Secret',
  'X-Secret',
  'X-Password',
  'X-Signature',
  'X-Hub-Signature',
  'X-Key',
  'X-Jwt',
  'X-Jwt-Assertion',
  'X-Goog-Iam-Authorization-Token',
  'X-Credentials',
  'X_Api_Key',
  'x_auth_token',
  'COOKIE',
  'x-API-key',
  'X-User-Id',
  'X-Gateway-Metadata',
  'Baggage',
  'Tracestate',
];

/** Names that say where a request comes from, or where it should go instead; with `_`, as servers of CGI read them. */
const CLAIMS = [
  'Forwarded',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Forwarded-Port',
  'X-Forwarded-Prefix',
  'X-Forwarded-Server',
  'X-Forwarded-Scheme',
  'X-Forwarded',
  'X_Forwarded_For',
  'x_forwarded_host',
  'X-Real-Ip',
  'X_Real_Ip',
  'X-Original-Url',
  'X-Rewrite-Url',
  'X_Original_Url',
  'True-Client-Ip',
  'X-Client-Ip',
  'Cf-Connecting-Ip',
  'X-Cluster-Client-Ip',
  'X-Originating-Ip',
  'X-Original-Host',
  'X-Remote-Ip',
  'Fastly-Client-Ip',
  'X_Provider',
];

/** What a client might tie to its connection so that it is lost on the way. */
const TIED = [
  'authorization',
  'Authorization',
  'host',
  'content-length',
  'transfer-encoding',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-provider',
  'content-type',
  'connection',
  'close, authorization',
  'authorization , host',
  'x-tied,,authorization',
  '"authorization"',
  'upgrade',
  'te',
  'keep-alive, authorization',
  '*',
];

/** Headers of one connection: they say nothing to the next. */
const HOP = [
  'Keep-Alive',
  'Proxy-Connection',
  'Proxy-Authenticate',
  'Proxy-Authentication-Info',
  'TE',
  'Trailer',
  'Trailers',
  'Upgrade',
  'HTTP2-Settings',
  'Proxy-Features',
  'Proxy-Status',
];

const BODY = '{"model":"m"}';
const HIDDEN = `GET /v1/smuggled HTTP/1.1\r\n${NAMED}\r\n`;
const posting = (lines: string, body: string): string => `POST /v1/x?v=ID HTTP/1.1\r\n${NAMED}${lines}\r\n${body}`;

/** The cases of the framing tests, for a path that is passed through; what they hide is a request that the key would open. */
const FRAMES = FRAMING_CASES.filter(({ isKept, statuses }) => !isKept && statuses.every((status) => status >= 400)).map(
  ({ what, request }) => ({
    what: `framing: ${what}`,
    isRefused: true,
    bytes: request
      .replace('Host: h\r\n', 'Host: h\r\nX-Provider: openai\r\n')
      .replaceAll('/v1/chat/completions', '/v1/x?v=ID')
      .replaceAll('/livez', '/v1/x?v=ID')
      .replaceAll(`GET ${SMUGGLED} HTTP/1.1\r\nHost: h\r\n\r\n`, HIDDEN),
  }),
);

export const VECTORS: readonly Vector[] = [
  ...each(true, 'path', PATHS, (path) => asking(path)),
  ...FRAMES,
  ...vectors(true, 'credential', {
    none: asking('/v1/x', '', 'Host: h\r\nX-Provider: openai\r\nConnection: close\r\n'),
    'none, but tied to the connection': asking(
      '/v1/x',
      '',
      'Host: h\r\nX-Provider: openai\r\nConnection: authorization, close\r\n',
    ),
    ...Object.fromEntries(
      [
        'Authorization:',
        'Authorization: Bearer',
        'Authorization: Bearer ',
        `Authorization: bearer-${MASTER_KEY}`,
        `Authorization: Basic ${Buffer.from(`:${MASTER_KEY}`).toString('base64')}`,
        `Authorization: Bearer ${MASTER_KEY}x`,
        `Authorization: Bearer ${MASTER_KEY.slice(0, -1)}`,
        `Authorization: Bearer ${MASTER_KEY} x`,
        `Authorization: Bearer x ${MASTER_KEY}`,
        `Authorization: Bearer ${MASTER_KEY}, Bearer x`,
        `Authorization: Bearer "${MASTER_KEY}"`,
        `Authorization: Bearer ${MASTER_KEY.toUpperCase()}`,
        `Proxy-Authorization: Bearer ${MASTER_KEY}`,
        `Cookie: authorization=Bearer ${MASTER_KEY}`,
        `X-Authorization: Bearer ${MASTER_KEY}`,
        `X-Original-Authorization: Bearer ${MASTER_KEY}`,
        `Authentication: Bearer ${MASTER_KEY}`,
        `Authorization_: Bearer ${MASTER_KEY}`,
        `X-Provider-Authorization: Bearer ${MASTER_KEY}`,
      ].map((line) => [
        line.slice(0, 40),
        asking('/v1/x', `${line}\r\n`, 'Host: h\r\nX-Provider: openai\r\nConnection: close\r\n'),
      ]),
    ),
    'in the query': asking(
      `/v1/x?key=${MASTER_KEY}&api_key=${MASTER_KEY}&access_token=${MASTER_KEY}`,
      '',
      'Host: h\r\nX-Provider: openai\r\nConnection: close\r\n',
    ),
    'in the address': `GET http://u:${MASTER_KEY}@h/v1/x?v=ID HTTP/1.1\r\nHost: h\r\nX-Provider: openai\r\nConnection: close\r\n\r\n`,
    'two, the wrong one first': asking(
      '/v1/x',
      '',
      `Host: h\r\nAuthorization: Bearer x\r\n${KEY}X-Provider: openai\r\nConnection: close\r\n`,
    ),
    'for a WebSocket, none': asking(
      '/v1/realtime?model=m',
      'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
      'Host: h\r\nConnection: Upgrade\r\n',
    ),
    'for a WebSocket, among its protocols': asking(
      '/v1/realtime?model=m',
      `Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: realtime, openai-insecure-api-key.${MASTER_KEY}x\r\n`,
      'Host: h\r\nConnection: Upgrade\r\n',
    ),
  }),
  ...each(
    true,
    'provider',
    [
      'anthropic',
      'OPENAI',
      'openai,openai',
      'openai ;',
      'open ai',
      '../openai',
      'http://evil',
      '__proto__',
      'constructor',
      'toString',
      'openai%00',
      '*',
    ],
    (name) => asking('/v1/x', '', `Host: h\r\n${KEY}X-Provider: ${name}\r\nConnection: close\r\n`),
  ),
  ...vectors(true, 'provider', {
    two: asking('/v1/x', 'X-Provider: openai\r\n'),
    'two, another one': asking('/v1/x', 'X-Provider: anthropic\r\n'),
    none: asking('/v1/x', '', `Host: h\r\n${KEY}Connection: close\r\n`),
    'by an underscore': asking('/v1/x', 'X_Provider: openai\r\n', `Host: h\r\n${KEY}Connection: close\r\n`),
    'by a model without an owner': `POST /v1/x?v=ID HTTP/1.1\r\nHost: h\r\n${KEY}Connection: close\r\nContent-Length: 16\r\n\r\n{"model":"none"}`,
    'by two models': `POST /v1/x?v=ID HTTP/1.1\r\nHost: h\r\n${KEY}Connection: close\r\nContent-Length: 25\r\n\r\n{"model":"m","model":"x"}`,
    'by two models, one escaped': `POST /v1/x?v=ID HTTP/1.1\r\nHost: h\r\n${KEY}Connection: close\r\nContent-Length: 30\r\n\r\n{"model":"m","mod\\u0065l":"x"}`,
  }),
  ...vectors(true, 'target', {
    TRACE: `TRACE /v1/x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    CONNECT: `CONNECT h:80 HTTP/1.1\r\n${NAMED}\r\n`,
    'CONNECT to a path': `CONNECT /v1/x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'an unknown method': `HACK /v1/x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'another scheme': `GET ftp://h/v1/x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'a file': `GET file:///etc/passwd?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'no host in the address': `GET http:///v1/x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'one slash': `GET http:/v1/x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'an address with a user': `GET http://u:p@h/v1/x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'two slashes and a host': `GET //evil.example/v1/x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'dots in an address': `GET http://h/v1/../x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'dots before /v1': `GET /x/../v1/x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'a backslash': `GET /v1\\x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'a fragment': `GET /v1/x?v=ID#y HTTP/1.1\r\n${NAMED}\r\n`,
    'a semicolon': `GET /v1;x/y?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    capitals: `GET /V1/x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'an encoded v': `GET /%761/x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'only /v1': `GET /v1?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'a dot first': `GET /./v1/x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'no slash': `GET v1/x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
    'a folded header': asking('/v1/x', 'X-A: 1\r\n Authorization: b\r\n'),
  }),
  ...each(true, 'host', ['a@b', 'a b', 'a/b', 'a:b', 'a\\b', 'a?b', 'a#b', 'h\xfc', '[::1'], (host) =>
    asking('/v1/x', '', `Host: ${host}\r\n${KEY}X-Provider: openai\r\nConnection: close\r\n`),
  ),
  // What follows may be served: once, clean, and nowhere else than at the upstream that is configured.
  ...each(false, 'client credential', CREDENTIAL_NAMES, (name) => asking('/v1/x', `${name}: ${DECOY}\r\n`)),
  ...each(false, 'claim', CLAIMS, (name) => asking('/v1/x', `${name}: ${DECOY}\r\n`)),
  ...each(false, 'connection', TIED, (names) =>
    posting(`Connection: ${names}, x-tied\r\nX-Tied: 1\r\nContent-Length: ${BODY.length}\r\n`, BODY),
  ),
  ...each(false, 'hop', HOP, (name) => asking('/v1/x', `${name}: ${DECOY}\r\n`)),
  ...each(
    false,
    'host',
    ['evil.example', 'evil.example:80', '169.254.169.254', 'localhost:22', '[::1]', '', 'h.', 'h,i'],
    (host) => asking('/v1/x', '', `Host: ${host}\r\n${KEY}X-Provider: openai\r\nConnection: close\r\n`),
  ),
  ...each(
    false,
    'absolute',
    [
      'http://evil.example',
      'https://evil.example:8443',
      'http://169.254.169.254',
      'HTTP://LOCALHOST:1',
      'http://[::1]:80',
    ],
    (origin) => `GET ${origin}/v1/x?v=ID HTTP/1.1\r\n${NAMED}\r\n`,
  ),
  ...vectors(false, 'own key', {
    'and another credential behind it': asking('/v1/x', `Authorization: Bearer ${DECOY}\r\n`),
    'in another header': asking('/v1/x', `X-Copy: ${MASTER_KEY}\r\nX-Echo: token ${MASTER_KEY}\r\n`),
    'among protocols': asking(
      '/v1/realtime?model=m',
      `Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.${DECOY}\r\n`,
    ),
  }),
  ...vectors(false, 'smuggling', {
    'a coding by an underscore': posting(`Transfer_Encoding: chunked\r\nContent-Length: ${BODY.length}\r\n`, BODY),
    'a length by an underscore': posting(`Content_Length: 3\r\nContent-Length: ${BODY.length}\r\n`, BODY),
    h2c: asking(
      '/v1/x',
      'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n',
      NAMED.replace('close', 'Upgrade, HTTP2-Settings'),
    ),
    'an upgrade to something else': asking('/v1/x', 'Upgrade: websocket2\r\n', NAMED.replace('close', 'Upgrade')),
    'a body of GET that is a request': `GET /v1/x?v=ID HTTP/1.1\r\n${NAMED}Content-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
    'a body of DELETE that is a request': `DELETE /v1/x?v=ID HTTP/1.1\r\n${NAMED}Content-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
    'a body in chunks that is a request': posting(
      'Transfer-Encoding: chunked\r\n',
      `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`,
    ),
    'a request after the last': `${asking('/v1/x')}${HIDDEN}`,
    trailers: posting(
      'Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n',
      `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\nAuthorization: Bearer ${DECOY}\r\nX-Provider: anthropic\r\n\r\n`,
    ),
    'an expectation': posting(`Expect: 100-continue\r\nContent-Length: ${BODY.length}\r\n`, BODY),
    'a query of dots': asking('/v1/x?a=../..&b=%2e%2e%2f&c=http://evil.example'),
    'a query of new lines': asking('/v1/x?a=%0d%0aHost:%20evil.example'),
  }),
];
