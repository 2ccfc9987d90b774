import type { Raise } from '../../../host/common/accounts/raise.ts';
import { timestamp } from '../../../host/common/timestamps.ts';
import { shownAmount } from '../../../host/common/budgets/counted-sum.ts';

/** A raise as routes show it. */
export function raiseObject({ id, unit, rule, amount, from, until, note, actor, createdAt }: Raise): object {
  return {
    id,
    unit,
    every: rule,
    amount: shownAmount(unit, amount),
    from: timestamp(from),
    until: timestamp(until),
    note,
    actor,
    created_at: timestamp(createdAt),
  };
}
