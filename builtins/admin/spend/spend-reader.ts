import type { SpendFilters } from './spend-query.ts';
import type { SpendSums, SpendText } from './spend-columns.ts';

/** What a report asks of the ledger of spend. */
export interface SpendRead {
  /** Hours of UTC since 1970; `to` is not part of the range. A row of a merged day counts by its last hour. */
  readonly from: number;
  readonly to: number;
  /** Hours at which buckets begin, ascending; none: all is one bucket. */
  readonly edges: readonly number[];
  readonly by: readonly SpendText[];
  readonly filters: SpendFilters;
}

export interface SpendFound {
  readonly groups: readonly SpendSums[];
  /** The end, in hours, of the last merged day in the range. */
  readonly mergedUntil?: number | undefined;
}

/** Sums of the ledger of spend, each exact. */
export interface SpendReader {
  read(query: SpendRead, signal?: AbortSignal): Promise<SpendFound>;
}
