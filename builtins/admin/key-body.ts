import { GatewayError, quoted, type Scope, type Unpriced } from '../../host/contract/index.ts';
import { KEY_LIMIT_LIST, type KeyLimitName } from '../../host/common/key-members.ts';
import { nameRulesIn } from '../../host/common/accounts/name-rules.ts';
import { BudgetProblem } from '../../host/common/budgets/budget-problem.ts';
import { type KeyBudget, readBudgets, readSessionBudgets } from '../../host/common/budgets/key-budget.ts';
import type { KeyLimits } from '../../host/common/host-principal.ts';
import { invalidRequest } from '../../host/common/invalid-request.ts';
import type { JsonObject } from '../../host/http/body/json-body.ts';
import {
  ACCESS_WORDS,
  type KeyAccess,
  refuseContradiction,
  scopesOfNew,
} from '../../host/stores/keys/access-of-keys.ts';
import type { KeyChange, KeyDraft, Rotation } from '../../host/stores/keys/key-record.ts';
import { Members } from './members.ts';
import { parseTimestamp } from '../../host/common/timestamps.ts';

const SCOPES: readonly Scope[] = ['admin', 'read_only'];

/** Characters of a name: it stands in log lines, in the audit trail and at every session of its key. */
const LONGEST_NAME = 1024;
/** Entries of a list, and characters of an entry: the longest model ids are ARNs of Bedrock, 2,048 characters (AWS, Bedrock API reference, `modelArn`, read 2026-11-22). */
const MOST_ENTRIES = 1000;
const LONGEST_ENTRY = 2048;
/** Ten years in seconds. */
const LONGEST_GRACE_S = 315_360_000;

/** The body of `POST /admin/keys`. Types first, then name, scopes, access, expiry and the limits, in this order. See docs/reference/admin.md#checks-of-a-key. */
export function readDraft(body: JsonObject, accessOtherwise: KeyAccess): KeyDraft {
  const { members, name, scopes, access, expiresAt } = readTypes(body);
  if (name.trim() === '') throw invalidRequest('name must be a text that is not empty');
  refuseLong(name);
  const checked = checkScopes(scopes);
  return {
    name,
    scopes: scopesOfNew(checked, checkAccess(access), accessOtherwise),
    expiresAt: readExpiry(expiresAt),
    limits: withoutNull(readLimits(members)),
  };
}

/** The body of `PUT /admin/keys/{id}`: what is left out or empty stays; of the limits, `null` and an empty list take one away. See docs/reference/admin.md#checks-of-a-key. */
export function readChange(body: JsonObject): KeyChange {
  const { members, name, scopes, access, expiresAt, clears } = readTypes(body);
  refuseLong(name);
  const checked = checkScopes(scopes);
  const checkedAccess = checkAccess(access);
  refuseContradiction(checked, checkedAccess);
  return {
    name: name.trim() === '' ? undefined : name,
    scopes: checked.length > 0 ? checked : undefined,
    access: checkedAccess,
    expiresAt: clears ? null : readExpiry(expiresAt),
    limits: readLimits(members),
  };
}

/** The body of a rotation. */
export function readRotation(body: JsonObject): Rotation {
  const members = new Members(body);
  return {
    graceMs: (members.integer('grace_seconds', 0, LONGEST_GRACE_S) ?? 0) * 1000,
    endsSessions: members.flag('end_sessions'),
  };
}

interface TypedBody {
  readonly members: Members;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly access: string | undefined;
  readonly expiresAt: string;
  readonly clears: boolean;
}

function readTypes(body: JsonObject): TypedBody {
  const members = new Members(body);
  return {
    members,
    name: members.text('name') ?? '',
    scopes: members.texts('scopes') ?? [],
    access: members.text('access'),
    expiresAt: members.text('expires_at') ?? '',
    clears: members.flag('clear_expiration'),
  };
}

export function refuseLong(name: string): void {
  if (name.length > LONGEST_NAME)
    throw invalidRequest(`name has ${name.length} characters, the limit is ${LONGEST_NAME}`);
}

