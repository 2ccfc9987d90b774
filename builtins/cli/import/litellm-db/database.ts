import type { Fields } from '../../../../host/contract/json/fields.ts';
import type { WindowSpend } from './limits.ts';
import type { Source } from './source.ts';
import { SERVERS, type TableName } from './tables.ts';
import { momentIn, numberIn, textIn } from './values.ts';

/** What is read of a database of LiteLLM, by the ids of its rows. */
export interface LitellmDatabase {
  readonly keys: readonly Fields[];
  /** Values that were replaced, the newest first, by the digest of the one that counts now. */
  readonly replaced: ReadonlyMap<string, readonly Fields[]>;
  readonly organizations: ReadonlyMap<string, Fields>;
  readonly teams: ReadonlyMap<string, Fields>;
  readonly projects: ReadonlyMap<string, Fields>;
  readonly users: ReadonlyMap<string, Fields>;
  /** By team and user. */
  readonly memberships: ReadonlyMap<string, Fields>;
  /** By organization and user. */
  readonly organizationMemberships: ReadonlyMap<string, Fields>;
  readonly budgets: ReadonlyMap<string, Fields>;
  readonly tags: ReadonlyMap<string, Fields>;
  readonly permissions: ReadonlyMap<string, Fields>;
  /** Names of MCP servers by their ids. */
  readonly servers: ReadonlyMap<string, string>;
  /** What was spent in windows of `budget_limits`, by `windowOwner`; `undefined` where this LiteLLM does not keep it. */
  readonly windowSpend: ReadonlyMap<string, ReadonlyMap<string, WindowSpend>> | undefined;
  /** Names of what restricts all keys, and is not carried. */
  readonly restrictionsOfAll: readonly string[];
}

export const pairOf = (one: string, other: string): string => `${one}\n${other}`;

/** Whose windows of `budget_limits` are: `key` or `team`, and its id. */
export const windowOwner = (kind: string, id: string): string => pairOf(kind.toLowerCase(), id);

export async function readDatabase(source: Source): Promise<LitellmDatabase> {
  const by = async (table: TableName, ...ids: readonly string[]): Promise<ReadonlyMap<string, Fields>> =>
    new Map((await source.rows(table)).map((row) => [ids.map((id) => textIn(row, id) ?? '').join('\n'), row]));
  return {
    keys: await source.rows('LiteLLM_VerificationToken'),
    replaced: replacedIn(await source.rows('LiteLLM_DeprecatedVerificationToken')),
    organizations: await by('LiteLLM_OrganizationTable', 'organization_id'),
    teams: await by('LiteLLM_TeamTable', 'team_id'),
    projects: await by('LiteLLM_ProjectTable', 'project_id'),
    users: await by('LiteLLM_UserTable', 'user_id'),
    memberships: await by('LiteLLM_TeamMembership', 'team_id', 'user_id'),
    organizationMemberships: await by('LiteLLM_OrganizationMembership', 'organization_id', 'user_id'),
    budgets: await by('LiteLLM_BudgetTable', 'budget_id'),
    tags: await by('LiteLLM_TagTable', 'tag_name'),
    permissions: await by('LiteLLM_ObjectPermissionTable', 'object_permission_id'),
    servers: new Map(
      (await source.rows(SERVERS)).flatMap((row) => {
        const [id, name] = [textIn(row, 'server_id'), textIn(row, 'alias') ?? textIn(row, 'server_name')];
        return id !== undefined && name !== undefined ? [[id, name] as const] : [];
      }),
    ),
    windowSpend: source.columns.has(WINDOW_SPEND) ? windowSpendIn(await source.rows(WINDOW_SPEND)) : undefined,
    restrictionsOfAll: await restrictionsOfAll(source),
  };
}

const WINDOW_SPEND = 'LiteLLM_BudgetWindowSpend';

function replacedIn(rows: readonly Fields[]): LitellmDatabase['replaced'] {
  const newestFirst = rows.toSorted((a, b) => (momentIn(b, 'revoke_at') ?? 0) - (momentIn(a, 'revoke_at') ?? 0));
  return Map.groupBy(newestFirst, (row) => textIn(row, 'active_token_id') ?? '');
}

function windowSpendIn(rows: readonly Fields[]): LitellmDatabase['windowSpend'] {
  const owners = Map.groupBy(rows, (row) =>
    windowOwner(textIn(row, 'entity_type') ?? '', textIn(row, 'entity_id') ?? ''),
  );
  const windows = (of: readonly Fields[]): ReadonlyMap<string, WindowSpend> =>
    new Map(
      of.map((row) => [
        textIn(row, 'window_duration') ?? '',
        { startsAt: momentIn(row, 'window_start') ?? 0, usd: numberIn(row, 'spend') ?? 0 },
      ]),
    );
  return new Map([...owners].map(([owner, of]) => [owner, windows(of)]));
}

/** What binds all keys, or clients who name themselves in bodies: gw has nothing like it. */
const OF_ALL: readonly (readonly [name: string, table: string, column: string, condition: string])[] = [
  ['end_user_budgets', 'LiteLLM_EndUserTable', 'budget_id', 'budget_id IS NOT NULL'],
  ['end_user_models', 'LiteLLM_EndUserTable', 'models', 'cardinality(models) > 0'],
  ['end_user_blocked', 'LiteLLM_EndUserTable', 'blocked', 'blocked'],
  ['allowed_model_region', 'LiteLLM_EndUserTable', 'allowed_model_region', 'allowed_model_region IS NOT NULL'],
  ['model_access_group_budgets', 'LiteLLM_ModelAccessGroupBudgetTable', 'budget_id', 'budget_id IS NOT NULL'],
  // Settings are JSON, or a JSON text that holds some.
  [
    'max_budget',
    'LiteLLM_Config',
    'param_value',
    String.raw`param_value::text ~ '"max_budget\\?"\s*:\s*"?[0-9.]*[1-9]'`,
  ],
  [
    'end_user_budgets',
    'LiteLLM_Config',
    'param_value',
    String.raw`param_value::text ~ '"max_end_user_budget(_id)?\\?"\s*:\s*\\?"?[A-Za-z0-9]'`,
  ],
];

async function restrictionsOfAll(source: Source): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const [name, table, column, condition] of OF_ALL)
    if (source.columns.get(table)?.has(column) && (await source.has(table, condition))) found.add(name);
  return [...found];
}
