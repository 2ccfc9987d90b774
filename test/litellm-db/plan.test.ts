import { expect } from 'chai';
import { type SourceTable, TABLES } from '../../builtins/cli/import/litellm-db/tables.ts';
import { readAccount } from '../../host/common/accounts/read-account.ts';
import { digestOf, NEWEST, type Row, SCHEMAS, VERSIONS } from './kit.ts';
import { planned } from './memory-source.ts';

const DIGEST = digestOf('sk-one');
const KEY: Row = { token: DIGEST, key_name: 'sk-...-one', models: [], metadata: {}, spend: 0 };
const key = async (row: Row, rows: Record<string, readonly Row[]> = {}, version = NEWEST) => {
  const plan = await planned(version, { ...rows, VerificationToken: [{ ...KEY, ...row }] });
  return { key: plan.keys[0]!, restrictions: plan.restrictions.map(({ name }) => name), plan };
};

/** A value that is set, for each type of a column. */
const SET: Readonly<Record<string, unknown>> = {
  'TEXT[]': ['x'],
  JSONB: { x: 1 },
  BOOLEAN: true,
  INTEGER: 5,
  BIGINT: 5,
  'DOUBLE PRECISION': 5,
  TEXT: 'x',
  'TIMESTAMP(3)': '2099-01-01T00:00:00',
};

describe('columns of LiteLLM', () => {
  it('are each said to be carried, a fact or a restriction, in every version that was read', () => {
    const unknown = VERSIONS.flatMap((version) =>
      Object.entries<SourceTable>(TABLES).flatMap(([table, { carried, facts, restrictions }]) =>
        Object.keys(SCHEMAS[version]![table]?.columns ?? {})
          .filter((column) => ![...carried, ...facts, ...restrictions, 'created_at'].includes(column))
          .map((column) => `${version} ${table}.${column}`),
      ),
    );
    expect(unknown.filter((name) => !name.includes('BudgetWindowSpend'))).to.deep.equal([]);
  });

  it('that restrict block the key where they are set, and unknown ones do so too', async () => {
    const { columns } = SCHEMAS[NEWEST]!['LiteLLM_VerificationToken']!;
    for (const name of TABLES.LiteLLM_VerificationToken.restrictions) {
      const type = columns[name]!.split(' ')[0]!;
      const found = await key({ [name]: SET[type] ?? SET[columns[name]!] });
      expect([name, found.key.blocked, found.restrictions]).to.deep.equal([name, true, [name]]);
    }
    for (const value of [true, 1, 'x', ['x'], { x: 1 }]) {
      const found = await key({ region_lock: value });
      expect([found.key.blocked, found.restrictions]).to.deep.equal([true, ['region_lock']]);
    }
    for (const value of [false, 0, '', [], {}, null])
      expect((await key({ region_lock: value })).key.blocked, JSON.stringify(value)).to.equal(undefined);
  });

  it('of the team, the project, the user, the budget and the permission of a key block it too', async () => {
    const rows = {
      TeamTable: [{ team_id: 't', models: [], spend: 0 }],
      UserTable: [{ user_id: 'u', models: [], spend: 0 }],
      ProjectTable: [{ project_id: 'p', team_id: 't', models: [], spend: 0 }],
      OrganizationTable: [{ organization_id: 'o', organization_alias: 'o', models: [], spend: 0 }],
      BudgetTable: [{ budget_id: 'b' }],
      ObjectPermissionTable: [{ object_permission_id: 'x' }],
      TeamMembership: [{ team_id: 't', user_id: 'u', spend: 0 }],
    };
    const row = { team_id: 't', user_id: 'u', budget_id: 'b', object_permission_id: 'x' };
    expect((await key(row, rows)).key.blocked).to.equal(undefined);
    for (const [table, [first]] of Object.entries(rows)) {
      const asked =
        table === 'ProjectTable'
          ? { ...row, project_id: 'p' }
          : table === 'OrganizationTable'
            ? { organization_id: 'o' }
            : row;
      const found = await key(asked, { ...rows, [table]: [{ ...first, region_lock: 'eu' }] });
      expect([table, found.key.blocked]).to.deep.equal([table, true]);
    }
  });
});

