import { sumName, WINDOWS } from '../../host/common/budgets/counted-sum.ts';
import type { BudgetFacts, KeyBudget } from '../../host/common/budgets/key-budget.ts';
import { Windows } from '../../host/common/budgets/windows.ts';
import type { Opening } from '../../host/stores/ledgers/opening.ts';

/** What tells a budget from those beside it: its unit, its windows, its models. */
export const identityOf = ({ unit, ruleName }: BudgetFacts): string => `${unit} ${ruleName}`;

/** What was spent already of new budgets, in the windows that run. `owner` is whose they are, as names of sums begin. */
export function openingsOf(owner: string, budgets: readonly BudgetFacts[], now: number): readonly Opening[] {
  return budgets.flatMap((facts) => {
    const { opening = 0, rule, limit } = facts;
    if (opening === 0) return [];
    const window = new Windows(rule).at(now);
    const endsAt = Number.isFinite(window.endsAt) ? window.endsAt : undefined;
    return [{ ledger: WINDOWS, key: sumName(owner, facts, window), amount: opening, limit, endsAt }];
  });
}

/** As budgets are kept and shown: what was spent before them is none of their members. */
export const withoutOpenings = (budgets: readonly KeyBudget[]): readonly KeyBudget[] =>
  budgets.map(({ opening: _opening, ...budget }) => budget);
