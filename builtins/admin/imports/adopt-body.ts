import { GatewayError, isFields, quoted } from '../../../host/contract/index.ts';
import { BudgetProblem } from '../../../host/common/budgets/budget-problem.ts';
import { type BudgetFacts, factsOf, OPENED_BUDGETS } from '../../../host/common/budgets/key-budget.ts';
import type { KeyLimits } from '../../../host/common/host-principal.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { KEY_LIMIT_LIST } from '../../../host/common/key-members.ts';
import { parseTimestamp } from '../../../host/common/timestamps.ts';
import type { JsonObject } from '../../../host/http/body/json-body.ts';
import { readLimits, readMoment, refuseLong, withoutNull } from '../key-body.ts';
import { Members } from '../members.ts';

/** Keys of one call. */
const MOST_KEYS = 500;
const LONGEST_DISPLAY = 64;
const DIGEST = /^[0-9a-f]{64}$/;
const MEMBERS: ReadonlySet<string> = new Set([
  'digest',
  'display',
  'name',
  'previous',
  'expires_at',
  'created_at',
  ...KEY_LIMIT_LIST.map(([name]) => name),
]);

/** A key of another gateway, by the digest of its value. */
export interface WrittenKey {
  readonly digest: string;
  readonly display: string;
  readonly name: string;
  /** The value before it, as long as that counts. */
  readonly previous: { readonly digest: string; readonly until: number } | undefined;
  readonly expiresAt: number | undefined;
  readonly createdAt: number | undefined;
  readonly limits: KeyLimits;
  /** Its budgets, with what was spent of them already. */
  readonly budgets: readonly BudgetFacts[];
}

export interface AdoptBody {
  readonly importId: string;
  /** Changes nothing, and says how the keys differ from those that are here. */
  readonly isCheck: boolean;
  readonly keys: readonly WrittenKey[];
}

/** The body of `POST /admin/keys/adopt`. No message holds a digest. */
export function readAdoption(body: JsonObject): AdoptBody {
  const unknown = Object.keys(body).filter((name) => !['import_id', 'keys', 'check'].includes(name));
  if (unknown.length > 0) throw invalidRequest(`there is no member ${unknown.map((name) => quoted(name)).join(', ')}`);
  const members = new Members(body);
  const isCheck = members.flag('check');
  const importId = members.text('import_id') ?? '';
  if (importId === '' && !isCheck) throw invalidRequest('import_id must be the id of an import');
  const { keys } = body;
  if (!Array.isArray(keys) || keys.length > MOST_KEYS)
    throw invalidRequest(`keys must be a list of at most ${MOST_KEYS} keys`);
  return { importId, isCheck, keys: keys.map((key: unknown, at) => readKey(key, at)) };
}

function readKey(key: unknown, at: number): WrittenKey {
  try {
    if (!isFields(key)) throw invalidRequest('it must be an object');
    const unknown = Object.keys(key).filter((name) => !MEMBERS.has(name));
    if (unknown.length > 0)
      throw invalidRequest(`there is no member ${unknown.map((name) => quoted(name)).join(', ')}`);
    return readMembers(key);
  } catch (error) {
    if (error instanceof BudgetProblem || error instanceof GatewayError)
      throw invalidRequest(`keys[${at}]: ${error.message}`);
    throw error;
  }
}

function readMembers(key: JsonObject): WrittenKey {
  const budgets = openedBudgets(key['budgets']);
  const members = new Members({ ...key, ...(budgets && { budgets: budgets.written }) });
  const name = members.text('name') ?? '';
  if (name.trim() === '') throw invalidRequest('name must be a text that is not empty');
  refuseLong(name);
  const display = members.text('display') ?? '';
  if (display === '' || display.length > LONGEST_DISPLAY)
    throw invalidRequest(`display must be a text of 1 to ${LONGEST_DISPLAY} characters`);
  return {
    digest: digestIn(key['digest'], 'digest'),
    display,
    name,
    previous: previousIn(key['previous']),
    expiresAt: readMoment('expires_at', members.text('expires_at') ?? ''),
    createdAt: readMoment('created_at', members.text('created_at') ?? ''),
    limits: limitsIn(members),
    budgets: budgets?.facts ?? [],
  };
}

/** A list of tools that names none allows none: keys of other gateways have no tools of this one. */
function limitsIn(members: Members): KeyLimits {
  const limits = withoutNull(readLimits(members));
  return members.texts('mcp_tools')?.length === 0 ? { ...limits, mcp_tools: [] } : limits;
}

/** What is not a digest may be a key: it is not repeated. */
function digestIn(value: unknown, name: string): string {
  if (typeof value === 'string' && DIGEST.test(value)) return value;
  throw invalidRequest(`${name} must be 64 hexadecimal digits in lower case`);
}

function previousIn(value: unknown): WrittenKey['previous'] {
  if (value === undefined || value === null) return undefined;
  const { digest, until } = isFields(value) ? value : {};
  const at = typeof until === 'string' ? parseTimestamp(until) : undefined;
  if (at === undefined) throw invalidRequest('previous must have a digest, and in until an RFC 3339 timestamp');
  return { digest: digestIn(digest, 'previous.digest'), until: at };
}

interface Opened {
  readonly facts: readonly BudgetFacts[];
  readonly written: readonly object[];
}

/** Budgets with what was spent of them, and as a key keeps them. */
function openedBudgets(value: unknown): Opened | undefined {
  if (!Array.isArray(value)) return undefined; // the reader of members says what is wrong
  const budgets: readonly unknown[] = value;
  return {
    facts: budgets.map((budget, at) => factsOf(budget, `budgets[${at}]`, OPENED_BUDGETS)),
    written: budgets.map((budget) => {
      const { opening: _opening, ...others } = isFields(budget) ? budget : {};
      return others;
    }),
  };
}
