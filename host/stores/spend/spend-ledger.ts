import type { EnteredSpend, SpendEntry } from './spend-entry.ts';
import type { SpendCount, SpendRow, SpendText } from './spend-row.ts';

/** Which rows count. An empty text asks for rows that have none; what is absent asks nothing. */
export interface SpendFilters {
  /** The path of an account, and all below it; `/` is everything. */
  readonly account?: string | undefined;
  readonly key_id?: string | undefined;
  /** One of the tags of a row. */
  readonly tag?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly target?: string | undefined;
  readonly credential?: string | undefined;
  readonly surface?: string | undefined;
  readonly line?: string | undefined;
}

/** A question about spend. Hours are those of UTC since 1970. */
export interface SpendQuestion {
  readonly from: number;
  /** Not part of the range. A row counts by its last hour. */
  readonly to: number;
  /** Hours at which buckets begin, ascending; the first begins at `from` or before it. Without any, all is one bucket. */
  readonly edges: readonly number[];
  /** What rows are summed up by. */
  readonly by: readonly SpendText[];
  readonly filters: SpendFilters;
}

/** One group of rows: its texts by column, and its sums. */
export interface SpendSums extends Readonly<Record<SpendCount, number>>, Readonly<Partial<Record<SpendText, string>>> {
  /** The place of its bucket among those that were asked for. */
  readonly bucket: number;
}

export interface SpendAnswer {
  readonly groups: readonly SpendSums[];
  /** The end, in hours, of the last merged day in the range. */
  readonly mergedUntil?: number | undefined;
}

/** What all requests have cost, by hour and by what they have in common. Each exchange that was answered, or tried, adds one request. */
export interface SpendLedger {
  /** Counts at once for reads of this process, and within a second for those of others. */
  add(row: SpendRow): void;
  /** Exact sums of whole numbers; throws where one is beyond what a number holds, and where the store does not answer. */
  read(question: SpendQuestion, signal?: AbortSignal): Promise<SpendAnswer>;
  /** Counts what was spent elsewhere, and corrections, in its row and its budgets: all of it, or nothing. */
  enter(entry: SpendEntry): Promise<EnteredSpend>;
}

/** Where rows of spend are kept. Each method throws whatever the driver throws. */
export interface SpendRepository {
  read(question: SpendQuestion, signal?: AbortSignal): Promise<SpendAnswer>;
  /** Merges the hours of one day that began before this hour into one row for what is alike; false where none is left. */
  mergeDay(before: number): Promise<boolean>;
  /** Removes at most so many rows that ended before an hour, and says how many. */
  purge(before: number, most: number): Promise<number>;
}