function refuseMany(name: string, entries: readonly string[]): void {
  if (entries.length > MOST_ENTRIES)
    throw invalidRequest(`${name} has ${entries.length} entries, the limit is ${MOST_ENTRIES}`);
}

function checkScopes(scopes: readonly string[]): readonly Scope[] {
  refuseMany('scopes', scopes);
  return scopes.map((each) => {
    const scope = SCOPES.find((known) => known === each);
    if (!scope)
      throw new GatewayError('invalid_scope', `the scope ${quoted(each)} does not exist; use ${SCOPES.join(' or ')}`);
    return scope;
  });
}

function checkAccess(text: string | undefined): KeyAccess | undefined {
  const access = ACCESS_WORDS.find((word) => word === text);
  if (text !== undefined && !access)
    throw invalidRequest(`access is ${quoted(text)}; use ${ACCESS_WORDS.join(' or ')}`);
  return access;
}

function readExpiry(text: string): number | undefined {
  return readMoment('expires_at', text);
}

/** Unix milliseconds; `undefined` of an empty text. */
export function readMoment(name: string, text: string): number | undefined {
  if (text === '') return undefined;
  const at = parseTimestamp(text);
  if (at === undefined)
    throw invalidRequest(`${name} is ${quoted(text)}; use an RFC 3339 timestamp such as 2026-01-31T12:00:00Z`);
  return at;
}

export type LimitChange = NonNullable<KeyChange['limits']>;

/** What the body mentions. */
export function readLimits(members: Members): LimitChange {
  return Object.fromEntries(
    KEY_LIMIT_LIST.filter(([name]) => members.has(name)).map(([name, limit]) => [
      name,
      readLimit(members, name, limit),
    ]),
  );
}

function readLimit(
  members: Members,
  name: KeyLimitName,
  { kind, most = Number.MAX_SAFE_INTEGER, words = [] }: (typeof KEY_LIMIT_LIST)[number][1],
): KeyLimits[KeyLimitName] | null {
  if (kind === 'texts') return readList(members, name);
  if (kind === 'budgets') return readBudgetList(members, name);
  if (kind === 'session') return readSession(members, name);
  if (kind === 'integer') return members.integer(name, 1, most) ?? null;
  if (kind === 'amount') return members.amount(name) ?? null;
  if (kind === 'flag') return members.flag(name) || null; // what is unset is left out
  if (kind === 'text') return members.text(name) ?? null;
  if (kind === 'rules') return checking(() => members.read(name, (value) => nameRulesIn(value, name)) ?? null);
  return readWord(members, name, words);
}

function readWord(members: Members, name: string, words: readonly string[]): Unpriced | null {
  const text = members.text(name);
  if (text === undefined) return null;
  const word = words.find((each) => each === text);
  if (word === undefined) throw invalidRequest(`${name} must be ${words.join(', ')}, not ${quoted(text)}`);
  return word as Unpriced;
}

function checking<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof BudgetProblem ? invalidRequest(error.message) : error;
  }
}

function readList(members: Members, name: string): readonly string[] | null {
  const entries = members.texts(name) ?? [];
  refuseMany(name, entries);
  for (const entry of entries) {
    if (entry.trim() === '') throw invalidRequest(`${name} holds an empty entry`);
    if (entry.length > LONGEST_ENTRY)
      throw invalidRequest(`${name} holds an entry of ${entry.length} characters, the limit is ${LONGEST_ENTRY}`);
  }
  return entries.length > 0 ? entries : null;
}

function readBudgetList(members: Members, name: string): readonly KeyBudget[] | null {
  const budgets = checking(() => members.read(name, (value) => readBudgets(value, name)) ?? []);
  return budgets.length > 0 ? budgets : null;
}

function readSession(members: Members, name: string): KeyLimits['session'] | null {
  const budgets = checking(() => members.read(name, (value) => readSessionBudgets(value, name)) ?? []);
  return budgets.length > 0 ? { budgets } : null;
}

export function withoutNull(limits: LimitChange): KeyLimits {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null));
}
