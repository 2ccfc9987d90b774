/** What is done with a column: it is carried over, it says nothing about access, or it restricts, and is not carried. */
export type ColumnUse = 'carried' | 'fact' | 'restriction';

export interface SourceTable {
  /** Columns without which nothing can be said of a key. */
  readonly required: readonly string[];
  readonly carried: readonly string[];
  readonly facts: readonly string[];
  readonly restrictions: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const WHO = words('created_at created_by updated_at updated_by');
const RATES = words('rpm_limit tpm_limit tpd_limit max_parallel_requests');
const BUDGET = words('max_budget soft_budget budget_duration budget_reset_at model_max_budget');

/**
 * Tables of LiteLLM's database that are read, with their columns. Source: `schema.prisma` of the wheels 1.75.8, 1.83.10, 1.94.0, 1.104.0 and 1.110.2
 * (pypi.org, read 2026-11-28). A column that stands nowhere here is taken for a restriction wherever it is set.
 */
export const TABLES = {
  LiteLLM_VerificationToken: {
    required: words('token expires models team_id user_id spend max_budget metadata blocked permissions'),
    carried: [
      ...words(
        'token key_name key_alias expires models user_id team_id project_id organization_id metadata blocked spend',
      ),
      ...words('model_spend budget_id budget_limits budget_fallbacks object_permission_id allowed_routes'),
      ...RATES,
      ...BUDGET,
    ],
    facts: [
      ...words(
        'soft_budget_cooldown total_spend router_settings key_type settings_updated_at last_active rotation_count',
      ),
      ...words('auto_rotate rotation_interval last_rotation_at key_rotation_at'),
      ...WHO,
    ],
    restrictions: words('aliases config permissions allowed_cache_controls policies access_group_ids agent_id'),
  },
  LiteLLM_DeprecatedVerificationToken: {
    required: [],
    carried: words('token active_token_id revoke_at'),
    facts: words('id created_at'),
    restrictions: [],
  },
  LiteLLM_TeamTable: {
    required: words('team_id team_alias organization_id models spend max_budget blocked metadata'),
    carried: [
      ...words(
        'team_id team_alias organization_id models blocked metadata spend model_spend budget_limits object_permission_id',
      ),
      ...RATES,
      ...BUDGET,
    ],
    facts: [
      ...words('admins members members_with_roles router_settings team_member_permissions default_team_member_models'),
      'allow_team_guardrail_config',
      ...WHO,
    ],
    restrictions: words('access_group_ids policies model_id'),
  },
  LiteLLM_ProjectTable: {
    required: [],
    carried: words(
      'project_id project_alias team_id budget_id metadata models spend model_spend blocked object_permission_id',
    ),
    facts: ['description', ...WHO],
    restrictions: words('model_rpm_limit model_tpm_limit'),
  },
  LiteLLM_OrganizationTable: {
    required: words('organization_id organization_alias budget_id models spend'),
    carried: words(
      'organization_id organization_alias budget_id metadata models spend model_spend object_permission_id',
    ),
    facts: WHO,
    restrictions: [],
  },
  LiteLLM_UserTable: {
    required: words('user_id models spend max_budget'),
    carried: [
      ...words('user_id user_alias models metadata spend model_spend object_permission_id'),
      ...RATES,
      ...BUDGET,
    ],
    facts: [
      ...words(
        'team_id sso_user_id organization_id password password_reset_required last_breach_check_at teams user_role',
      ),
      'user_email',
      ...WHO,
    ],
    restrictions: words('allowed_cache_controls policies'),
  },
  LiteLLM_TeamMembership: {
    required: words('user_id team_id spend budget_id'),
    carried: words('user_id team_id spend budget_id'),
    facts: ['total_spend'],
    restrictions: [],
  },
  LiteLLM_OrganizationMembership: {
    required: [],
    carried: words('user_id organization_id'),
    facts: ['user_role', 'spend', ...WHO],
    restrictions: ['budget_id'],
  },
  LiteLLM_BudgetTable: {
    required: words('budget_id max_budget budget_duration budget_reset_at'),
    carried: ['budget_id', 'allowed_models', ...RATES, ...BUDGET],
    facts: ['temp_budget_increase', 'temp_budget_expiry', ...WHO], // more room for a time: without it less may be spent
    restrictions: [],
  },
  LiteLLM_TagTable: {
    required: [],
    carried: words('tag_name spend budget_id'),
    facts: ['description', 'models', 'model_info', ...WHO],
    restrictions: [],
  },
  LiteLLM_ObjectPermissionTable: {
    required: [],
    carried: words('object_permission_id mcp_servers mcp_tool_permissions'),
    // What these give is left out, and nothing of gw takes its place.
    facts: words(
      'mcp_access_groups mcp_toolsets mcp_tool_search_enabled agents agent_access_groups models search_tools skills',
    ),
    restrictions: words('vector_stores blocked_tools'),
  },
  LiteLLM_BudgetWindowSpend: {
    required: [],
    carried: words('entity_type entity_id window_duration window_start spend'),
    facts: [],
    restrictions: [],
  },
} as const satisfies Readonly<Record<string, SourceTable>>;

export type TableName = keyof typeof TABLES;

/** The names of MCP servers. Nothing else is read of them: the table holds their credentials. */
export const SERVERS = 'LiteLLM_MCPServerTable';
const SERVER_COLUMNS: ReadonlySet<string> = new Set(['server_id', 'server_name', 'alias']);
/** Says which of two things of one name came first. */
const ORDER = 'created_at';

/** Whether a column is asked for: facts are not, among which are passwords and addresses of people. */
export function isRead(table: string, column: string): boolean {
  if (table === SERVERS) return SERVER_COLUMNS.has(column);
  const known = Object.entries<SourceTable>(TABLES).find(([name]) => name === table)?.[1];
  return known !== undefined && (column === ORDER || !known.facts.includes(column));
}

/** Members of `metadata` that bind requests, and are not carried. */
const BINDING_METADATA: ReadonlySet<string> = new Set([
  'model_rpm_limit',
  'model_tpm_limit',
  'guardrails',
  'policies',
  'enforced_params',
  'allowed_passthrough_routes',
  'disable_fallbacks',
]);

/** What a column holds while nothing is set. */
export function isUnset(value: unknown): boolean {
  if (value === null || value === undefined || value === '' || value === false || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** Names of what restricts by a row, and is not carried. */
export function restrictionsIn(table: TableName, row: Readonly<Record<string, unknown>>): readonly string[] {
  const { carried, facts }: SourceTable = TABLES[table];
  const harmless = new Set([...carried, ...facts, ORDER]);
  const metadata = row['metadata'];
  const members = typeof metadata === 'object' && metadata !== null ? Object.entries(metadata) : [];
  return [
    ...Object.entries(row).filter(([name]) => !harmless.has(name)),
    ...members.filter(([name]) => BINDING_METADATA.has(name)),
  ]
    .filter(([, value]) => !isUnset(value))
    .map(([name]) => name);
}
