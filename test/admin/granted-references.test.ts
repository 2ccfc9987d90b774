import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { decodeText } from '../../host/config/decode.ts';
import type { GatewayConfig } from '../../host/config/document.ts';
import { Allowances } from '../../host/config/grants/allowances.ts';
import { knownGrants } from '../../host/config/grants/known-grants.ts';
import { refusedReferences } from '../../host/config/grants/reference-rules.ts';
import { ROOT } from '../cli/commands.ts';
import { cases, Dice, some, startHost, type TestHost } from '../kit/index.ts';
import { readEnvironment } from '../../host/environment/settings.ts';

const BASE = { strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo' }] };

const webhook = (config: object, more: object = {}): object => ({
  name: 'webhook',
  stage: 'before_request',
  enabled: true,
  ...more,
  config,
});
const GUARD = webhook({ url: 'https://guard.example/check', headers: { authorization: 'Bearer ${GUARD_TOKEN}' } });
const TOOLS = { name: 'tools', url: 'https://tools.example/${TOOLS_PATH}/mcp', headers: { 'x-key': '${TOOLS_KEY}' } };
const OWN_SERVICE = { kind: 'openai', base_url: 'https://llm.example/v1', api_key: '${LLM_KEY}' };
const FILE = {
  ...BASE,
  plugins: [GUARD],
  mcp_servers: [TOOLS],
  providers: { own: OWN_SERVICE },
  observability: { tracing: { enabled: true, endpoint: 'https://trace.example', headers: { a: '${TRACE_KEY}' } } },
};
const SET = {
  GUARD_TOKEN: 'guard-value',
  TOOLS_PATH: 'tools-value',
  TOOLS_KEY: 'tools-key-value',
  LLM_KEY: 'llm-value',
  TRACE_KEY: 'trace-value',
  FOO: 'foo-value',
};

const start = (variables: Record<string, string> = {}, config: object = FILE, more: object = {}): Promise<TestHost> =>
  startHost(config, { variables: { GW_ADMIN_STDIO: 'true', ...SET, ...variables }, ...more });

/** What is said of the document, without lines, or `accepted`. */
async function saidOf(t: TestHost, document: object): Promise<readonly string[]> {
  const answer = await t.post('/admin/config/validate', document);
  if (answer.status === 200) return ['accepted'];
  return String(answer.json().error.message)
    .split('\n')
    .map((line) => line.replace(/ \(line \d+\)$/, ''));
}

const isAccepted = async (t: TestHost, document: object): Promise<boolean> => {
  const said = await saidOf(t, document);
  if (said[0] === 'accepted') return true;
  expect(
    said.every((line) => line.includes('BV31')),
    said.join('\n'),
  ).to.equal(true);
  return false;
};

const plugins = (...entries: object[]): object => ({ ...BASE, plugins: entries });
const guardAt = (url: string, more: object = {}): object =>
  plugins(webhook({ url, headers: { authorization: 'Bearer ${GUARD_TOKEN}' }, ...more }));

describe('a reference in a configuration that the admin API writes', () => {
  it('goes where the file sends it, and nowhere else', async () => {
    const t = await start();
    expect(await saidOf(t, FILE)).to.deep.equal(['accepted']);
    expect(await isAccepted(t, guardAt('https://guard.example/check', { timeout: '5s' }))).to.equal(true);
    expect(await isAccepted(t, guardAt('https://GUARD.example:443/other'))).to.equal(true);
    expect(await saidOf(t, guardAt('https://evil.example/'))).to.deep.equal([
      'plugins[0].config.headers.authorization: BV31: ${GUARD_TOKEN} may not be sent to https://evil.example by a configuration that the admin API writes; fix: keep it at https://guard.example, write it into the configuration file, or list GUARD_TOKEN in GW_CONFIG_ENV',
    ]);
    const unknown = webhook({ url: 'https://guard.example/', headers: { a: '${FOO}', b: '${NOT_SET}' } });
    expect(await saidOf(t, plugins(unknown))).to.deep.equal(
      ['a: BV31: ${FOO}', 'b: BV31: ${NOT_SET}'].map(
        (what) =>
          `plugins[0].config.headers.${what} is not a variable that a configuration written by the admin API may use; fix: write it into the configuration file, or list ${/\{(\w+)\}/.exec(what)?.[1]} in GW_CONFIG_ENV`,
      ),
    );
  });

  it('is held against the address as upstream calls read it', async () => {
    const t = await start();
    for (const url of [
      'https://guard.example.evil.example/',
      'https://guard.example:8443/',
      'http://guard.example/',
      'https://guard.example./',
      'https://guard.example@evil.example/',
      'https://evil.example\\@guard.example/',
      'https://[::1]/',
      'https://xn--gurd-5na.example/',
      'https://gu\u0430rd.example/',
      'https://${FOO}.guard.example/',
      'https://guard.example${FOO}/',
      '${GUARD_TOKEN}',
      'https://${GUARD_TOKEN}.evil.example/',
    ]) {
      const said = await saidOf(t, guardAt(url));
      expect(said.join('\n'), url).to.not.equal('accepted');
    }
  });

  it('is known by the kind of its place: in another one it is a new one', async () => {
    const t = await start();
    for (const document of [
      { ...BASE, mcp_servers: [{ name: 'x', url: 'https://guard.example/', headers: { a: '${GUARD_TOKEN}' } }] },
      plugins({
        name: 'word-filter',
        stage: 'before_request',
        enabled: true,
        config: { blocked_words: ['${GUARD_TOKEN}'] },
      }),
      plugins(webhook({ url: 'https://tools.example/', headers: { a: '${TOOLS_KEY}' } })),
      { ...BASE, mcp_servers: [{ name: 'x', command: '/bin/true', env: { A: '${TOOLS_KEY}' } }] },
      { ...BASE, observability: { tracing: { headers: { a: '${TRACE_KEY}' } } } },
      { ...BASE, observability: { tracing: { endpoint: 'https://evil.example', headers: { a: '${TRACE_KEY}' } } } },
      { ...BASE, observability: { exporters: [{ name: 'x', enabled: true, config: { a: '${TRACE_KEY}' } }] } },
      { ...BASE, providers: { own: { ...OWN_SERVICE, base_url: 'https://evil.example/v1' } } },
      { ...BASE, providers: { own: { ...OWN_SERVICE, proxy: { url: 'http://evil.example:3128' } } } },
      { ...BASE, providers: { own: { ...OWN_SERVICE, kind: 'groq' } } },
      { ...BASE, providers: { own: { ...OWN_SERVICE, headers: { 'x-token': '${FOO}' } } } },
      {
        ...BASE,
        providers: { own: { kind: 'openai', base_url: 'https://llm.example/v1', api_key: '${file:/run/secrets/x}' } },
      },
    ])
      expect(await isAccepted(t, document), JSON.stringify(document)).to.equal(false);
    expect(await isAccepted(t, { ...BASE, providers: { other: { ...OWN_SERVICE, models: ['a'] } } })).to.equal(true);
    expect(await isAccepted(t, { ...BASE, mcp_servers: [{ ...TOOLS, name: 'b', timeout_seconds: 9 }] })).to.equal(true);
  });

  it('may be the own variable of a provider that is shipped, at its own addresses', async () => {
    const t = await start({ GROQ_BASE_URL: 'https://groq.proxy.example/v1' }, BASE);
    const groq = (more: object): object => ({
      ...BASE,
      providers: { g: { kind: 'groq', api_key: '${GROQ_API_KEY}', ...more } },
    });
    expect(await isAccepted(t, groq({}))).to.equal(true);
    expect(await isAccepted(t, groq({ base_url: 'https://groq.proxy.example/other' }))).to.equal(true);
    expect(await isAccepted(t, groq({ base_url: 'https://evil.example/' }))).to.equal(false);
    expect(await isAccepted(t, groq({ api_key: '${OPENAI_API_KEY}' }))).to.equal(false);
    const bedrock = (region: string): object => ({
      ...BASE,
      providers: {
        b: {
          kind: 'bedrock',
          settings: { region },
          access_key_id: '${AWS_ACCESS_KEY_ID}',
          secret_access_key: '${AWS_SECRET_ACCESS_KEY}',
        },
      },
    });
    const here = await start({ AWS_REGION: 'eu-central-1' }, BASE);
    expect(await isAccepted(here, bedrock('eu-central-1'))).to.equal(true);
    expect(await isAccepted(here, bedrock('us-west-2'))).to.equal(false);
  });

  it('is looked for where it is switched on: what is off is accepted, gives no right, and is refused when it is switched on', async () => {
    const t = await start();
    const evil = { url: 'https://evil.example/', headers: { a: '${OPENAI_API_KEY}' } };
    const off = plugins(webhook(evil, { enabled: false }));
    expect((await t.request('PUT', '/admin/config', off)).status).to.equal(200);
    expect(await isAccepted(t, plugins(webhook(evil)))).to.equal(false);
    expect(await isAccepted(t, plugins(webhook(evil, { enabled: false }), webhook(evil)))).to.equal(false);
  });

  it('stays written where it runs, and follows what runs', async () => {
    const t = await start({ GW_CONFIG_ENV: 'FOO@new.example' });
    const more = webhook({ url: 'https://new.example/', headers: { a: '${FOO}' } });
    expect((await t.request('PUT', '/admin/config', plugins(GUARD, more))).status).to.equal(200);
    expect((await t.request('PUT', '/admin/config', plugins(more, GUARD))).status).to.equal(200);
    expect((await t.request('PUT', '/admin/config', BASE)).status).to.equal(200);
    expect(await isAccepted(t, plugins(GUARD)), 'the file still says so').to.equal(true);
    expect((await t.post('/admin/config/rollback/1', undefined)).status).to.equal(200);
  });

  it('is accepted in a plugin of others only where each text stands as it stood', () => {
    const modules = { providers: new Map(), isShippedPlugin: (name: string) => name !== 'other' };
    const config = (name: string, settings: object): GatewayConfig => {
      const text = JSON.stringify({
        ...BASE,
        plugins: [{ name, stage: 'before_request', enabled: true, config: settings }],
      });
      const decoded = decodeText(text, 'json').config;
      expect(decoded).not.to.equal(undefined);
      return decoded as GatewayConfig;
    };
    const known = { send_to: 'one.example', or_to: 'two.example', key: '${FOO}', size: 1 };
    const rulesOf = (name: string, settings: object): readonly string[] =>
      refusedReferences(config(name, settings), {
        running: undefined,
        modules,
        grants: knownGrants({ configurations: [config(name, known)], modules, shipped: [], variables: {} }),
        allowances: new Allowances([]),
      }).map(({ rule }) => rule);
    for (const [name, expected] of [
      ['other', ['BV31']],
      ['shipped', []],
    ] as const) {
      expect(rulesOf(name, { ...known, size: 2 }), name).to.deep.equal([]);
      expect(rulesOf(name, { ...known, send_to: 'two.example' }), name).to.deep.equal(expected);
      expect(rulesOf(name, { ...known, send_to: 'evil.example' }), name).to.deep.equal(expected);
      expect(rulesOf(name, { ...known, send_to: '${FOO}' }), name).to.have.length(expected.length * 2);
    }
  });

  it('is refused with all others at once, by every route that takes a configuration, and leaves one row for a write', async () => {
    const t = await start();
    const document = { ...guardAt('https://evil.example/'), mcp_servers: [{ ...TOOLS, url: 'https://evil.example/' }] };
    for (const [method, path] of [
      ['PUT', '/admin/config'],
      ['POST', '/admin/config'],
      ['POST', '/admin/config/diff'],
      ['POST', '/admin/config/validate'],
    ] as const) {
      const answer = await t.request(method, path, document);
      expect([answer.status, answer.json().error?.code], path).to.deep.equal([400, 'invalid_config']);
      expect(answer.text.match(/BV31/g), path).to.have.length(2);
    }
    const etag = (await t.get('/admin/config')).headers.get('etag') ?? '';
    const patch = await t.request(
      'PATCH',
      '/admin/config',
      [{ op: 'replace', path: '/mcp_servers/0/url', value: 'https://evil.example/' }],
      { 'if-match': etag, 'content-type': 'application/json-patch+json' },
    );
    expect([patch.status, patch.text]).to.satisfy(
      ([status, text]: [number, string]) => status === 400 && text.includes('BV31'),
    );
    const rows = (await t.get('/admin/audit')).json().data as { outcome: string; detail: string }[];
    const denied = rows
      .filter(({ outcome }) => outcome === 'denied')
      .map(({ detail }) => JSON.parse(detail) as unknown);
    expect(denied.map((one) => (one as { field: string }).field)).to.deep.equal([
      'mcp_servers[0].headers.x-key',
      'plugins[0].config.headers.authorization',
      'plugins[0].config.headers.authorization',
    ]);
    for (const one of denied) expect(one).to.include({ reason: 'secret_reference' });
    for (const value of Object.values(SET)) expect(t.texts.join('')).not.to.include(value);
  });
});

describe('GW_CONFIG_ENV', () => {
  it('lets references through by name, prefix, host, port and file', async () => {
    const t = await start({
      GW_CONFIG_ENV: ' FOO , HOOK_*@hooks.example,PORT_KEY@ports.example:8443,, file:/run/secrets/a ,MASTER_KEY',
      HOOK_A: 'a',
      PORT_KEY: 'p',
    });
    const to = (url: string, text: string): object => plugins(webhook({ url, headers: { a: text } }));
    for (const [url, text, expected] of [
      ['https://any.example/', '${FOO}', true],
      ['https://any.example/', '${FOO_2}', false],
      ['https://hooks.example/', '${HOOK_A}', true],
      ['http://HOOKS.example:81/', '${HOOK_NOT_SET}', true],
      ['https://any.example/', '${HOOK_A}', false],
      ['https://ports.example:8443/', '${PORT_KEY}', true],
      ['https://ports.example/', '${PORT_KEY}', false],
    ] as const)
      expect(await isAccepted(t, to(url, text)), `${url} ${text}`).to.equal(expected);
    const filter = { name: 'word-filter', stage: 'before_request', enabled: true };
    expect(await isAccepted(t, plugins({ ...filter, config: { blocked_words: ['${FOO}'] } }))).to.equal(true);
    expect(await isAccepted(t, plugins({ ...filter, config: { blocked_words: ['${HOOK_A}'] } }))).to.equal(false);
    const instance = (path: string): object => ({
      ...BASE,
      providers: { p: { kind: 'openai', base_url: 'https://any.example/v1', api_key: `\${file:${path}}` } },
    });
    expect(await isAccepted(t, instance('/run/secrets/a'))).to.equal(true);
    expect(await isAccepted(t, instance('/run/secrets/b'))).to.equal(false);
    expect((await saidOf(t, to('https://any.example/', '${MASTER_KEY}'))).join()).to.include('BV30');
  });

  it('stops the start where it cannot be read, and is warned of where it does nothing', () => {
    const notes = (text: string): string[] =>
      readEnvironment({ GW_CONFIG_ENV: text, GOOD: 'x', A_DSN: 'y' }).notes.map(
        ({ level, rule, message }) => `${level} ${rule ?? ''} ${message}`,
      );
    for (const text of [
      '*',
      '@host',
      'A*B',
      '${A}',
      'A B',
      'file:relative',
      'A@',
      'A@h:0x1',
      'A@h/p',
      'A@u@h',
      'A@h:99999',
      '9A',
    ])
      expect(
        notes(text).filter((note) => note.startsWith('fatal')),
        text,
      ).to.have.length(1);
    for (const text of ['', ' , ', 'GOOD', 'GO*', 'GOOD@[::1]:80,GOOD@a.b-c.example', 'file:/a/b@host'])
      expect(notes(text), text).to.deep.equal([]);
    for (const text of ['MASTER_KEY', 'A_*', 'A_DSN', 'NOT_SET', 'NOT_*'])
      expect(notes(text).join(), text).to.match(/^warn WN34 /);
  });
});

/** Texts of a document with where they stand. */
function leavesOf(
  value: unknown,
  at: readonly (string | number)[] = [],
): { at: readonly (string | number)[]; text: string }[] {
  if (typeof value === 'string') return [{ at, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    leavesOf(member, [...at, Array.isArray(value) ? Number(key) : key]),
  );
}

function withText(document: object, at: readonly (string | number)[], text: string): object {
  const copy = structuredClone(document);
  let place: any = copy;
  for (const part of at.slice(0, -1)) place = place[part];
  place[at.at(-1) as string] = text;
  return copy;
}

describe('a hostile key of the admin API', () => {
  it('has no variable of the environment read by any field of the configuration', async function walked() {
    this.timeout(120_000);
    const value = 'plain-canary-4711';
    const example = parse(readFileSync(join(ROOT, 'config.example.yaml'), 'utf8')) as Record<string, any>;
    // Nothing of it reaches out of this machine: the addresses are of a closed port.
    const closed = JSON.parse(
      JSON.stringify(example).replaceAll(/https?:\/\/[^/"\s]+/g, 'https://127.0.0.1:9'),
    ) as Record<string, any>;
    closed['mcp_servers'] = closed['mcp_servers'].filter(
      (server: { command?: string }) => server.command === undefined,
    );
    closed['modules'] = [];
    delete closed['identity']; // no write may hold it
    const t = await startHost(closed, {
      isLenient: true,
      variables: { COLOUR: value, POLICY_TOKEN: 'x', OPENAI_API_KEY: 'sk-x', GW_ADMIN_STDIO: 'true' },
    });
    const leaves = leavesOf(closed);
    expect(leaves.length).to.be.greaterThan(150);
    let accepted = 0;
    let refused = 0;
    for (const { at, text } of some(leaves, { every: 17 })) {
      for (const put of ['${COLOUR}', text.includes('://') ? `${text}/\${COLOUR}` : `Bearer \${COLOUR}`]) {
        const answer = await t.request('PUT', '/admin/config', withText(closed, at, put));
        if (answer.status === 200) accepted += 1;
        else refused += 1;
        expect(answer.status, `${at.join('.')} ${answer.text}`).to.be.oneOf([200, 400]);
        // Whatever takes the place of a reference is registered with the redactor first.
        expect(t.host.redactor.redact(`see ${value} here`), at.join('.')).to.include(value);
        expect(answer.text).not.to.include(value);
      }
    }
    expect(accepted, 'names and patterns are plain text').to.be.greaterThan(3);
    expect(refused).to.be.greaterThan(3);
    expect((await t.get('/admin/config')).text).not.to.include(value);
    expect(t.texts.join('')).not.to.include(value);
  });

  it('sends no reference to an address to which neither the file, what runs, nor the list sends it', async () => {
    const names = ['GUARD_TOKEN', 'TOOLS_KEY', 'FOO', 'LLM_KEY', 'LISTED'];
    const hosts = ['guard.example', 'tools.example', 'llm.example', 'listed.example', 'evil.example'];
    const t = await start({ GW_CONFIG_ENV: 'LISTED@listed.example', LISTED: 'l' });
    /** Every name that stands in one block with an address: what could be sent there. */
    const pairs = (document: unknown): Set<string> => {
      const found = new Set<string>();
      const { plugins: list = [], mcp_servers: servers = [], providers = {} } = document as Record<string, any>;
      for (const [kind, block] of [
        ...list.filter((one: any) => one.enabled).map((one: any) => ['plugin', one]),
        ...servers.map((one: any) => ['mcp', one]),
        ...Object.values(providers).map((one) => ['provider', one]),
      ] as [string, object][]) {
        const text = JSON.stringify(block);
        for (const name of names)
          for (const host of hosts)
            if (text.includes(`\${${name}}`) && text.includes(`//${host}`)) found.add(`${kind} ${name} ${host}`);
      }
      return found;
    };
    const may = pairs(FILE);
    for (const kind of ['plugin', 'mcp', 'provider']) may.add(`${kind} LISTED listed.example`);
    const dice = new Dice(46);
    let accepted = 0;
    for (let at = 0; at < cases(1200); at += 1) {
      const url = (): string => `https://${dice.pick(hosts)}/x`;
      const text = (): string => `\${${dice.pick(names)}}`;
      const document = {
        ...BASE,
        plugins: dice.below(2) ? [webhook({ url: url(), headers: { a: text() } }, { enabled: dice.below(4) > 0 })] : [],
        mcp_servers: dice.below(2) ? [{ name: 'a', url: url(), headers: { a: dice.below(2) ? text() : 'b' } }] : [],
        providers: dice.below(2)
          ? {
              p: {
                kind: 'openai',
                base_url: url(),
                api_key: text(),
                ...(dice.below(4) === 0 && { proxy: { url: url() } }),
              },
            }
          : {},
      };
      if (!(await isAccepted(t, document))) continue;
      accepted += 1;
      expect(
        [...pairs(document)].filter((pair) => !may.has(pair)),
        JSON.stringify(document),
      ).to.deep.equal([]);
    }
    expect(accepted).to.be.greaterThan(0);
  });
});
