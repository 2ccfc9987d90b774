import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { atEnd, startHost, temporaryFolder, type TestHost } from '../kit/index.ts';
import { httpCollector } from '../kit/otlp.ts';
import { selfSigned } from '../upstream/certificate.ts';
import { testProxy } from '../upstream/proxy.ts';

/** A secret for each place that holds one. */
const SECRETS = {
  C_KEY: 'sk-canary-of-the-key-0123456789',
  C_SECOND: 'sk-canary-of-the-second-key-456',
  C_HEADER: 'canary-of-a-header-0123456789',
  C_PROXY: 'canary-of-the-proxy-987654321',
};
const IN_FILE = 'sk-canary-of-a-file-5555555555';
const encoded = (text: string): string[] => {
  const forms = [Buffer.from(text), Buffer.from(`u:${text}`)];
  return [
    text,
    ...forms.flatMap((bytes) => [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')]),
  ];
};
const FORMS = [...Object.values(SECRETS), IN_FILE].flatMap(encoded);
const found = (text: string): string[] => FORMS.filter((form) => text.includes(form));

interface Setting {
  /** What the instance has beside its secrets. */
  readonly more: object;
  readonly address: string;
}

const PROXY = { username: 'u', password: '${C_PROXY}' };

/** A proxy that says again what it was sent, in its status line, a header and a body. */
async function echoing(status: number): Promise<Setting> {
  const proxy = await testProxy({
    answer: (head) => {
      const said = head.replaceAll('\r\n', ' | ');
      return `HTTP/1.1 ${status} ${said}\r\nX-Said: ${said}\r\nConnection: close\r\n\r\n${head}`;
    },
  });
  return { address: 'http://vendor.example', more: { proxy: { url: proxy.url, ...PROXY } } };
}

async function rubbish(): Promise<Setting> {
  const proxy = await testProxy({ answer: (head) => `${head}\r\n\r\n` });
  return { address: 'http://vendor.example', more: { proxy: { url: proxy.url, ...PROXY } } };
}

/** A server that no authority has signed. */
async function unsigned(): Promise<string> {
  const server = createServer(selfSigned('127.0.0.1'), (_request, response) => response.end());
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const FAILURES: Readonly<Record<string, (file: string) => Promise<Setting>>> = {
  'a proxy that refuses its password': () => echoing(407),
  'a proxy that fails': () => echoing(502),
  'a proxy that answers with what it was sent': rubbish,
  'a proxy that is not there': async () => ({
    address: 'http://vendor.example',
    more: { proxy: { url: 'http://127.0.0.1:9', ...PROXY } },
  }),
  'a certificate that no authority signed': async () => ({ address: await unsigned(), more: {} }),
  'authorities whose file holds a key': async (file) => ({
    address: await unsigned(),
    more: { tls: { ca_file: file } },
  }),
  'a name that does not resolve': async () => ({ address: 'https://vendor.invalid', more: {} }),
  'a port where nothing listens': async () => ({ address: 'http://127.0.0.1:9', more: {} }),
};

const messages = [{ role: 'user', content: 'hi' }];
const CALLS: readonly (readonly [path: string, body: object])[] = [
  ['/v1/chat/completions', { model: 'm', messages }],
  ['/v1/chat/completions', { model: 'm', messages, stream: true }],
  ['/v1/messages', { model: 'm', messages, max_tokens: 3 }],
  ['/v1/responses', { model: 'm', input: 'hi', store: false }],
  ['/v1/embeddings', { model: 'm', input: 'hi' }],
  ['/v1/anything', { model: 'm' }],
  ['/admin/explain', { request: { model: 'm', messages } }],
];
const SHOWN = [
  '/admin/providers',
  '/admin/providers/catalog',
  '/admin/config',
  '/admin/config/history',
  '/admin/audit',
  '/admin/health',
  '/admin/logs',
  '/health?verbose=true',
  '/readyz',
  '/metrics',
  '/v1/models',
];

function configOf({ address, more }: Setting, file: string): object {
  const one = {
    kind: 'openai',
    base_url: `${address}/v1`,
    discover: true,
    credentials: [
      { name: 'first', api_key: '${C_KEY}' },
      { name: 'second', api_key: '${C_SECOND}' },
      { name: 'third', api_key: `\${file:${file}}` },
    ],
    headers: { 'X-Extra': 'Bearer ${C_HEADER}' },
    ...more,
  };
  return { strategy: { mode: 'fallback' }, providers: { one }, targets: [{ virtual_key: 'one', models: ['m'] }] };
}

async function walk(t: TestHost, config: object): Promise<void> {
  for (const [path, body] of CALLS) {
    const answer = await t.post(path, body);
    expect(found(answer.text + JSON.stringify([...answer.headers])), path).to.deep.equal([]);
  }
  for (const [method, path] of [
    ['PUT', '/admin/config'],
    ['POST', '/admin/config/validate'],
    ['PUT', '/admin/config'],
  ] as const) {
    const answer = await t.request(method, path, { ...config, max_body_size: 1_000_000 });
    expect(found(answer.text), `${method} ${path}`).to.deep.equal([]);
  }
  for (const path of SHOWN) expect(found((await t.get(path)).text), path).to.deep.equal([]);
}

describe('the secrets of an instance whose calls do not leave', () => {
  for (const [name, begin] of Object.entries(FAILURES))
    it(`stand in no answer, line, figure or span: ${name}`, async () => {
      const file = join(await temporaryFolder(), 'key');
      await writeFile(file, IN_FILE);
      const [setting, collector] = await Promise.all([begin(file), httpCollector()]);
      const tracing = { endpoint: collector.url, protocol: 'http/protobuf' };
      const config = { ...configOf(setting, file), observability: { tracing } };
      const t = await startHost(config, {
        variables: {
          ...SECRETS,
          GW_SECRET_DIRS: dirname(file),
        },
      });
      await walk(t, config);
      await t.close();
      for (const text of t.texts) expect(found(text), text).to.deep.equal([]);
      expect(found(JSON.stringify(t.samples)), 'figures').to.deep.equal([]);
      const spans = JSON.stringify(collector.spans, (_key, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
      expect(collector.spans.length, 'spans').to.be.above(0);
      expect(found(spans), 'spans').to.deep.equal([]);
      expect(
        t.lines.some(({ msg }) => msg === 'request failed'),
        'something failed',
      ).to.equal(true);
    });
});
