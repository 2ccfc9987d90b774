import { type Raise, raisedBy } from '../../../host/common/accounts/raise.ts';
import type { KeyRecord } from '../../../host/stores/keys/key-record.ts';
import type { Ledgers } from '../../../host/stores/ledgers/ledgers.ts';
import { type DollarBudget, dollarBudgets } from './dollar-budgets.ts';

/** US dollars that a key may spend yet on any model by its own budgets, as this process knows them; `undefined` where none of those is in dollars. */
export function remainingUsd(
  record: Pick<KeyRecord, 'id' | 'limits'>,
  { ledgers, raises, now }: { readonly ledgers: Ledgers; readonly raises: readonly Raise[]; readonly now: number },
): number | undefined {
  const left = ({ ledger, key, limit, ruleName }: DollarBudget): number => {
    const { committed, reserved } = ledgers.peek(ledger, key);
    return Math.max(0, limit + raisedBy(raises, 'usd', ruleName, now) - committed - Math.ceil(reserved));
  };
  const [first, ...others] = dollarBudgets(record, now).filter(({ models }) => models === undefined);
  if (!first) return undefined;
  return others.reduce((least, budget) => Math.min(least, left(budget)), left(first)) / 1e6;
}
