import { Windows } from '../../../host/common/budgets/windows.ts';
import { HOUR_MS } from '../../../host/common/once-per.ts';
import type { SpendLedger } from '../../../host/stores/spend/spend-ledger.ts';

/** Micro-dollars that each key has spent since the month began, by its id. */
export async function monthSpend(
  ledger: Pick<SpendLedger, 'read'>,
  { now, zone }: { readonly now: number; readonly zone: string },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const { beginsAt } = new Windows({ kind: 'month', zone, at: 0, on: 1 }).at(now);
  const range = { from: Math.floor(beginsAt / HOUR_MS), to: Math.floor(now / HOUR_MS) + 1 };
  const { groups } = await ledger.read({ ...range, edges: [], by: ['key_id'], filters: {} }, signal);
  return new Map(groups.map(({ key_id: id = '', micro_usd: micro }) => [id, micro]));
}
