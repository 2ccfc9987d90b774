import type { Unpriced } from '../../contract/index.ts';
import { ACCOUNT_BUDGETS, type BudgetFacts, factsOf, type KeyBudget } from '../budgets/key-budget.ts';
import { type AccountLimitName, type BroughtBy, INHERITED_MEMBERS, type WrittenAccount } from './account-members.ts';
import { type AccountKind, kindOfPath } from './account-path.ts';
import type { NameRules } from './name-rules.ts';

/** Where an account comes from: the configuration, the store, or another account that has it below. */
export type AccountOrigin = 'declared' | 'stored' | 'implied';

/** An account or a tag as it binds: its own members, and those that come from above. */
export interface Account {
  readonly path: string;
  readonly kind: AccountKind;
  readonly origin: AccountOrigin;
  /** What it is in names of what is counted: `a:/acme`, `t:nightly`, `t:project=*~project=red`. */
  readonly budgetId: string;
  readonly blocked: boolean;
  readonly budgets: readonly BudgetFacts[];
  /** Each session of each key has these for itself. */
  readonly sessionBudgets: readonly BudgetFacts[];
  readonly rpm: number | undefined;
  readonly tpm: number | undefined;
  readonly maxParallel: number | undefined;
  readonly models: NameRules | undefined;
  readonly providers: NameRules | undefined;
  readonly unpriced: Unpriced | undefined;
  readonly requiredTags: readonly string[];
  readonly broughtBy: BroughtBy;
  /** The path of the pattern that a tag is a value of. */
  readonly pattern: string | undefined;
  /** The members as they are shown. */
  readonly effective: WrittenAccount;
  /** Which of them come from above. */
  readonly inherited: readonly AccountLimitName[];
}

export interface AccountGiven {
  readonly path: string;
  readonly origin: AccountOrigin;
  /** What is written of it; nothing of an implied one. */
  readonly written: WrittenAccount | undefined;
  readonly parent: Account | undefined;
  readonly timezone: string;
  /** The name of the tag, where a pattern matches it. */
  readonly value?: string;
}

/** What an account comes to. */
export function accountOf({ path, origin, written, parent, timezone, value }: AccountGiven): Account {
  const own: WrittenAccount = written ?? { path };
  const above = parent?.effective.child_default ?? {};
  const inherited = INHERITED_MEMBERS.filter((name) => own[name] === undefined && above[name] !== undefined);
  const effective: WrittenAccount =
    inherited.length === 0 ? own : { ...own, ...Object.fromEntries(inherited.map((name) => [name, above[name]])) };
  return {
    path,
    kind: kindOfPath(path),
    origin,
    budgetId: budgetIdOf(path, value),
    blocked: effective.blocked ?? false,
    budgets: factsOfAll(effective.budgets, timezone),
    sessionBudgets: factsOfAll(effective.session?.budgets, timezone),
    rpm: effective.rpm,
    tpm: effective.tpm,
    maxParallel: effective.max_parallel,
    models: effective.models,
    providers: effective.providers,
    unpriced: effective.unpriced,
    requiredTags: effective.required_tags ?? NONE,
    broughtBy: effective.brought_by ?? 'key',
    pattern: undefined,
    effective,
    inherited,
  };
}

const NONE: readonly never[] = Object.freeze([]);

const factsOfAll = (budgets: readonly KeyBudget[] | undefined, timezone: string): readonly BudgetFacts[] =>
  budgets?.map((budget, at) => factsOf(budget, `budgets[${at}]`, { ...ACCOUNT_BUDGETS, timezone })) ?? NONE;

/** What names of sums of an account or a tag begin with. */
export function budgetIdOf(path: string, value?: string): string {
  if (kindOfPath(path) === 'account') return `a:${path}`;
  return value === undefined ? `t:${path.slice(1)}` : `t:${path.slice(1)}~${value}`;
}
