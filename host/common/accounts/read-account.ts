import { quoted } from '../../contract/index.ts';
import { BudgetProblem } from '../budgets/budget-problem.ts';
import {
  ACCOUNT_BUDGETS,
  type BudgetReading,
  OPENED_BUDGETS,
  readBudgets,
  readSessionBudgets,
} from '../budgets/key-budget.ts';
import {
  ACCOUNT_MEMBER_LIST,
  ACCOUNT_MEMBERS,
  type AccountMemberName,
  type WrittenAccount,
} from './account-members.ts';
import { type AccountKind, isTagName, isTagPattern, kindOfPath, pathProblem } from './account-path.ts';
import { nameRulesIn } from './name-rules.ts';

/** One thing that is wrong with an account as it is written. */
export interface AccountProblem {
  /** The rule of configurations that it breaks. */
  readonly rule: string;
  readonly message: string;
}

export interface AccountReading {
  readonly account: WrittenAccount | undefined;
  readonly problems: readonly AccountProblem[];
}

export interface AccountSource {
  /** The time zone of budgets that name none. */
  readonly timezone: string;
  /** A budget may say what was spent already: when an administrator makes it, and never in a configuration. */
  readonly hasOpening: boolean;
}

type Written = Readonly<Record<string, unknown>>;
type Check = (value: unknown, path: string, reading: Reading) => void;

interface Reading {
  readonly kind: AccountKind;
  readonly source: AccountSource;
  /** Budgets that stand for more than one account have no opening. */
  readonly isShared: boolean;
}

const LONGEST_TITLE = 256;
const MOST_REQUIRED = 10;

/** Reads an account or a tag out of JSON, whose members are strict. `at` is where it stands, such as `accounts[3]`; empty for a body. */
export function readAccount(value: unknown, at: string, source: AccountSource): AccountReading {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return problem('CV80', `${at || 'the body'} must be an object with the members of an account`);
  const written = value as Written;
  const path = written['path'];
  const prefix = at === '' ? '' : `${at}.`;
  if (typeof path !== 'string')
    return problem('CV80', `${prefix}path must be a path such as /acme/search, or a tag such as #nightly`);
  const reason = pathProblem(path);
  if (reason !== undefined) return problem('CV80', `${prefix}path is ${quoted(path)}: ${reason}`);
  const problems = problemsOf(written, prefix, { kind: kindOfPath(path), source, isShared: isTagPattern(path) });
  return { account: problems.length === 0 ? (written as unknown as WrittenAccount) : undefined, problems };
}

const problem = (rule: string, message: string): AccountReading => ({
  account: undefined,
  problems: [{ rule, message }],
});

function problemsOf(written: Written, prefix: string, reading: Reading): readonly AccountProblem[] {
  const problems: AccountProblem[] = [];
  for (const name of Object.keys(written))
    if (!Object.hasOwn(ACCOUNT_MEMBERS, name))
      problems.push({ rule: 'CV80', message: `${prefix}${name} is not a member of an account` });
  for (const [name] of ACCOUNT_MEMBER_LIST)
    if (written[name] !== undefined) {
      const found = memberProblem(name, written[name], `${prefix}${name}`, reading);
      if (found) problems.push(found);
    }
  return problems;
}

function memberProblem(
  name: AccountMemberName,
  value: unknown,
  path: string,
  reading: Reading,
): AccountProblem | undefined {
  try {
    checkMember(name, value, path, reading);
    return undefined;
  } catch (error) {
    if (error instanceof BudgetProblem) return { rule: error.rule, message: error.message };
    throw error;
  }
}

function checkMember(name: AccountMemberName, value: unknown, path: string, reading: Reading): void {
  const { kind, only, words, most } = { only: undefined, words: undefined, most: undefined, ...ACCOUNT_MEMBERS[name] };
  if (only !== undefined && only !== reading.kind)
    throw new BudgetProblem('CV80', `${path} is a member of ${only === 'tag' ? 'tags' : 'accounts'} alone`);
  if (kind === 'integer') checkInteger(value, path, most ?? Number.MAX_SAFE_INTEGER);
  else if (kind === 'word') checkWord(value, path, words ?? []);
  else CHECKS[kind](value, path, reading);
}

const CHECKS: Readonly<Record<'text' | 'flag' | 'budgets' | 'rules' | 'tags' | 'session' | 'limits', Check>> = {
  text: (value, path) => {
    if (typeof value !== 'string' || value.length > LONGEST_TITLE || value.includes('\0') || !value.isWellFormed())
      throw new BudgetProblem('CV80', `${path} must be a text of at most ${LONGEST_TITLE} characters`);
  },
  flag: (value, path) => {
    if (typeof value !== 'boolean')
      throw new BudgetProblem('CV80', `${path} must be true or false, not ${quoted(value)}`);
  },
  budgets: (value, path, reading) => void readBudgets(value, path, budgetReading(reading)),
  rules: (value, path) => void nameRulesIn(value, path),
  tags: checkTags,
  session: (value, path, reading) =>
    void readSessionBudgets(value, path, budgetReading({ ...reading, isShared: true })),
  limits: checkDefaults,
};

function checkTags(value: unknown, path: string): void {
  if (!Array.isArray(value) || value.length > MOST_REQUIRED || !value.every((name) => isName(name)))
    throw new BudgetProblem('CV80', `${path} must be a list of at most ${MOST_REQUIRED} names of tags, without #`);
}

const isName = (name: unknown): boolean => typeof name === 'string' && isTagName(name);

function checkDefaults(value: unknown, path: string, reading: Reading): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BudgetProblem('CV80', `${path} must be an object with limits of an account, not ${quoted(value)}`);
  for (const [name, member] of Object.entries(value)) {
    const known = ACCOUNT_MEMBER_LIST.find(([each, { isInherited }]) => each === name && isInherited);
    if (!known) throw new BudgetProblem('CV80', `${path}.${name} is not a limit that accounts take from above`);
    checkMember(known[0], member, `${path}.${name}`, { ...reading, isShared: true });
  }
}

function budgetReading({ source, isShared }: Reading): BudgetReading {
  const { timezone, hasOpening } = source;
  return { members: (hasOpening && !isShared ? OPENED_BUDGETS : ACCOUNT_BUDGETS).members, timezone };
}

function checkInteger(value: unknown, path: string, most: number): void {
  if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > most)
    throw new BudgetProblem('CV80', `${path} must be an integer from 1 to ${most}, not ${quoted(value)}`);
}

function checkWord(value: unknown, path: string, words: readonly string[]): void {
  if (!words.some((word) => word === value))
    throw new BudgetProblem('CV89', `${path} must be ${words.join(', ')}, not ${quoted(value)}`);
}
