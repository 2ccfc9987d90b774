import { factsOf } from '../../../host/common/budgets/key-budget.ts';
import { Windows } from '../../../host/common/budgets/windows.ts';
import type { KeyRecord } from '../../../host/stores/keys/key-record.ts';
import type { Ledgers, Spent } from '../../../host/stores/ledgers/ledgers.ts';

const MICRO = 1e6;

/**
 * US dollars that a key may spend yet by its own budgets, as this process knows them; `undefined` where none is in dollars. The names of what is
 * counted are those of docs/reference/budgets.md#what-is-kept.
 */
export function remainingUsd(
  { id, limits }: Pick<KeyRecord, 'id' | 'limits'>,
  ledgers: Ledgers,
  now: number,
): number | undefined {
  const { budget_usd: total, budgets = [] } = limits;
  const left = (micro: number, { committed, reserved }: Spent): number =>
    Math.max(0, Math.round(micro) - committed - Math.ceil(reserved));
  const windows = budgets.flatMap((budget, at) => {
    const { unit, limit, rule, ruleName } = factsOf(budget, `budgets[${at}]`);
    if (unit !== 'usd') return [];
    const name = `k:${id}|usd|${ruleName}|${new Windows(rule).at(now).name}`;
    return [left(limit, ledgers.peek('budgets', name))];
  });
  const all = total === undefined ? windows : [...windows, left(total * MICRO, ledgers.peek('key budgets', id))];
  const [first, ...others] = all;
  return first === undefined ? undefined : others.reduce((least, one) => Math.min(least, one), first) / MICRO;
}