describe('a key of LiteLLM', () => {
  it('takes its models as rules, and stands for none where it had none', async () => {
    const rules = async (models: readonly string[]) => (await key({ models })).key.model_rules;
    expect(await rules([])).to.equal(undefined);
    expect(await rules(['all-proxy-models'])).to.equal(undefined);
    expect(await rules(['all-team-models'])).to.equal(undefined);
    expect(await rules(['no-default-models'])).to.deep.equal({ allow: [] });
    expect(await rules(['gpt-4o', 'openai/*', 'bedrock/*claude*'])).to.deep.equal({ allow: ['gpt-4o', 'openai/*'] });
  });

  it('takes what it may spend, never more than it was, and what it spent, never less', async () => {
    const budgets = async (row: Row, rows = {}) => (await key(row, rows)).key.budgets;
    expect(await budgets({ max_budget: 0 })).to.deep.equal([{ usd: 0, every: 'total' }]);
    expect(await budgets({ max_budget: 1.00000099, spend: 0.1234561, soft_budget: 0.5 })).to.deep.equal([
      { usd: 1, every: 'total', warn: [0.5 / 1.00000099], opening: 0.123457 },
    ]);
    const daily = { max_budget: 5, budget_duration: '1d', spend: 2 };
    const day = { usd: 5, every: 'day', at: '00:00', timezone: 'UTC' };
    expect(await budgets({ ...daily, budget_reset_at: '2026-11-29T00:00:00' })).to.deep.equal([{ ...day, opening: 2 }]);
    expect(await budgets({ ...daily, budget_reset_at: '2026-11-28T00:00:00' })).to.deep.equal([day]);
    expect(await budgets({ tpd_limit: 900 })).to.deep.equal([
      { tokens: 900, every: 'day', at: '00:00', timezone: 'UTC' },
    ]);
    expect(
      await budgets({
        model_max_budget: { 'gpt-4o': { budget_limit: 3, time_period: '1d' } },
        model_spend: { 'gpt-4o': 1 },
      }),
    ).to.deep.equal([{ ...day, usd: 3, models: ['gpt-4o'], opening: 1 }]);
    const both = { BudgetTable: [{ budget_id: 'b', max_budget: 2 }] };
    expect(await budgets({ max_budget: 9, spend: 1, budget_id: 'b' }, both)).to.deep.equal([
      { usd: 2, every: 'total', opening: 1 },
    ]);
  });

  it('takes several windows, each with what was spent in it', async () => {
    const limits = [
      { budget_duration: '1d', max_budget: 5, reset_at: '2026-11-29T00:00:00Z' },
      { budget_duration: '30d', max_budget: 50, reset_at: '2026-12-01T00:00:00Z' },
    ];
    const spent = [
      { entity_type: 'Key', entity_id: DIGEST, window_duration: '1d', window_start: '2026-11-28T00:00:00', spend: 1.5 },
      { entity_type: 'Key', entity_id: DIGEST, window_duration: '30d', window_start: '2026-10-01T00:00:00', spend: 40 },
    ];
    const found = await key({ budget_limits: limits, spend: 9 }, { BudgetWindowSpend: spent });
    expect(found.key.budgets?.map(({ usd, every, opening }) => [usd, every, opening])).to.deep.equal([
      [5, 'day', 1.5],
      [50, 'month', undefined],
    ]);
    // A version that does not keep it: no window has spent more than the key.
    const older = await key({ budget_limits: limits, spend: 9 }, {}, '1.94.0');
    expect(older.key.budgets?.map(({ opening }) => opening)).to.deep.equal([9, 9]);
  });

  it('is blocked where a window cannot be held, and lets nothing through where its rate is 0', async () => {
    for (const duration of ['30s', '2mo', 'hourly', 'soon'])
      expect((await key({ max_budget: 5, budget_duration: duration })).restrictions, duration).to.deep.equal([
        'budget_duration',
      ]);
    const far = await key({ max_budget: 5, budget_duration: '1d', budget_reset_at: '2026-11-30T00:00:00' });
    expect([far.key.blocked, far.restrictions]).to.deep.equal([true, ['budget_reset_at']]);
    expect((await key({ rpm_limit: 0 })).key)
      .to.deep.include({ blocked: true })
      .and.not.have.property('rpm');
    expect((await key({ tpm_limit: 1e15, max_parallel_requests: 3 })).key).to.deep.include({
      tpm: 2 ** 31 - 1,
      max_parallel: 3,
    });
  });

  it('has tools only of servers that are named for it, or for its team', async () => {
    const rows = {
      MCPServerTable: [{ server_id: 's1', server_name: 'files', credentials: { secret: 'x' } }],
      ObjectPermissionTable: [
        { object_permission_id: 'all', mcp_servers: ['s1'] },
        { object_permission_id: 'one', mcp_servers: ['s1'], mcp_tool_permissions: { s1: ['read'] } },
        { object_permission_id: 'none', mcp_servers: ['s9'] },
      ],
      TeamTable: [{ team_id: 't', models: [], object_permission_id: 'all' }],
    };
    const tools = async (row: Row) => (await key(row, rows)).key.mcp_tools;
    expect(await tools({})).to.deep.equal([]);
    expect(await tools({ object_permission_id: 'all' })).to.deep.equal(['files/*']);
    expect(await tools({ object_permission_id: 'one' })).to.deep.equal(['read']);
    expect(await tools({ object_permission_id: 'none' })).to.deep.equal([]);
    expect(await tools({ team_id: 't' })).to.deep.equal(['files/*']);
  });

  it('that names a team, a project or an organization which is gone is blocked', async () => {
    for (const row of [{ team_id: 'x' }, { project_id: 'x' }, { organization_id: 'x' }])
      expect((await key(row)).restrictions).to.deep.equal(Object.keys(row));
    expect((await key({ user_id: 'x' })).key).to.not.have.any.keys('account', 'tags', 'blocked');
  });

  it('whose value is not a digest is not copied, and is counted', async () => {
    const plan = await planned(NEWEST, { VerificationToken: [{ ...KEY, token: 'sk-in-the-clear' }] });
    expect([plan.keys, plan.restrictions]).to.deep.equal([[], [{ name: 'token', keys: 1, accepted: false }]]);
    expect(JSON.stringify(plan)).to.not.include('in-the-clear');
  });

  it('keeps its tags, and is blocked where one has a budget and a name that no tag here can have', async () => {
    const rows = {
      BudgetTable: [{ budget_id: 'b', max_budget: 5 }],
      TagTable: [{ tag_name: 'my tag', budget_id: 'b' }],
    };
    const found = await key({ metadata: { tags: ['nightly', 'my tag'] } }, rows);
    expect([found.key.tags, found.restrictions]).to.deep.equal([['nightly', 'my tag'], ['tags']]);
    const foreign = await key({}, { ...rows, TagTable: [{ tag_name: 'other', budget_id: 'b' }] });
    expect([foreign.plan.stops, foreign.restrictions]).to.deep.equal([true, ['tag_budgets']]);
  });
});

