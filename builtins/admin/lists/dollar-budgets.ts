import { sumName, TOTALS, WINDOWS } from '../../../host/common/budgets/counted-sum.ts';
import { type BudgetFacts, factsOf } from '../../../host/common/budgets/key-budget.ts';
import { Windows } from '../../../host/common/budgets/windows.ts';
import type { KeyRecord } from '../../../host/stores/keys/key-record.ts';

/** A budget in dollars, and where its sum is kept. Amounts are micro-dollars. */
export interface DollarBudget {
  readonly ledger: string;
  readonly key: string;
  /** Without raises. */
  readonly limit: number;
  readonly ruleName: string;
  /** Patterns of the models that it counts; all without them. */
  readonly models: readonly string[] | undefined;
  readonly endsAt: number | undefined;
}

const MICRO = 1e6;

/** The budgets of a key that are in dollars, in the windows of a moment. The names of what is counted are those of docs/reference/budgets.md#what-is-kept. */
export function dollarBudgets({ id, limits }: Pick<KeyRecord, 'id' | 'limits'>, at: number): readonly DollarBudget[] {
  const { budget_usd: total, budgets = [] } = limits;
  const windows = budgetsOf(
    `k:${id}`,
    budgets.map((budget, place) => factsOf(budget, `budgets[${place}]`)),
    at,
  );
  if (total === undefined) return windows;
  return [
    {
      ledger: TOTALS,
      key: id,
      limit: Math.round(total * MICRO),
      ruleName: 'total',
      models: undefined,
      endsAt: undefined,
    },
    ...windows,
  ];
}

/** Those of one owner, who stands at the beginning of their names. */
export function budgetsOf(owner: string, budgets: readonly BudgetFacts[], at: number): readonly DollarBudget[] {
  return budgets
    .filter(({ unit }) => unit === 'usd')
    .map((facts) => {
      const window = new Windows(facts.rule).at(at);
      const endsAt = Number.isFinite(window.endsAt) ? window.endsAt : undefined;
      return {
        ledger: WINDOWS,
        key: sumName(owner, facts, window),
        limit: facts.limit,
        ruleName: facts.ruleName,
        models: facts.models,
        endsAt,
      };
    });
}
