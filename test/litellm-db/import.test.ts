import { expect } from 'chai';
import OpenAI from 'openai';
import { type AdminHost, as } from '../admin/kit.ts';
import { ask, atEnd, chatReply, forSuite, replyJson, startPostgres, stubUpstream } from '../kit/index.ts';
import { digestOf, gatewayFor, importing, importingJson, litellmWorld, type LitellmWorld, type Rows } from './kit.ts';

const DAY_MS = 86_400_000;
const ahead = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();
/** As LiteLLM sets it for a duration of one day. */
const midnight = (): string => new Date(Math.ceil((Date.now() + 1) / DAY_MS) * DAY_MS).toISOString();

const keyOf = (name: string): string => `sk-${name}-0123456789abcdef`;

const ROWS: Rows = {
  BudgetTable: [
    { budget_id: 'b-org', max_budget: 500, budget_duration: '1mo', budget_reset_at: null },
    { budget_id: 'b-member', max_budget: 2, budget_duration: '1d', budget_reset_at: midnight() },
    { budget_id: 'b-tag', max_budget: 7 },
  ],
  OrganizationTable: [
    { organization_id: 'org-1', organization_alias: 'Acme Inc.', budget_id: 'b-org', models: [], spend: 40.5 },
  ],
  TeamTable: [
    {
      team_id: 't-1',
      team_alias: 'Search',
      organization_id: 'org-1',
      models: ['gpt-4o', 'claude-*'],
      max_budget: 100,
      spend: 12.25,
      rpm_limit: 600,
      metadata: { tags: ['nightly'] },
      created_at: '2026-01-01T00:00:00Z',
    },
    {
      team_id: 't-2',
      team_alias: 'search',
      organization_id: 'org-1',
      models: [],
      created_at: '2026-02-01T00:00:00Z',
      blocked: true,
    },
  ],
  UserTable: [
    { user_id: 'u-1', user_alias: 'Ada', max_budget: 30, spend: 3.5, models: [] },
    { user_id: 'u-2', models: ['gpt-4o'], spend: 0 },
  ],
  TeamMembership: [{ user_id: 'u-1', team_id: 't-1', spend: 0.5, budget_id: 'b-member' }],
  TagTable: [{ tag_name: 'nightly', models: [], spend: 1.5, budget_id: 'b-tag' }],
  VerificationToken: [
    {
      token: digestOf(keyOf('team')),
      key_name: 'sk-...cdef',
      key_alias: 'team key',
      team_id: 't-1',
      user_id: 'u-1',
      models: [],
      max_budget: 5,
      budget_duration: '1d',
      budget_reset_at: midnight(),
      spend: 1.234567,
      rpm_limit: 60,
      expires: ahead(30),
    },
    { token: digestOf(keyOf('own')), user_id: 'u-2', models: ['all-proxy-models'], key_alias: 'own' },
    { token: digestOf(keyOf('blocked-team')), team_id: 't-2', models: [], key_alias: 'of a blocked team' },
    { token: digestOf(keyOf('guarded')), models: [], key_alias: 'guarded', metadata: { guardrails: ['pii'] } },
    { token: digestOf(keyOf('spent')), models: [], key_alias: 'spent', max_budget: 1, spend: 1 },
    { token: digestOf(keyOf('expired')), models: [], key_alias: 'expired', expires: '2026-01-01T00:00:00Z' },
    { token: digestOf(keyOf('session')), models: [], team_id: 'litellm-dashboard', key_alias: 'session' },
  ],
  DeprecatedVerificationToken: [
    { id: 'd-1', token: digestOf(keyOf('old-own')), active_token_id: digestOf(keyOf('own')), revoke_at: ahead(1) },
    {
      id: 'd-2',
      token: digestOf(keyOf('older-own')),
      active_token_id: digestOf(keyOf('own')),
      revoke_at: '2026-01-01T00:00:00Z',
    },
  ],
};