describe('accounts of an import', () => {
  it('are such as the gateway takes, whatever things are called there', async () => {
    const names = ['Ünïcode & Söhne', '', '...', 'users', 'a/b', 'x'.repeat(300), '#tag', 'A B', 'a-b', '\0', '山田'];
    const teams = names.map((name, at) => ({
      team_id: `t${at}`,
      team_alias: name,
      models: ['m'],
      created_at: `2026-01-${10 + at}T00:00:00`,
    }));
    const users = names.map((name, at) => ({ user_id: `u${at}`, user_alias: name, models: [], max_budget: 1 }));
    const keys = names.map((_name, at) => ({
      ...KEY,
      token: digestOf(`k${at}`),
      user_id: `u${at}`,
      ...(at % 2 === 0 && { team_id: `t${at}` }),
    }));
    const plan = await planned(
      NEWEST,
      { TeamTable: teams, UserTable: users, VerificationToken: keys },
      { prefix: '/from/litellm' },
    );
    const problems = plan.accounts.flatMap(
      (account) => readAccount(account, '', { timezone: 'UTC', hasOpening: true }).problems,
    );
    expect(problems).to.deep.equal([]);
    const paths = plan.accounts.map(({ path }) => path);
    expect(new Set(paths).size).to.equal(paths.length);
    expect(paths.filter((path) => !path.startsWith('#')).every((path) => path.startsWith('/from/litellm/'))).to.equal(
      true,
    );
    for (const { account } of plan.keys) if (account !== undefined) expect(paths).to.include(account);
  });
});
