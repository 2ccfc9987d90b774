import { expect } from 'chai';
import type { Description } from 'joi';
import { configSchema } from '../../host/config/schema/config-schema.ts';
import { blocksOf, describedAt, keysOf, otherKeysOf } from '../../host/config/schema/schema-walk.ts';
import { showingOf } from '../../host/config/schema/showing.ts';
import { setMember } from '../../host/contract/index.ts';
import { type Answer, some } from '../kit/index.ts';
import { type AdminHost, ECHO, startAdmin } from './kit.ts';

/** Variables that references of this file name: they may be sent anywhere. */
const GW_CONFIG_ENV = 'A,B,T,URL,TOKEN,MCP_TOKEN,FINE,PLANTED_NAME';

type Step = string | number;

/** Every field of the schema that holds text, and every map. */
function fields(
  description: Description = configSchema.describe(),
  at: readonly Step[] = [],
): { at: readonly Step[]; kind: 'text' | 'list' | 'map'; isWithheld: boolean }[] {
  const keys = keysOf(description);
  if (keys.length > 0) {
    const all = otherKeysOf(description) ? [...keys, 'session_token'] : keys;
    return all.flatMap((key) => fields(describedAt(description, [key]), [...at, key]));
  }
  const block = blocksOf(description);
  if (block) return fields(block, [...at, 'own']);
  const item = describedAt(description, [0]);
  if (item)
    return keysOf(item).length > 0
      ? fields(item, [...at, 0])
      : item.type === 'any'
        ? [{ at, kind: 'list', isWithheld: false }]
        : [];
  const isWithheld = showingOf(description).as === 'withheld' || /settings/.test(showingOf(description).as ?? '');
  if (description.type === 'object') return [{ at, kind: 'map', isWithheld }];
  return description.type === 'any' ? [{ at, kind: 'text', isWithheld: false }] : [];
}

/** A document that holds this value there and is otherwise as plain as can be. */
function documentWith(at: readonly Step[], value: unknown): Record<string, unknown> {
  const document: any = { targets: [{ virtual_key: 'echo' }] };
  let place = document;
  for (const [index, step] of at.entries()) {
    const isLast = index === at.length - 1;
    if (isLast) setMember(place, String(step), value);
    else {
      place[step] ??= typeof at[index + 1] === 'number' ? [] : {};
      place = place[step];
    }
  }
  for (const instance of Object.values<any>(document.providers ?? {})) {
    instance.kind ??= 'openai-compatible';
    instance.base_url ??= 'http://localhost:1/v1';
    for (const [index, credential] of (instance.credentials ?? []).entries()) credential.name ??= `c${index}`;
  }
  for (const server of document.mcp_servers ?? []) {
    server.name ??= 'a';
    if (!server.command) server.url ??= 'http://a';
  }
  for (const plugin of document.plugins ?? []) {
    plugin.name ??= 'unknown';
  }
  return document;
}

const KNOWN = 'planted+known/credential=1';
const SHAPED = 'sk-plantedplantedplanted1234';
const PLAIN = 'planted-and-of-no-shape';
const NAME = 'PLANTED_NAME';

function withSecret(kind: string, isWithheld: boolean): unknown[] {
  const texts = [SHAPED, KNOWN, `https://user:${PLAIN}@host/p?a=${PLAIN}&b=\${FINE}#c`];
  if (kind === 'text') return texts;
  if (kind === 'list') return texts.map((text) => [text]);
  if (!isWithheld) return texts.map((text) => ({ name: text }));
  return [{ [NAME]: PLAIN }, { [NAME]: `Bearer \${${NAME}}` }, { [SHAPED]: 'x', [NAME]: '' }];
}

const secrets = new RegExp([PLAIN, NAME, SHAPED, RegExp.escape(KNOWN), '7654321'].join('|'), 'i');

async function everything(t: AdminHost): Promise<string> {
  const answers: Answer[] = [
    await t.get('/admin/config'),
    await t.get('/admin/config/history'),
    await t.get('/admin/audit?limit=200'),
  ];
  const lines = t.texts.filter((text) => !text.includes('are not set: ') && !text.includes('is not set: ')); // these name the variable that a server lacks
  return [...answers.map(({ text }) => text), ...lines].join('\n');
}

