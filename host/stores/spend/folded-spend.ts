import type { Counters } from '../../contract/index.ts';

/** Counts rows that lost their key and tags. */
export const foldedSpend =
  (counters: Pick<Counters, 'add'>): (() => void) =>
  () =>
    counters.add('gateway_spend_rows_folded_total', {});
