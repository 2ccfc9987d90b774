import { expect } from 'chai';
import { LITERAL } from '../config/bad-instances.ts';
import { ECHO, startAdmin } from './kit.ts';

/** Variables that stand in it: they may be sent anywhere. */
const ALLOWED = {
  variables: {
    GW_CONFIG_ENV:
      'A,TEAM_A,TEAM_C,TENANT,PROXY,KEY_ID,SECRET,TOKEN,GROQ_2,file:/run/secrets/team-b,file:/run/secrets/x-key',
  },
};

/** One of every key, as an operator may write it. */
const WHOLE = {
  ...ECHO,
  providers: {
    'eu-openai': {
      kind: 'openai',
      base_url: 'https://eu.api.example/v1',
      settings: { organization: 'org-1' },
      credentials: [
        {
          name: 'team-a',
          api_key: '${TEAM_A}',
          weight: 0,
          max_concurrency: 4,
          models: [],
          organization: 'org-2',
          project: 'proj-2',
          vendor_account: 'acme',
        },
        { name: 'team-b', api_key: '${file:/run/secrets/team-b}', models: ['gpt-4*'] },
      ],
      headers: { 'X-Tenant': 'blue', 'X-Api-Token': 'Bearer ${TENANT}', 'X-Key': '${file:/run/secrets/x-key}' },
      models: [],
      discover: false,
      any_model: false,
      catalog: 'none',
      proxy: { url: 'http://proxy.internal:3128', username: 'gw', password: '${PROXY}' },
      tls: { ca_file: '/etc/ssl/ca.pem' },
      data: { region: 'eu', retention_days: 0, trains: false },
    },
    'bedrock-eu': {
      kind: 'bedrock',
      settings: { region: 'eu-central-1' },
      access_key_id: '${KEY_ID}',
      secret_access_key: '${SECRET}',
      session_token: '${TOKEN}',
    },
    constructor: { kind: 'groq', api_key: '${GROQ_2}' },
  },
};

describe('instances in a configuration that is shown', () => {
  it('are shown as they were written, and sent back they change nothing', async () => {
    const t = await startAdmin(ALLOWED);
    expect((await t.request('PUT', '/admin/config', WHOLE)).status).to.equal(200);
    const shown = (await t.get('/admin/config')).json();
    expect(shown.providers).to.deep.equal(WHOLE.providers);
    const { changes } = (await t.post('/admin/config/diff', shown)).json();
    expect(changes).to.deep.equal([]);
    const again = await t.request('PUT', '/admin/config', shown);
    expect(again.status, again.text).to.equal(200);
    expect(t.host.applier.running.document['providers']).to.deep.equal(WHOLE.providers);
  });

  it('show references in the history and in a difference, and the names of what changed', async () => {
    const t = await startAdmin(ALLOWED);
    await t.request('PUT', '/admin/config', WHOLE);
    const other = structuredClone(WHOLE);
    other.providers['eu-openai'].credentials[0]!.api_key = '${TEAM_C}';
    const difference = (await t.post('/admin/config/diff', other)).text;
    expect(difference).to.include('${TEAM_A}').and.to.include('${TEAM_C}');
    expect((await t.get('/admin/config/history')).text)
      .to.include('${file:/run/secrets/team-b}')
      .and.to.include('team-b');
  });

  it('refuse a literal in every place of a secret, and hold it in no answer, row or line', async () => {
    const t = await startAdmin(ALLOWED);
    const secrets: readonly (readonly [path: string, block: object])[] = [
      ['providers.a.api_key', { kind: 'openai', api_key: LITERAL }],
      ['providers.a.session_token', { kind: 'bedrock', settings: { region: 'x' }, session_token: LITERAL }],
      ['providers.a.credentials[0].api_key', { kind: 'openai', credentials: [{ name: 'c', api_key: LITERAL }] }],
      ['providers.a.headers.X-Api-Key', { kind: 'openai', headers: { 'X-Api-Key': LITERAL } }],
      ['providers.a.proxy.password', { kind: 'openai', proxy: { url: 'http://p', password: LITERAL } }],
      ['providers.a.base_url', { kind: 'openai', base_url: `https://u:${LITERAL}@h/v1` }],
    ];
    const texts: string[] = [];
    for (const [path, block] of secrets)
      for (const [method, at] of [
        ['PUT', '/admin/config'],
        ['POST', '/admin/config/validate'],
        ['POST', '/admin/config/diff'],
      ] as const) {
        const answer = await t.request(method, at, { ...ECHO, providers: { a: block } });
        expect(answer.status, answer.text).to.equal(400);
        expect(answer.text).to.include(path);
        texts.push(answer.text);
      }
    texts.push((await t.get('/admin/audit?limit=200')).text, (await t.get('/admin/config')).text, ...t.texts);
    expect(texts.join('\n')).not.to.include(LITERAL);
  });

  it('are in the row of a write, with the hosts of their addresses', async () => {
    const t = await startAdmin(ALLOWED);
    const put = (providers?: object): Promise<unknown> =>
      t.request('PUT', '/admin/config', providers ? { ...ECHO, providers } : ECHO);
    const openai = { kind: 'openai', api_key: '${A}' };
    await put();
    await put({ a: openai, b: { ...openai, base_url: 'https://b.example:8443/v1' } });
    await put({ b: { ...openai, base_url: 'https://c.example/v1' }, c: openai });
    await t.request('POST', '/admin/config/rollback/1');
    const details = (await t.trail('&resource=config'))
      .map(({ detail }) => JSON.parse(detail ?? '{}').providers)
      .toReversed();
    expect(details).to.deep.equal([
      undefined,
      {
        added: [
          { name: 'a', host: null },
          { name: 'b', host: 'b.example:8443' },
        ],
        changed: [],
        removed: [],
      },
      {
        added: [{ name: 'c', host: null }],
        changed: [{ name: 'b', host: 'c.example' }],
        removed: [{ name: 'a', host: null }],
      },
      {
        added: [],
        changed: [],
        removed: [
          { name: 'b', host: 'c.example' },
          { name: 'c', host: null },
        ],
      },
    ]);
  });
});
