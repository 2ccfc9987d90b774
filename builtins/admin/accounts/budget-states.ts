import type { Account } from '../../../host/common/accounts/account.ts';
import { isTagPattern } from '../../../host/common/accounts/account-path.ts';
import { type Raise, raisedBy } from '../../../host/common/accounts/raise.ts';
import { shownAmount, sumName, WINDOWS } from '../../../host/common/budgets/counted-sum.ts';
import type { BudgetFacts } from '../../../host/common/budgets/key-budget.ts';
import { Windows } from '../../../host/common/budgets/windows.ts';
import type { Ledgers } from '../../../host/stores/ledgers/ledgers.ts';
import { timestamp } from '../../../host/common/timestamps.ts';

/** A budget with what is left of it in the window that runs. */
export interface BudgetState {
  readonly name: string;
  readonly begins_at?: string;
  readonly ends_at?: string;
  /** Without raises. */
  readonly limit: number;
  readonly raised: number;
  readonly spent: number;
  readonly reserved: number;
  readonly remaining: number;
}

/** What memory says of the budgets of an account; `null` for those of a pattern, which stand for many. */
export function budgetStates(
  account: Account,
  ledgers: Pick<Ledgers, 'peek'>,
  raises: readonly Raise[],
  now: number,
): readonly (BudgetState | null)[] {
  if (isTagPattern(account.path)) return account.budgets.map(() => null);
  return account.budgets.map((facts) => stateOf(account, facts, { ledgers, raises, now }));
}

function stateOf(
  { budgetId }: Account,
  { unit, rule, ruleName, limit }: BudgetFacts,
  { ledgers, raises, now }: { ledgers: Pick<Ledgers, 'peek'>; raises: readonly Raise[]; now: number },
): BudgetState {
  const window = new Windows(rule).at(now);
  const name = sumName(budgetId, { unit, ruleName }, window);
  const { committed, reserved } = ledgers.peek(WINDOWS, name);
  const raised = raisedBy(raises, unit, ruleName, now);
  const held = Math.ceil(reserved);
  return {
    name,
    ...(rule.kind === 'total' ? {} : { begins_at: timestamp(window.beginsAt), ends_at: timestamp(window.endsAt) }),
    limit: shownAmount(unit, limit),
    raised: shownAmount(unit, raised),
    spent: shownAmount(unit, committed),
    reserved: shownAmount(unit, held),
    remaining: shownAmount(unit, Math.max(0, limit + raised - committed - held)),
  };
}
