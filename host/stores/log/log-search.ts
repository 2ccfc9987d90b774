/** What a search finds rows by, beside their names and times. All that are given must match. */
export interface LogSearch {
  readonly traceId?: string | undefined;
  /** From the first to the last, both included; any of the ranges. */
  readonly statuses?: readonly (readonly [first: number, last: number])[] | undefined;
  readonly codes?: readonly string[] | undefined;
  /** Outcomes; `unknown` are failures of rows that say none, `ok` also other rows that say none. */
  readonly outcomes?: readonly string[] | undefined;
  /** Texts of columns, by their names. */
  readonly equal?: Readonly<Partial<Record<SearchedColumn, string>>> | undefined;
  /** The account of this path, and those below it. */
  readonly account?: string | undefined;
  /** One of the tags. */
  readonly tag?: string | undefined;
  /** Entries of the metadata. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly minDurationMs?: number | undefined;
  readonly minCostUsd?: number | undefined;
  /** Stands in the error, or in what the provider said; of letters A to Z upper and lower case are alike. */
  readonly text?: string | undefined;
}

/** Columns whose whole text is compared. */
export type SearchedColumn =
  | 'reason'
  | 'target'
  | 'surface'
  | 'user_id'
  | 'address'
  | 'cache'
  | 'price_line'
  | 'over_from'
  | 'session_id'
  | 'credential'
  | 'model_group'
  | 'affinity';

/** What the largest rows can be asked by. */
export const LOG_SORTS = ['duration', 'cost', 'tokens'] as const;
export type LogSort = (typeof LOG_SORTS)[number];

/** The place of a row among all, of which the newest comes first. */
export interface LogPosition {
  /** Unix milliseconds. */
  readonly at: number;
  readonly id: number;
}

/** How far a search goes. */
export interface SearchBounds {
  readonly limit: number;
  /** Where it goes on; the newest row unless given. */
  readonly from?: LogPosition | undefined;
  /** Rows up to this id alone. */
  readonly upTo?: number | undefined;
  /** The largest of the rows that are looked at, instead of the newest. */
  readonly sort?: LogSort | undefined;
  /** Asked between two looks: whether there may be another one. */
  readonly mayGoOn: () => boolean;
}

/** How far rows are counted. */
export interface CountBounds extends Pick<SearchBounds, 'from' | 'upTo' | 'mayGoOn'> {
  /** Where counting ends, or a little later. */
  readonly most: number;
}

export interface CountedPart {
  readonly count: number;
  /** Where counting goes on; `undefined` where nothing older is left, or there are enough. */
  readonly next: LogPosition | undefined;
}
