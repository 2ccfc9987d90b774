import { type NameRules, nameRulesIn } from '../../host/common/accounts/name-rules.ts';
import type { KeyLimits } from '../../host/common/host-principal.ts';
import { type KeyBudget, readBudgets, readSessionBudgets } from '../../host/common/budgets/key-budget.ts';
import { type Scope, tryParseJson } from '../../host/contract/index.ts';
import { KEY_LIMIT_LIST, type KeyLimitName } from '../../host/common/key-members.ts';
import type { StoredKey } from '../../host/stores/keys/key-record.ts';
import { type Dialect, listOf, listText, timeOf } from './database/database.ts';

export type Row = Readonly<Record<string, unknown>>;

/** What is read of a row. A newer program's table may have more. */
export const KEY_COLUMNS: readonly string[] = [
  'id',
  'key_hash',
  'key_display',
  'name',
  'scopes',
  'created_at',
  'revoked_at',
  'expires_at',
  'rotated_at',
  'active',
  'usage_count',
  'last_used_at',
  ...KEY_LIMIT_LIST.map(([name]) => name),
  'previous_key_hash',
  'previous_expires_at',
  'sessions_from',
  'origin',
  'adopted_as',
];

/** A key as one row. The uses are not in it: they are added by a statement of their own. */
export function rowOf(key: StoredKey, { time }: Dialect): Row {
  const moment = (ms: number | undefined): string | null => (ms === undefined ? null : time(ms));
  return {
    id: key.id,
    key_hash: key.digest,
    key_display: key.display,
    name: key.name,
    scopes: JSON.stringify(key.scopes),
    active: key.active,
    created_at: time(key.createdAt),
    revoked_at: moment(key.revokedAt),
    expires_at: moment(key.expiresAt),
    rotated_at: moment(key.rotatedAt),
    ...Object.fromEntries(KEY_LIMIT_LIST.map(([name]) => [name, limitColumn(key.limits[name])])),
    previous_key_hash: key.previous?.digest ?? null,
    previous_expires_at: moment(key.previous?.until),
    sessions_from: moment(key.sessionsFrom),
    origin: key.origin ?? null,
    adopted_as: key.adoptedAs ?? null,
  };
}

export function keyOf(row: Row): StoredKey {
  const until = timeOf(row['previous_expires_at']);
  const previous = row['previous_key_hash'];
  return {
    id: String(row['id']),
    digest: String(row['key_hash']),
    display: String(row['key_display']),
    name: String(row['name']),
    scopes: (listOf(row['scopes']) ?? []) as readonly Scope[],
    createdAt: timeOf(row['created_at']) ?? 0,
    revokedAt: timeOf(row['revoked_at']),
    expiresAt: timeOf(row['expires_at']),
    rotatedAt: timeOf(row['rotated_at']),
    lastUsedAt: timeOf(row['last_used_at']),
    usageCount: Number(row['usage_count']),
    active: isTrue(row['active']),
    limits: limitsOf(row),
    previous: typeof previous === 'string' && until !== undefined ? { digest: previous, until } : undefined,
    sessionsFrom: timeOf(row['sessions_from']),
    origin: textOf(row['origin']),
    adoptedAs: textOf(row['adopted_as']),
  };
}

/** SQLite has no booleans; other programs write words. */
const isTrue = (value: unknown): boolean => value === true || value === 1 || value === 'true';

function limitColumn(value: KeyLimits[KeyLimitName]): string | number | boolean | null {
  if (value === undefined || typeof value !== 'object') return value ?? null;
  return isList(value) ? listText(value) : JSON.stringify(value);
}

const isList = (value: object): value is readonly object[] | readonly string[] => Array.isArray(value);

function limitsOf(row: Row): KeyLimits {
  const limits = KEY_LIMIT_LIST.map(([name, { kind }]) => [name, READERS[kind](row[name])]);
  return Object.fromEntries(limits.filter(([, value]) => value !== undefined));
}

/** What cannot be read as budgets may spend nothing, rather than anything. */
const UNREADABLE: readonly KeyBudget[] = [{ requests: 0 }];

function budgetsIn(value: unknown): readonly KeyBudget[] | undefined {
  if (value === null || value === undefined) return undefined;
  try {
    return readBudgets(typeof value === 'string' ? tryParseJson(value) : value);
  } catch {
    return UNREADABLE;
  }
}

function sessionIn(value: unknown): KeyLimits['session'] {
  if (value === null || value === undefined) return undefined;
  try {
    return { budgets: readSessionBudgets(typeof value === 'string' ? tryParseJson(value) : value, 'session') };
  } catch {
    return { budgets: UNREADABLE };
  }
}

/** Rules that cannot be read allow nothing. */
const UNREADABLE_RULES: NameRules = { allow: [] };

function rulesIn(value: unknown): NameRules | undefined {
  if (value === null || value === undefined) return undefined;
  try {
    return nameRulesIn(typeof value === 'string' ? tryParseJson(value) : value, 'rules');
  } catch {
    return UNREADABLE_RULES;
  }
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const READERS: Readonly<Record<(typeof KEY_LIMIT_LIST)[number][1]['kind'], (value: unknown) => unknown>> = {
  text: textOf,
  word: textOf,
  texts: listOf,
  budgets: budgetsIn,
  session: sessionIn,
  rules: rulesIn,
  flag: (value) => isTrue(value) || undefined,
  integer: numberOf,
  amount: numberOf,
};
