import { ACCOUNT_MEMBER_LIST, type AccountMemberKind } from '../../host/common/accounts/account-members.ts';
import { OVERRUNS } from '../../host/common/budgets/budget-conditions.ts';
import { UNITS } from '../../host/common/budgets/key-budget.ts';
import { KEY_MEMBER_LIST, type KeyMemberKind } from '../../host/common/key-members.ts';
import type { LogColumnKind } from '../../host/contract/log-column.ts';
import { LOG_COLUMN_LIST } from '../../host/contract/log-columns.ts';
import { UNPRICED } from '../../host/config/unpriced-rule.ts';

/** JSON Schemas (2020-12, as OpenAPI 3.1 takes them) of what the gateway itself answers, by the names under which operations refer to them. */
type Schema = Readonly<Record<string, unknown>>;

const TEXT = { type: 'string' };
const COUNT = { type: 'integer' };
const NUMBER = { type: 'number' };
const FLAG = { type: 'boolean' };
const MOMENT = { type: 'string', format: 'date-time' };
const SCOPES = { type: 'array', items: { enum: ['admin', 'read_only'] } };
const TEXTS = { type: 'array', items: TEXT };
const FREE = { type: 'object' };
const ANY = {};

const orNull = ({ type, ...rest }: { readonly type: string }): Schema => ({ type: [type, 'null'], ...rest });
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const list = (items: Schema): Schema => ({ type: 'array', items });
const map = (values: Schema): Schema => ({ type: 'object', additionalProperties: values });

/** All members but the optional ones are always there; others may be added in later versions. */
function object(properties: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {}): Schema {
  return { type: 'object', required: Object.keys(properties), properties: { ...properties, ...optional } };
}

const page = (item: string, summary: Schema, filters: Schema): Schema =>
  object({ data: list(ref(item)), summary, filters });
const WINDOW = { limit: COUNT, offset: COUNT };
const READ_BY = { plugins: TEXTS, refused: FLAG, recorded: FLAG };
const SUMS = object({ count: COUNT, errors: COUNT, tokens: COUNT, cost_usd: NUMBER, unpriced: COUNT });
const SUMS_OF_BOTH = object({
  count: COUNT,
  errors: COUNT,
  tokens: COUNT,
  prompt_tokens: COUNT,
  completion_tokens: COUNT,
  cost_usd: NUMBER,
  unpriced: COUNT,
});
const SPREAD = {
  type: ['object', 'null'],
  required: ['p50', 'p95', 'p99', 'max', 'mean', 'count'],
  properties: { p50: NUMBER, p95: NUMBER, p99: NUMBER, max: NUMBER, mean: NUMBER, count: COUNT, sampled: COUNT },
};
const FIGURES = map({ type: ['number', 'string', 'null'] });
const VIA = { enum: ['chat', 'responses'] };
const PLACE = object({ target: TEXT }, { route: TEXT, credential: TEXT, vendor_account: TEXT });
const CREDENTIAL_STATE = { enum: ['ready', 'resting', 'benched', 'unresolved', 'drained', 'unknown'] };
const CONFIG_SOURCE = { enum: ['store', 'file', 'defaults'] };
const CIRCUIT = { enum: ['closed', 'open', 'half-open'] };
const POINT = object({ start: MOMENT, requests: COUNT, errors: COUNT, prompt_tokens: COUNT, completion_tokens: COUNT });

const KINDS: Readonly<Record<LogColumnKind, Schema & { readonly type: string }>> = {
  text: TEXT,
  integer: COUNT,
  real: NUMBER,
  boolean: FLAG,
  json: FREE,
  list: { type: 'array', items: TEXT },
  moment: MOMENT,
};

function columnSchema({ kind, values, shown, isRequired, about }: (typeof LOG_COLUMN_LIST)[number][1]): Schema {
  const isNull = shown === 'always' && kind !== 'text' && !isRequired;
  const type = values ? { enum: values } : KINDS[kind];
  return { ...(isNull ? orNull(KINDS[kind]) : type), description: about };
}

