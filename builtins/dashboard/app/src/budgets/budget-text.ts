import type { Account } from '../api/answers.ts';

/** A budget of a key, an account or a tag, as it is written. */
export type Budget = Omit<NonNullable<Account['budgets']>[number], 'state'>;

export const UNITS = [
  { value: 'usd', label: 'US dollars' },
  { value: 'tokens', label: 'Tokens' },
  { value: 'requests', label: 'Requests' },
] as const;
export type Unit = (typeof UNITS)[number]['value'];

/** A budget as it is typed; what the form has no field for stays as it was. */
export interface TypedBudget {
  readonly unit: Unit;
  readonly amount: string;
  readonly every: string;
  readonly rest: Budget;
}

export const NEW_BUDGET: TypedBudget = { unit: 'usd', amount: '', every: 'month', rest: {} };
export const MOST_BUDGETS = 16;

export function typedBudgets(budgets: readonly Budget[] = []): readonly TypedBudget[] {
  return budgets.map(({ usd, tokens, requests, every = 'total', ...rest }) => {
    const [unit, amount] =
      usd !== undefined
        ? (['usd', usd] as const)
        : tokens === undefined
          ? (['requests', requests] as const)
          : (['tokens', tokens] as const);
    return { unit, amount: String(amount ?? ''), every, rest };
  });
}

/** As the gateway takes them; `null` takes them away. */
export function budgetsOf(typed: readonly TypedBudget[]): readonly Budget[] | null {
  if (typed.length === 0) return null;
  return typed.map(({ unit, amount, every, rest }) => ({
    [unit]: Number(amount),
    ...(every.trim() === 'total' ? {} : { every: every.trim() }),
    ...restFor(every.trim(), rest),
  }));
}

/** What was said of the window before, as far as another window takes it: the gateway refuses the rest. */
function restFor(every: string, { at, on, timezone, from, ...others }: Budget): Budget {
  const isCivil = every === 'day' || every === 'week' || every === 'month';
  return {
    ...others,
    ...(isCivil && at !== undefined && { at }),
    ...(isCivil && timezone !== undefined && { timezone }),
    ...((every === 'week' || every === 'month') && on !== undefined && { on }),
    ...(!isCivil && every !== 'total' && from !== undefined && { from }),
  };
}

/** What is wrong with what was typed, by its place; nothing where all of it may be sent. */
export function budgetProblem({ unit, amount, every }: TypedBudget): string | undefined {
  const value = Number(amount);
  if (amount.trim() === '' || !(value >= 0) || !Number.isFinite(value)) return 'A budget is a number from 0.';
  if (unit !== 'usd' && !Number.isInteger(value)) return 'Tokens and requests are whole numbers.';
  return every.trim() === ''
    ? 'Say when it begins again: day, week, month, total, or a duration such as 5h.'
    : undefined;
}

/** Whether the two say the same. */
export const isSameList = (one: readonly TypedBudget[], other: readonly TypedBudget[]): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
