import { type BudgetFacts, factsOf, type KeyBudget } from '../../host/common/budgets/key-budget.ts';
import { type Level, levelName } from '../../host/common/accounts/level.ts';
import type { KeyLimits } from '../../host/common/host-principal.ts';

/** Whose a budget is. */
export interface BudgetOwner {
  readonly kind: 'key' | 'session' | 'account' | 'tag';
  /** As programs read it: the id of a key, a path, `#` and the name of a tag; empty of a session. */
  readonly id: string;
  /** As people read it: `the key`, `the account /acme`. */
  readonly name: string;
  /** What names of its sums begin with. */
  readonly prefix: string;
  /** As figures call it: the values of a pattern, which clients may choose, are one. */
  readonly series: string;
}

/** The budgets of one owner. */
export interface BudgetLevel {
  readonly owner: BudgetOwner;
  readonly budgets: readonly BudgetFacts[];
}

const NONE: readonly BudgetLevel[] = Object.freeze([]);

/** What names of sums of sessions of a key begin with. */
export const sessionPrefix = (id: string): string => `s:${id}~`;

/** Whose budgets a request asks, in their order: the key, its session, its account and those above it, its tags. They are made once for each credential, and each state of the accounts. */
export class BudgetLevels {
  readonly #known = new WeakMap<KeyLimits, readonly BudgetLevel[]>();

  /** `id` is that of the key; there is none without a credential, and no budget of a key then. */
  of(id: string | undefined, limits: KeyLimits): readonly BudgetLevel[] {
    if (!limits.budgets && !limits.levels) return NONE;
    const known = this.#known.get(limits);
    if (known) return known;
    const levels = [
      ...(limits.budgets ? [keyLevel(id ?? '', limits.budgets)] : []),
      ...(id === undefined ? [] : (limits.levels ?? []).filter(hasSessions).map((level) => sessionLevel(id, level))),
      ...(limits.levels ?? []).flatMap((account) => (account.budgets.length > 0 ? [accountLevel(account)] : [])),
    ];
    this.#known.set(limits, levels);
    return levels;
  }
}

/** The budgets of a key by itself. */
export const keyLevel = (id: string, budgets: readonly KeyBudget[]): BudgetLevel => ({
  owner: { kind: 'key', id, name: 'the key', prefix: `k:${id}`, series: '' },
  budgets: budgets.map((budget, at) => factsOf(budget, `budgets[${at}]`)),
});

/** The budgets of an account or a tag by itself. */
export const accountLevel = (level: Level): BudgetLevel => ({
  owner: {
    kind: level.kind,
    id: level.path,
    name: levelName(level),
    prefix: level.budgetId,
    series: level.pattern ?? level.path,
  },
  budgets: level.budgets,
});

const hasSessions = ({ sessionBudgets }: Level): boolean => sessionBudgets.length > 0;

/** What each session of a key has by the key itself, an account or a tag. Which session it is stands in the names of sums once a request says so. */
const sessionLevel = (id: string, { kind, path, sessionBudgets }: Level): BudgetLevel => ({
  owner: {
    kind: 'session',
    id: '',
    name: 'the session',
    prefix: `${sessionPrefix(id)}${kind === 'key' ? '' : `@${path}`}`,
    series: '',
  },
  budgets: sessionBudgets.map((budget) => ({ ...budget, warn: [] })),
});