const columnsShown = (where: 'always' | 'where known'): Readonly<Record<string, Schema>> =>
  Object.fromEntries(
    LOG_COLUMN_LIST.filter(([, { shown }]) => shown === where).map(([name, column]) => [
      column.shownAs ?? name,
      columnSchema(column),
    ]),
  );
const PLACES = { credential: TEXT, group: TEXT, affinity: TEXT };
const ATTEMPT = object(
  { target: TEXT, upstream_model: TEXT, status: orNull(COUNT), duration_ms: orNull(NUMBER), ended: TEXT },
  { via: VIA, credential: TEXT, class: TEXT, message: TEXT },
);
const LOG_ENTRY = object(columnsShown('always'), columnsShown('where known'));

const BUDGET = {
  usd: NUMBER,
  tokens: COUNT,
  requests: COUNT,
  every: TEXT,
  at: TEXT,
  on: { type: ['string', 'integer'] },
  timezone: TEXT,
  from: MOMENT,
  reserve_tokens: COUNT,
  warn: list(NUMBER),
  overrun: { enum: OVERRUNS },
  over: object({ use: TEXT, more: NUMBER }),
  models: TEXTS,
};
const RULES = object({}, { allow: TEXTS, deny: TEXTS });
const BUDGET_STATE = object(
  { name: TEXT, limit: NUMBER, raised: NUMBER, spent: NUMBER, reserved: NUMBER, remaining: NUMBER },
  { begins_at: MOMENT, ends_at: MOMENT },
);
const RAISE = object(
  { id: TEXT, unit: { enum: UNITS }, amount: NUMBER, from: MOMENT, until: MOMENT, actor: TEXT, created_at: MOMENT },
  { every: TEXT, note: TEXT },
);

const ACCOUNT_KINDS: Readonly<Record<AccountMemberKind, Schema>> = {
  text: TEXT,
  flag: FLAG,
  integer: COUNT,
  word: TEXT,
  tags: TEXTS,
  rules: RULES,
  budgets: list(object({ state: { ...BUDGET_STATE, type: ['object', 'null'] } }, BUDGET)),
  session: FREE,
  limits: FREE,
};
const accountMembers = Object.fromEntries(
  ACCOUNT_MEMBER_LIST.filter(([name]) => name !== 'path').map(([name, { kind, about }]) => [
    name,
    { ...ACCOUNT_KINDS[kind], description: about },
  ]),
);

const MEMBER_KINDS: Readonly<Record<KeyMemberKind, Schema>> = {
  text: TEXT,
  texts: TEXTS,
  scopes: SCOPES,
  moment: MOMENT,
  flag: FLAG,
  integer: COUNT,
  amount: NUMBER,
  word: TEXT,
  rules: RULES,
  budgets: list(object({}, BUDGET)),
  session: object({ budgets: list(object({}, BUDGET)) }),
};

const membersOfKeys = (areAlways: boolean): Readonly<Record<string, Schema>> =>
  Object.fromEntries(
    KEY_MEMBER_LIST.filter(([, { isAlways = false }]) => isAlways === areAlways).map(([name, { kind, about }]) => [
      name,
      { ...MEMBER_KINDS[kind], description: about },
    ]),
  );