describe('an import of the database of LiteLLM', function importDatabase() {
  this.timeout(60_000);
  const server = forSuite(startPostgres);

  const world = async (rows: Rows = ROWS): Promise<{ source: LitellmWorld; t: AdminHost }> => {
    const source = await litellmWorld(server());
    atEnd(() => source.client.end());
    await source.insert(rows);
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hi')));
    const variables = { OPENAI_API_KEY: 'k-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` };
    return { source, t: await gatewayFor({ variables }, { targets: [{ virtual_key: 'openai' }] }) };
  };
  const status = async (t: AdminHost, name: string, model = 'gpt-4o'): Promise<number> =>
    (await t.post('/v1/chat/completions', { ...ask('hi'), model }, as(keyOf(name)))).status;

  it('keeps keys working as they are, with what binds them, and is taken back without a trace', async () => {
    const { source, t } = await world();
    const before = await importingJson(t, source.dsn);
    expect(before).to.deep.equal({
      counts: {
        organizations: 1,
        teams: 2,
        users: 2,
        tags: 1,
        keys: 6,
        blocked: 1,
        adopted: 0,
        updated: 0,
        kept: 0,
        conflicts: 0,
      },
      restrictions: [{ name: 'guardrails', keys: 1, accepted: false }],
      models: [],
    });
    expect((await t.get('/admin/keys')).json()).to.deep.equal([]);
    const applied = await importing(t, source.dsn, '--apply', '--format', 'json');
    expect(applied.code, applied.stderr).to.equal(1);
    expect(applied.stderr, JSON.stringify(t.lines.filter((line) => line['error']).slice(-3))).to.equal('');
    const { import: begun, counts } = JSON.parse(applied.stdout);
    expect(counts).to.deep.include({ adopted: 6, updated: 0, kept: 0, conflicts: 0, blocked: 1 });

    const client = new OpenAI({ apiKey: keyOf('team'), baseURL: `${t.url}/v1` });
    const answer = await client.chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(answer.choices[0]?.message.content).to.equal('hi');
    const found = await Promise.all(
      ['own', 'old-own', 'older-own', 'blocked-team', 'guarded', 'spent', 'expired', 'session'].map((name) =>
        status(t, name),
      ),
    );
    expect(found).to.deep.equal([200, 200, 401, 403, 403, 402, 401, 401]);
    expect([await status(t, 'team', 'gpt-4o-mini'), await status(t, 'own', 'o3')]).to.deep.equal([404, 404]);
    for (const path of ['/admin/keys', '/metrics', '/debug/traces'])
      expect((await t.request('GET', path, undefined, as(keyOf('own')))).status, path).to.equal(403);

    const verified = await importing(t, source.dsn, '--verify');
    expect(verified.code, verified.stdout).to.equal(0);
    const kept = await importing(t, '', '--undo', begun.id);
    expect(kept.code).to.equal(1);
    expect(kept.stdout).to.include('it was used');
    expect((await importing(t, '', '--undo', begun.id, '--force')).code).to.equal(0);
    expect((await t.get('/admin/keys')).json()).to.deep.equal([]);
    expect((await t.get('/admin/accounts')).json().data).to.deep.equal([]);
    expect(await status(t, 'own')).to.equal(401);
    expect((await importing(t, '', '--undo', begun.id)).stderr).to.include('there is no import');
    const shown = [applied.stdout, applied.stderr, verified.stdout, JSON.stringify(await t.trail())].join();
    for (const { token } of ROWS['VerificationToken']!) expect(shown).to.not.include(token);
  });

  it('makes accounts and tags of what binds keys there, with what the running windows have spent', async () => {
    const { source, t } = await world();
    await importing(t, source.dsn, '--apply', '--timezone', 'UTC');
    const accounts: { path: string }[] = (await t.get('/admin/accounts')).json().data;
    const shown = Object.fromEntries(
      accounts.map(({ path, ...account }: any) => [
        path,
        [
          account.title,
          account.blocked,
          account.rpm,
          account.models,
          account.budgets?.map(({ usd, every, state }: any) => [usd, every, state.spent]),
        ],
      ]),
    );
    expect(shown).to.deep.equal({
      '#litellm-user:ada': ['Ada', undefined, undefined, undefined, [[30, 'total', 3.5]]],
      '#nightly': ['nightly', undefined, undefined, undefined, [[7, 'total', 1.5]]],
      '/acme-inc.': ['Acme Inc.', undefined, undefined, undefined, [[500, 'month', 40.5]]],
      '/acme-inc./search': ['Search', undefined, 600, { allow: ['gpt-4o', 'claude-*'] }, [[100, 'total', 12.25]]],
      '/acme-inc./search-2': ['search', true, undefined, undefined, undefined],
      '/acme-inc./search/ada': ['Ada', undefined, undefined, undefined, [[2, 'day', 0.5]]],
      '/users': [undefined, undefined, undefined, undefined, undefined],
      '/users/u-2': ['u-2', undefined, undefined, { allow: ['gpt-4o'] }, undefined],
    });
    const keys: Record<string, any>[] = (await t.get('/admin/keys')).json();
    const key = keys.find(({ name }) => name === 'team key')!;
    expect(key).to.deep.include({
      key: 'sk-...cdef',
      access: 'inference',
      account: '/acme-inc./search/ada',
      tags: ['nightly', 'litellm-user:ada'],
      rpm: 60,
      mcp_tools: [],
      budgets: [{ usd: 5, every: 'day', at: '00:00', timezone: 'UTC' }],
    });
    expect(key['origin']).to.match(/^litellm:imp_[0-9a-f]{20}$/);
    const own = (await t.request('GET', '/v1/key', undefined, as(keyOf('team')))).json();
    expect(own.budgets.map(({ of, spent }: any) => [of, spent])).to.deep.include(['key', 1.234567]);
    const { opening_micro_usd: opening, spent_micro_usd: spent } = await importingJson(t, source.dsn, '--verify');
    expect([opening, spent]).to.deep.equal([2_234_567, 2_234_567]);
  });

  it('brings what is new when it runs again, and leaves what was changed here', async () => {
    const { source, t } = await world();
    await importing(t, source.dsn, '--apply');
    const keys: Record<string, any>[] = (await t.get('/admin/keys')).json();
    const own = keys.find(({ name }) => name === 'own')!;
    expect((await t.request('PUT', `/admin/keys/${own['id']}`, { rpm: 3 })).status).to.equal(200);
    await source.insert({ VerificationToken: [{ token: digestOf(keyOf('later')), models: [], key_alias: 'later' }] });
    await source.client.query(
      `UPDATE "LiteLLM_VerificationToken" SET rpm_limit = 7 WHERE key_alias IN ('team key', 'own')`,
    );
    await source.client.query(`UPDATE "LiteLLM_TeamTable" SET rpm_limit = 9, spend = 99 WHERE team_id = 't-1'`);
    const { counts } = await importingJson(t, source.dsn, '--apply');
    expect(counts).to.deep.include({ adopted: 1, updated: 5, kept: 1, conflicts: 0 });
    const again: Record<string, any>[] = (await t.get('/admin/keys')).json();
    expect(again.map(({ name, rpm }) => [name, rpm])).to.deep.include.members([
      ['team key', 7],
      ['own', 3],
    ]);
    const team = (await t.get('/admin/accounts?path=/acme-inc./search')).json().data[0];
    expect([team.rpm, team.budgets[0].state.spent]).to.deep.equal([9, 12.25]);
    expect((await importing(t, source.dsn, '--verify')).stdout).to.include('account /acme-inc./search: opening');
  });

  it('blocks what it cannot hold, and stops where that is for all keys, until it is accepted', async () => {
    const { source, t } = await world();
    await source.insert({ EndUserTable: [{ user_id: 'customer', budget_id: 'b-tag' }] });
    const stopped = await importing(t, source.dsn, '--apply');
    expect([stopped.code, (await t.get('/admin/keys')).json()]).to.deep.equal([1, []]);
    expect(stopped.stderr).to.include('nothing is applied');
    const done = await importing(t, source.dsn, '--apply', '--accept', 'end_user_budgets,guardrails');
    expect(done.code, done.stderr).to.equal(0);
    expect(await status(t, 'guarded')).to.equal(200);
  });

  it('refuses a database that is not one of LiteLLM, and names what it lacks, without its password', async () => {
    const { t } = await world({});
    const empty = await server().createDatabase();
    const { code, stderr } = await importing(t, empty, '--apply');
    expect(code).to.equal(1);
    expect(stderr).to.include('the table LiteLLM_VerificationToken');
    const lost = await importing(t, 'postgresql://gw:sesame-sesame@127.0.0.1:1/litellm');
    expect([lost.code, lost.stderr.includes('sesame')]).to.deep.equal([1, false]);
  });

  it('writes nothing there, and needs no more than to read', async () => {
    const { source, t } = await world();
    const role = `reader_${process.pid}`;
    await source.client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'reader-password'`);
    atEnd(async () => void (await source.client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)));
    await source.client.query(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`);
    const address = new URL(source.dsn);
    [address.username, address.password] = [role, 'reader-password'];
    address.searchParams.set('schema', 'public');
    address.searchParams.set('connection_limit', '5');
    const { counts } = await importingJson(t, address.href, '--apply');
    expect(counts.adopted).to.equal(6);
  });
});
