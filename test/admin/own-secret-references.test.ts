import { expect } from 'chai';
import { referencePlaces } from '../../host/config/grants/reference-places.ts';
import { MASTER_KEY, startHost, type TestHost } from '../kit/index.ts';

const BASE = { strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo' }] };

const OWN = [
  'MASTER_KEY',
  'GW_API_KEY',
  'GW_STATE_URL',
  'GW_SEAL_KEY',
  'API_KEY_STORE_DSN',
  'CONFIG_STORE_DSN',
  'REQUEST_LOG_STORE_DSN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OIDC_CLIENT_SECRET',
  'ADMIN_BOOTSTRAP_KEY',
];

/** Each kind of place, with one text of it. */
const PLACES: Readonly<Record<string, (text: string) => object>> = {
  'plugins[0].config.words[1].deep': (text) => ({
    plugins: [
      { name: 'word-filter', stage: 'before_request', enabled: true, config: { words: ['a', { deep: text }] } },
    ],
  }),
  'mcp_servers[0].url': (text) => ({ mcp_servers: [{ name: 'a', url: `https://mcp.example/${text}` }] }),
  'mcp_servers[0].headers.authorization': (text) => ({
    mcp_servers: [{ name: 'a', url: 'https://mcp.example', headers: { authorization: text } }],
  }),
  'mcp_servers[0].env.A': (text) => ({ mcp_servers: [{ name: 'a', command: '/bin/true', env: { A: text } }] }),
  'observability.tracing.headers.a': (text) => ({
    observability: { tracing: { endpoint: 'https://trace.example', headers: { a: text } } },
  }),
  'observability.exporters[0].config.a': (text) => ({
    observability: { exporters: [{ name: 'x', enabled: true, config: { a: text } }] },
  }),
};

const refusal = (path: string, name: string): string =>
  `${path}: BV30: \${${name}} is a secret of the gateway itself, and no configuration that the admin API writes may use it; fix: use a variable of its own, or write it into the configuration file`;

const start = (config: object = BASE): Promise<TestHost> =>
  startHost(config, { variables: { GW_ADMIN_STDIO: 'true' } });

const messageOf = (answer: { json(): any }): string => String(answer.json().error?.message ?? '');

describe('secrets of the gateway in a configuration that the admin API writes', () => {
  for (const [path, make] of Object.entries(PLACES))
    it(`are refused in ${path}, whichever they are and whether they are set or not`, async () => {
      const t = await start();
      for (const name of OWN.flatMap((each) => [each, `${each}_FILE`]))
        for (const text of [`\${${name}}`, `Bearer x\${${name}}y`]) {
          const body = { ...BASE, ...make(text) };
          const answer = await t.request('PUT', '/admin/config', body);
          expect([answer.status, answer.json().error?.code], `${text} ${answer.text}`).to.deep.equal([
            400,
            'invalid_config',
          ]);
          const said = messageOf(answer).split('\n');
          expect(said.map((line) => line.replace(/ \(line \d+\)$/, ''))).to.include(refusal(path, name));
        }
      const names = ['MASTER_KEYS', 'master_key', 'MY_DSN_2', 'X_MASTER_KEY'];
      for (const name of names) {
        const answer = await t.request('PUT', '/admin/config', { ...BASE, ...make(`\${${name}}`) });
        expect(answer.text).not.to.include('BV30');
      }
    });

  it('are refused by every route that takes a configuration, and the trail has the writes alone', async () => {
    const t = await start();
    const [path = '', make] = Object.entries(PLACES)[2] ?? [];
    const body = { ...BASE, ...make?.('Bearer ${MASTER_KEY}') };
    for (const [method, route] of [
      ['PUT', '/admin/config'],
      ['POST', '/admin/config'],
      ['POST', '/admin/config/diff'],
      ['POST', '/admin/config/validate'],
    ] as const) {
      const answer = await t.request(method, route, body);
      expect(answer.text, `${method} ${route}`).to.include('BV30').and.not.include(MASTER_KEY);
    }
    const rows = (await t.get('/admin/audit')).json().data as { action: string; outcome: string; detail: string }[];
    const denied = rows.filter(({ outcome }) => outcome === 'denied');
    expect(denied.map(({ action, detail }) => [action, JSON.parse(detail) as unknown])).to.deep.equal(
      denied.map(({ action }) => [action, { field: path, reason: 'secret_reference' }]),
    );
    expect(denied).to.have.length(2);
  });

  it('may stand in a file, stay as they are in a write, and not be changed by one', async () => {
    const server = { name: 'a', url: 'https://mcp.example', headers: { authorization: 'Bearer ${GW_API_KEY}' } };
    const t = await start({ ...BASE, mcp_servers: [server] });
    const write = (servers: readonly object[]) => t.request('PUT', '/admin/config', { ...BASE, mcp_servers: servers });
    const other = { name: 'b', url: 'https://other.example' };
    expect((await write([other, server])).status).to.equal(200);
    expect(messageOf(await write([{ ...server, url: 'https://evil.example' }, other]))).to.include('BV30');
    expect(messageOf(await write([server, { ...server, name: 'c' }]))).to.include(
      'mcp_servers[1].headers.authorization: BV30',
    );
    expect((await write([server])).status).to.equal(200);
  });

  it('are plain text where nothing is replaced: names, and what is switched off', async () => {
    const t = await start();
    const off = { name: 'word-filter', stage: 'before_request', enabled: false, config: { words: ['${MASTER_KEY}'] } };
    const answer = await t.request('PUT', '/admin/config', {
      ...BASE,
      plugins: [off],
      aliases: { '${MASTER_KEY}': 'm' },
      observability: { tracing: { enabled: false, headers: { a: '${MASTER_KEY}' } } },
    });
    expect(answer.text).not.to.include('BV30');
    expect(answer.status).to.equal(200);
    const on = await t.request('PUT', '/admin/config', { ...BASE, plugins: [{ ...off, enabled: true }] });
    expect(messageOf(on)).to.include('plugins[0].config.words[0]: BV30');
  });

  it('are looked for in every place that the code resolves', async () => {
    const t = await start();
    const modules = { providers: new Map(), isShippedPlugin: () => true };
    const all = Object.values(PLACES).map((make) => make('x'));
    const found = all.flatMap((part) => {
      const config = t.host.current?.config;
      return config ? referencePlaces({ ...config, observability: {}, ...part }, modules) : [];
    });
    expect(found).to.have.length(all.length);
  });
});
