import type { BudgetFacts, Unit } from './key-budget.ts';
import type { Window } from './windows.ts';

/** The ledger that keeps what `budget_usd` of a key counts, under the id of the key. */
export const TOTALS = 'key budgets';
/** The ledger that keeps what `budgets` of keys, accounts and tags count, in the window of each. */
export const WINDOWS = 'budgets';
/** The ledger that keeps what budgets of sessions count. */
export const SESSIONS = 'session budgets';

/** What the sum of a budget is kept under in one window: owner, unit, rule and window. See docs/reference/budgets.md#what-is-kept. */
export const sumName = (
  owner: string,
  { unit, ruleName }: Pick<BudgetFacts, 'unit' | 'ruleName'>,
  { name }: Window,
): string => [owner, unit, ruleName, name].join('|');

const MICRO = 1e6;

/** Dollars, tokens or requests of what ledgers count: micro-dollars, tokens or requests. */
export const shownAmount = (unit: Unit, amount: number): number => (unit === 'usd' ? amount / MICRO : amount);