describe('a secret in a configuration', () => {
  for (const { at, kind, isWithheld } of some(fields())) {
    it(`is never shown: ${at.join('.')}`, async () => {
      const t = await startAdmin({ variables: { PLANTED_API_KEY: KNOWN, GW_ADMIN_STDIO: 'true', GW_CONFIG_ENV } });
      for (const value of withSecret(kind, isWithheld)) {
        const document = documentWith(at, value);
        for (const [method, path] of [
          ['POST', '/admin/config/validate'],
          ['POST', '/admin/config/diff'],
          ['PUT', '/admin/config'],
          ['PUT', '/admin/config'],
        ] as const) {
          const answer = await t.request(method, path, document);
          expect(answer.status, answer.text).to.be.oneOf([200, 400]);
          expect(answer.text, `${method} ${path}`).not.to.match(secrets);
        }
        await t.request('POST', '/admin/config/rollback/1');
      }
      expect(await everything(t)).not.to.match(secrets);
    });
  }

  it('is never shown at any depth of a free map, numbers too, and however often it changes', async () => {
    const t = await startAdmin({ variables: { GW_CONFIG_ENV } });
    const free = (more: object = {}): object => ({
      [NAME]: { [`${NAME}2`]: [PLAIN, { [`${NAME}3`]: 7654321 }], [`${NAME}4`]: null, [`${NAME}5`]: true },
      ...more,
    });
    for (const more of [{}, { a: 1 }]) {
      const sent = {
        ...ECHO,
        plugins: [
          { name: 'unknown', enabled: false, config: free(more) },
          { name: 'word-filter', enabled: false, config: free({ blocked_words: ['shown'] }) },
        ],
        observability: { exporters: [{ name: 'e', config: free(more) }] },
      };
      expect((await t.post('/admin/config/diff', sent)).text).not.to.match(secrets);
      expect((await t.request('PUT', '/admin/config', sent)).status).to.equal(200);
    }
    const {
      plugins,
      observability: { exporters },
    } = (await t.get('/admin/config')).json();
    const inner = {
      '[REDACTED_KEY_0]': ['[REDACTED]', { '[REDACTED_KEY_0]': '[REDACTED]' }],
      '[REDACTED_KEY_1]': null,
      '[REDACTED_KEY_2]': '[REDACTED]',
    };
    expect(plugins[0].config).to.deep.equal({ '[REDACTED_KEY_0]': inner, '[REDACTED_KEY_1]': '[REDACTED]' });
    expect(plugins[1].config).to.deep.equal({ blocked_words: ['shown'], '[REDACTED_KEY_0]': inner });
    expect(exporters[0].config).to.deep.equal(plugins[0].config);
    expect(await everything(t)).not.to.match(secrets);
  });

  it('leaves the running configuration as it is', async () => {
    const t = await startAdmin({ variables: { GW_CONFIG_ENV } });
    const sent = documentWith(['mcp_servers', 0, 'headers'], { a: 'Bearer abc' });
    await t.request('PUT', '/admin/config', sent);
    await t.get('/admin/config');
    expect(t.host.applier.running.document).to.deep.equal(sent);
    expect(t.host.current?.config.mcp_servers[0]?.headers).to.deep.equal({ a: 'Bearer abc' });
  });
});

describe('how the texts of a configuration are shown', () => {
  const shown = async (at: readonly Step[], value: unknown): Promise<unknown> => {
    const t = await startAdmin({ variables: { GW_ADMIN_STDIO: 'true', GW_CONFIG_ENV } });
    const answer = await t.request('PUT', '/admin/config', documentWith(at, value));
    expect(answer.status, answer.text).to.equal(200);
    return at.reduce((place: any, step) => place[step], (await t.get('/admin/config')).json());
  };
  const URL_PLACE = ['mcp_servers', 0, 'url'];
  const rows: readonly (readonly [at: readonly Step[], sent: unknown, shown: unknown])[] = [
    [URL_PLACE, 'https://h/p?token=abc', 'https://h/p?token=[REDACTED]'],
    [URL_PLACE, 'https://h/p?token=${T}', 'https://h/p?token=${T}'],
    [URL_PLACE, 'https://u:pw@h:4318', 'https://u:[REDACTED]@h:4318'],
    [URL_PLACE, 'https://api.example.com/v1', 'https://api.example.com/v1'],
    [URL_PLACE, 'https://user@host.example.com/v1', 'https://user@host.example.com/v1'],
    [
      URL_PLACE,
      'https://h/p?b=1&a=${A}&flag&c=Bearer%20${B}&d=',
      'https://h/p?b=[REDACTED]&a=${A}&flag&c=[REDACTED]&d=',
    ],
    [URL_PLACE, '${URL}', '${URL}'],
    [URL_PLACE, 'https://u:p/w@h/x', 'https://u:[REDACTED]@h/x'],
    [['observability', 'tracing', 'service_name'], 'mail me@example.com', 'mail [REDACTED_EMAIL]'],
    [
      ['mcp_servers', 0, 'headers'],
      { Authorization: '${MCP_TOKEN}', b: 'Bearer ${TOKEN}', C: '' },
      { '[REDACTED_KEY_0]': '${MCP_TOKEN}', '[REDACTED_KEY_1]': '', '[REDACTED_KEY_2]': '[REDACTED]' },
    ],
    [
      ['mcp_servers', 0, 'allowed_tools'],
      ['a', 'sk-abcdefghijklmnopqrstuv'],
      ['a', '[REDACTED_OPENAI_KEY]'],
    ],
    [
      ['aliases'],
      { fast: 'who@example.com', key: 'sk-abcdefghijklmnopqrstuv' },
      { fast: 'who@example.com', key: '[REDACTED_OPENAI_KEY]' },
    ],
    [['targets', 0, 'models'], ['a@example.com'], ['a@example.com']],
    [['targets', 0, 'model_map'], { 'a@example.com': 'b@example.com' }, { 'a@example.com': 'b@example.com' }],
    [['observability', 'tracing', 'sample_ratio'], 0, 0],
    [['observability', 'tracing', 'enabled'], false, false],
  ];
  for (const [at, sent, expected] of rows) {
    it(`${at.join('.')}: ${JSON.stringify(sent)}`, async () => {
      expect(await shown(at, sent)).to.deep.equal(expected);
    });
  }

  it('arguments of a command: names of options alone', async () => {
    const t = await startAdmin({ variables: { GW_ADMIN_STDIO: 'true', GW_CONFIG_ENV } });
    const args = ['-y', 'server', '--api-key', 's', '--key=abc', '--key=${K}', '${WHOLE}', '--', ''];
    await t.request('PUT', '/admin/config', { ...ECHO, mcp_servers: [{ name: 'a', command: 'npx', args }] });
    expect((await t.get('/admin/config')).json().mcp_servers[0].args).to.deep.equal([
      '-y',
      '[REDACTED]',
      '--api-key',
      '[REDACTED]',
      '--key=[REDACTED]',
      '--key=${K}',
      '${WHOLE}',
      '--',
      '',
    ]);
  });
});