export const SCHEMAS: Readonly<Record<string, Schema>> = {
  Error: object({ error: object({ message: TEXT, type: TEXT, code: TEXT }) }),
  Key: object(membersOfKeys(true), membersOfKeys(false)),
  Keys: list(ref('Key')),
  Account: object(
    {
      id: TEXT,
      path: TEXT,
      origin: { enum: ['declared', 'stored', 'implied'] },
      keys: COUNT,
      children: COUNT,
      version: COUNT,
      raises: list(ref('Raise')),
    },
    {
      ...accountMembers,
      inherited: TEXTS,
      import_id: TEXT,
      imported_version: COUNT,
      created_at: MOMENT,
      updated_at: MOMENT,
    },
  ),
  Raise: RAISE,
  Import: object({ id: TEXT }),
  Adoption: object(
    {},
    {
      adopted: COUNT,
      updated: COUNT,
      kept: COUNT,
      conflicts: list(COUNT),
      missing: list(COUNT),
      looser: list(object({ index: COUNT, members: TEXTS })),
      opening_micro_usd: COUNT,
      spent_micro_usd: COUNT,
    },
  ),
  ImportUndone: object({
    removed: object({ keys: COUNT, accounts: COUNT }),
    kept: list(object({ id: TEXT, reason: TEXT })),
  }),
  Accounts: page(
    'Account',
    object({ total: COUNT, returned: COUNT }),
    object(WINDOW, { path: TEXT, under: TEXT, depth: COUNT, q: TEXT, origin: TEXT }),
  ),
  UsedKey: object(membersOfKeys(true), {
    ...membersOfKeys(false),
    spend: object({ month_usd: NUMBER }, { remaining_usd: NUMBER }),
  }),
  KeyUsage: page(
    'UsedKey',
    object({ total_keys: COUNT, active_keys: COUNT, total_usage: COUNT, returned_keys: COUNT }),
    object({ ...WINDOW, sort: TEXT, active: TEXT, since: TEXT }, { access: TEXT }),
  ),
  Issuers: object({ issuers: list(object({ name: TEXT, label: TEXT })) }),
  BegunSignIn: object({ authorization_url: TEXT, transaction: TEXT, expires_at: MOMENT }),
  IdentityRecord: object(
    { id: TEXT, issuer: TEXT, name: TEXT, subject: TEXT, first_seen_at: MOMENT },
    { signed_in_at: MOMENT, blocked_at: MOMENT, blocked_by: TEXT },
  ),
  Identities: page(
    'IdentityRecord',
    object({ total_entries: COUNT, returned_entries: COUNT }),
    object(WINDOW, { issuer: TEXT, blocked: FLAG, q: TEXT }),
  ),
  Session: object({ token: TEXT, subject: TEXT, scopes: SCOPES, expires_at: MOMENT }),
  Sessions: object({
    data: list(
      object(
        { id: TEXT, credential_id: TEXT, subject: TEXT, scopes: SCOPES, created_at: MOMENT, expires_at: MOMENT },
        { last_seen_at: MOMENT, active: FLAG },
      ),
    ),
  }),
  Revoked: object({ revoked: COUNT }),
  Status: object({ status: TEXT }),
  LogEntry: LOG_ENTRY,
  Logs: object(
    {
      data: list(ref('LogEntry')),
      summary: object(
        { total_entries: orNull(COUNT), returned_entries: COUNT },
        { searched_entries: COUNT, searched_to: orNull(MOMENT) },
      ),
      filters: {
        ...object(
          { limit: COUNT, stage: TEXT, stages: TEXTS, model: TEXT, provider: TEXT, api_key_id: TEXT, since: TEXT },
          { offset: COUNT, ...PLACES },
        ),
        additionalProperties: TEXT,
      },
    },
    { next: orNull(TEXT) },
  ),
  LogValues: object(
    { data: list(object({ value: TEXT, count: COUNT }, { name: TEXT })) },
    { is_partial: { const: true } },
  ),
  DeniedAddresses: object({
    data: list(
      object({
        address: TEXT,
        missing: COUNT,
        invalid: COUNT,
        first_at: MOMENT,
        last_at: MOMENT,
        user_agent: TEXT,
        path: TEXT,
      }),
    ),
    summary: object({ addresses: COUNT, requests: COUNT, forgotten: COUNT }),
    since: MOMENT,
  }),
  LoggedRequest: object(
    {
      trace_id: TEXT,
      request: ref('LogEntry'),
      rows: list(ref('LogEntry')),
      decision: { anyOf: [ref('Explanation'), { type: 'null' }] },
      attempts: list(ATTEMPT),
    },
    { has_older_rows: FLAG },
  ),
  LogStatistics: object(
    {
      summary: object({
        total_entries: COUNT,
        error_entries: COUNT,
        total_tokens: COUNT,
        prompt_tokens: COUNT,
        completion_tokens: COUNT,
        cost_usd: NUMBER,
        unpriced_requests: COUNT,
      }),
      latency_ms: SPREAD,
      ttft_ms: SPREAD,
      by_stage: map(COUNT),
      by_provider: map(SUMS),
      by_model: map(SUMS),
      top_errors: list(object({ message: TEXT, count: COUNT })),
      series: object({ points: list(POINT), truncated: FLAG }, { start: MOMENT, end: MOMENT }),
      filters: {
        ...object({ limit: COUNT, buckets: COUNT, stage: TEXT, model: TEXT, provider: TEXT, since: TEXT }, PLACES),
        additionalProperties: TEXT,
      },
    },
    {
      by_credential: map(SUMS),
      by_group: map(SUMS),
      by_key: map(SUMS_OF_BOTH),
      by_target: map(SUMS_OF_BOTH),
      by_surface: map(SUMS_OF_BOTH),
      by_outcome: map(COUNT),
      by_status: map(COUNT),
      by_code: map(COUNT),
    },
  ),
  PurgedLogs: object({ deleted: COUNT, filters: object({ before: TEXT, stage: TEXT, model: TEXT, provider: TEXT }) }),
  AuditEntry: object(
    { occurred_at: MOMENT, action: TEXT, actor: TEXT, outcome: { enum: ['ok', 'denied', 'error'] } },
    {
      actor_id: TEXT,
      target_id: TEXT,
      detail: TEXT,
      source_ip: TEXT,
      trace_id: TEXT,
      id: TEXT,
      changes: list(object({ field: TEXT }, { before: {}, after: {}, more: COUNT })),
      config_version: COUNT,
    },
  ),
  Audit: page(
    'AuditEntry',
    object({ total_entries: COUNT, returned_entries: COUNT }),
    object(WINDOW, {
      action: TEXT,
      actor_id: TEXT,
      target_id: TEXT,
      outcome: TEXT,
      since: TEXT,
      until: TEXT,
      include: TEXT,
    }),
  ),
  Configuration: FREE,
  ConfigurationVersion: object(
    { version: COUNT, updated_at: MOMENT, rolled_back_from: orNull(COUNT), actor: TEXT },
    { config: FREE },
  ),
  ConfigurationHistory: object({ data: list(ref('ConfigurationVersion')), summary: object({ total_versions: COUNT }) }),
  ConfigurationSource: object({
    in_force: CONFIG_SOURCE,
    version: COUNT,
    updated_at: orNull(MOMENT),
    actor: orNull(TEXT),
    file: {
      ...object({ path: TEXT, watched: FLAG, differs: orNull(FLAG), readable: FLAG }),
      type: ['object', 'null'],
    },
    next_start: CONFIG_SOURCE,
    pending_restart: list(TEXT),
    format: { enum: ['yaml', 'json'] },
    withheld: list(TEXT),
    warnings: list(object({ rule: TEXT, path: TEXT, message: TEXT, fix: TEXT })),
  }),
  JsonSchema: FREE,
  RolledBack: object({ status: TEXT, rolled_back_to: COUNT, current_history_size: COUNT }),
  Valid: object({ valid: FLAG }),
  Patched: object({ status: TEXT, version: COUNT, changes: list(object({ path: TEXT, before: {}, after: {} })) }),
  Changes: object({ changes: list(object({ path: TEXT, before: {}, after: {} })) }),
  Providers: list(
    object(
      { name: TEXT, models: list(object({ id: TEXT, object: TEXT, created: COUNT, owned_by: TEXT })) },
      {
        kind: TEXT,
        source: { const: 'configuration' },
        base_url: orNull(TEXT),
        data: {
          type: ['object', 'null'],
          properties: { region: TEXT, retention_days: COUNT, trains: FLAG },
        },
        credentials: list(
          object({
            name: TEXT,
            vendor_account: TEXT,
            state: CREDENTIAL_STATE,
            class: orNull(TEXT),
            until: orNull(MOMENT),
            models_resting: COUNT,
            in_flight: COUNT,
            weight: NUMBER,
            max_concurrency: orNull(COUNT),
            last_refreshed_at: orNull(MOMENT),
          }),
        ),
      },
    ),
  ),
  ProviderCatalog: object({
    providers: list(
      object(
        { id: TEXT, registered: FLAG, catalog_models: COUNT },
        { instances: TEXTS, settings: list(object({ key: TEXT, required: FLAG, secret: FLAG })) },
      ),
    ),
  }),
  Dashboard: object({
    providers: object({ total: COUNT, available: COUNT }),
    keys: object({ total: COUNT, active: COUNT, expired: COUNT, total_usage: COUNT }),
    request_logs: object({ enabled: FLAG, total: COUNT }),
  }),
  Plugins: list(object({ name: TEXT, type: TEXT, enabled: FLAG })),
  PluginCatalog: object({
    data: list(object({ name: TEXT, type: TEXT, summary: TEXT, settings: TEXTS, fails_open: FLAG })),
  }),
  PluginSchemas: object({
    data: map(object({ stages: TEXTS, also_needs: TEXTS, schema: { type: ['object', 'null'] } }, { surfaces: TEXTS })),
  }),
  Coverage: object({
    data: list(object({ surface: TEXT, stage: TEXT, ...READ_BY }, { translated: object(READ_BY) })),
    warnings: TEXTS,
  }),
  Identity: object({ source: orNull(TEXT), digest: orNull(TEXT), identity: { type: ['object', 'null'] } }),
  DeepHealth: object(
    {
      status: { enum: ['healthy', 'degraded', 'no_providers'] },
      providers: list(
        object({ name: TEXT, status: { enum: ['available', 'unavailable'] }, models: COUNT }, { message: TEXT }),
      ),
      components: list(
        object({ name: TEXT, status: { enum: ['healthy', 'unavailable', 'disabled'] } }, { message: TEXT }),
      ),
      mcp_servers: list(object({ name: TEXT, ready: FLAG, required: FLAG, last_error: TEXT })),
      scopes: SCOPES,
      targets: list(
        object(
          { name: TEXT, registered: FLAG, circuit: CIRCUIT, in_flight: COUNT, waiting: COUNT },
          { routable: FLAG, credentials: object({ ready: COUNT, resting: COUNT, benched: COUNT, unresolved: COUNT }) },
        ),
      ),
    },
    {
      identity: object({
        issuers: list(
          object(
            { name: TEXT, state: { enum: ['answers', 'away', 'refused', 'not asked'] }, keys: COUNT },
            { keys_age_seconds: COUNT },
          ),
        ),
        digest: TEXT,
      }),
    },
  ),
  Explanation: object(
    { model: TEXT },
    {
      requested_model: TEXT,
      surface: TEXT,
      streaming: FLAG,
      strategy: TEXT,
      on_failure: { enum: ['next target', 'error'] },
      rule: orNull(TEXT),
      condition: { ...map(TEXT), type: ['object', 'null'] },
      ab_label: orNull(TEXT),
      refusal: { ...object({ code: TEXT, message: TEXT }), type: ['object', 'null'] },
      unroutable: TEXT,
      group: object({ name: TEXT, matched: { enum: ['exact', 'prefix'] }, fallbacks: TEXTS }),
      affinity: object({ source: TEXT, digest: TEXT }, { home: PLACE, override: PLACE }),
      bound: PLACE,
      order: list(
        object(
          { target: TEXT },
          {
            route: TEXT,
            via: TEXT,
            reason: TEXT,
            figures: FIGURES,
            provider: TEXT,
            kind: TEXT,
            upstream_model: TEXT,
            credentials: list(
              object({ name: TEXT, state: CREDENTIAL_STATE, first: FLAG }, { until: TEXT, class: TEXT }),
            ),
            circuit: orNull(TEXT),
            attempt: { ...object({ via: VIA, via_reason: TEXT }), type: ['object', 'null'] },
          },
        ),
      ),
      dropped: list(object({ target: TEXT, reason: TEXT }, { route: TEXT, via: TEXT, figures: FIGURES })),
      plugins: list(object({ name: TEXT, stage: TEXT })),
      notes: TEXTS,
      price: object({
        target: TEXT,
        line: orNull(TEXT),
        expected_usd: orNull(NUMBER),
        reported: { enum: ['prefer', 'compare', 'ignore'] },
      }),
      budgets: list(
        object({
          name: TEXT,
          of: { enum: ['key', 'session', 'account', 'tag'] },
          unit: { enum: ['usd', 'tokens', 'requests'] },
          limit: NUMBER,
          spent: orNull(NUMBER),
          reserved: orNull(NUMBER),
          expected: orNull(NUMBER),
          grants: orNull(FLAG),
        }),
      ),
      over: TEXT,
      attempts: list(ATTEMPT),
      refused_by: TEXT,
    },
  ),
  ModelFacts: object({
    facts: map(object({ value: ANY, rule: TEXT, source: TEXTS, checked: TEXT })),
  }),
  Liveness: object({ status: TEXT }),
  Health: object({
    status: { enum: ['ok', 'no_providers'] },
    version: TEXT,
    commit: TEXT,
    built: TEXT,
    providers: list(object({ name: TEXT, status: { const: 'available' }, circuit: CIRCUIT, models: COUNT })),
  }),
  Readiness: object(
    {
      status: { enum: ['ready', 'not_ready'] },
      targets: list(object({ name: TEXT, routable: FLAG, circuit: CIRCUIT })),
    },
    {
      reason: TEXT,
      providers: list(object({ name: TEXT, circuit: CIRCUIT })),
      mcp_servers: list(object({ name: TEXT, ready: FLAG, required: FLAG })),
      ignored: list({ enum: ['targets', 'mcp'] }),
    },
  ),
  Model: object(
    { id: TEXT, object: TEXT, created: COUNT, owned_by: TEXT },
    {
      mode: TEXT,
      context_window: COUNT,
      max_output_tokens: COUNT,
      capabilities: TEXTS,
      status: TEXT,
      deprecated: FLAG,
    },
  ),
  Models: object({ object: { const: 'list' }, data: list(ref('Model')) }),
  SpendEntry: object(
    {
      requests: COUNT,
      prompt_tokens: COUNT,
      completion_tokens: COUNT,
      cache_read_tokens: COUNT,
      cache_write_tokens: COUNT,
      images: COUNT,
      unpriced: COUNT,
      usd: NUMBER,
      micro_usd: COUNT,
      estimated_usd: NUMBER,
      reported_usd: NUMBER,
    },
    {
      bucket: MOMENT,
      account: TEXT,
      key: TEXT,
      key_name: TEXT,
      tag: TEXT,
      model: TEXT,
      provider: TEXT,
      target: TEXT,
      credential: TEXT,
      surface: TEXT,
      line: TEXT,
      catalog: TEXT,
      source: TEXT,
    },
  ),
  Spend: page(
    'SpendEntry',
    object(
      { requests: COUNT, usd: NUMBER, micro_usd: COUNT, groups: COUNT, returned: COUNT },
      { untagged_usd: NUMBER, is_approximate: FLAG },
    ),
    object(
      { from: MOMENT, to: MOMENT, by: TEXTS, timezone: TEXT, sort: TEXT, limit: COUNT, offset: COUNT },
      {
        depth: COUNT,
        bucket: TEXT,
        account: TEXT,
        key: TEXT,
        tag: TEXT,
        model: TEXT,
        provider: TEXT,
        target: TEXT,
        credential: TEXT,
        surface: TEXT,
        line: TEXT,
      },
    ),
  ),
  SpendEntered: object(
    { idempotency_key: TEXT, account: TEXT, usd: NUMBER, micro_usd: COUNT, at: MOMENT },
    { key_id: TEXT },
  ),
  OwnKey: object(
    {
      object: { const: 'key' },
      id: TEXT,
      name: TEXT,
      tags: TEXTS,
      unpriced: { enum: UNPRICED },
      budgets: list(
        object(
          {
            of: { enum: ['key', 'session', 'account', 'tag'] },
            unit: { enum: UNITS },
            every: TEXT,
            limit: NUMBER,
            spent: NUMBER,
            reserved: NUMBER,
            remaining: NUMBER,
          },
          { name: TEXT, begins_at: MOMENT, ends_at: MOMENT },
        ),
      ),
    },
    {
      account: TEXT,
      issuer: TEXT,
      expires_at: MOMENT,
      models: TEXTS,
      providers: TEXTS,
      rpm: COUNT,
      tpm: COUNT,
      max_parallel: COUNT,
      spend: object({ today_usd: NUMBER, month_usd: NUMBER }),
    },
  ),
  Capabilities: object({ providers: map(map(TEXT)) }, { image_response_formats: map(TEXTS) }),
};
