import type { KeptColumns } from '../../contract/log-columns.ts';
import type { CountBounds, CountedPart, LogPosition, LogSearch, SearchBounds } from './log-search.ts';
import type { LogValues, ValuesQuestion } from './log-values.ts';

/** A row as it is kept, by the names of its columns. What is not known is `null`. */
export interface LogRow extends KeptColumns {}

/** All that are given must match. Moments are Unix milliseconds. */
export interface LogFilters {
  /** None: any stage. */
  readonly stages: readonly string[];
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  /** `null` for rows that name no credential. */
  readonly apiKeyId?: string | null | undefined;
  readonly credential?: string | undefined;
  readonly group?: string | undefined;
  readonly affinity?: string | undefined;
  /** What a search asks besides. */
  readonly search?: LogSearch | undefined;
  /** Then or later. */
  readonly since?: number | undefined;
  /** Earlier than this. */
  readonly before?: number | undefined;
  /** Older than so many milliseconds: by the clock of the database where several processes use it, else at `now`. */
  readonly olderThan?: { readonly ms: number; readonly now: number } | undefined;
}

export interface LogPage {
  /** The newest first, of one moment the one written last. */
  readonly rows: readonly LogRow[];
  /** All that the filters leave. */
  readonly total: number;
}

export interface SearchPage {
  readonly rows: readonly LogRow[];
  /** Where the next page begins; `undefined` where nothing older is left. */
  readonly next: LogPosition | undefined;
  /** Rows that were looked at. */
  readonly searched: number;
  /** The moment of the oldest of them, in Unix milliseconds; `undefined` where there was none. */
  readonly searchedTo: number | undefined;
}

/** Milliseconds. Percentiles by nearest rank. */
export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  readonly mean: number;
  readonly count: number;
  /** Rows that the percentiles are of, where that is not all of them. */
  readonly sampled?: number;
}

/** Sums over rows of one provider and one model; a name is empty where none is known. */
export interface LogGroup {
  readonly provider: string;
  readonly model: string;
  /** All models of the provider beside those that are named: there are too many of them. */
  readonly isRest?: boolean;
  readonly count: number;
  readonly errors: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly costUsd: number;
  /** Successes without a price. */
  readonly unpriced: number;
}

/** What rows can be summed by beside their provider and model. */
export const LOG_SPLITS = ['credential', 'group', 'key', 'target', 'surface', 'outcome', 'status', 'code'] as const;
export type LogSplit = (typeof LOG_SPLITS)[number];

/** Sums over rows of one credential, by `<instance>/<name>`, of one key, or of whatever else they are split by; `unknown` for rows that do not say it. */
export interface LogShare extends Omit<LogGroup, 'provider' | 'model' | 'isRest'> {
  readonly name: string;
}

export interface LogStatistics {
  readonly groups: readonly LogGroup[];
  /** `undefined` when nothing was measured. */
  readonly latency: Spread | undefined;
  readonly ttft: Spread | undefined;
  readonly byStage: readonly { readonly stage: string; readonly count: number }[];
  /** The most frequent first, of as many the lesser message. */
  readonly topErrors: readonly { readonly message: string; readonly count: number }[];
}

export interface LogPoint {
  readonly requests: number;
  readonly errors: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** A stretch of time in equal parts. Unix milliseconds. */
export interface LogWindow {
  readonly start: number;
  readonly end: number;
  readonly buckets: number;
  /** Where the parts begin, where they are not equal: the first at `start`, the others on quarters of an hour. */
  readonly edges?: readonly number[] | undefined;
}

export interface LogSeries extends LogWindow {
  readonly points: readonly LogPoint[];
  /** Older rows were not looked at: `start` is the oldest that was. */
  readonly truncated: boolean;
}

/** Stages whose rows end a request: one row for each request. */
export const TERMINAL_STAGES: readonly string[] = ['after_request', 'on_error'];

/** How a row says that its request ended: what a later end changes. */
export type RowEnding = Pick<LogRow, 'error_message' | 'status' | 'outcome' | 'code' | 'reason'>;

/** What a row that is there gets of one that ends its request anew. */
export function endingOf({ error_message, status, outcome, code, reason }: LogRow): RowEnding {
  return { error_message: error_message ?? '', status, outcome, code, reason };
}

/**
 * Where rows are kept. What writes them throws a `WriteFault` where the store answers with a no. The signal of a reading ends it, in the
 * store too: what it gives or throws then is of no use to anybody.
 */
export interface LogRepository {
  /** In this order; all of them or none, and once for each number. */
  append(rows: readonly LogRow[], number?: number): Promise<void>;
  /** After rows were written: brings up to date what is kept about them. It is a call of its own, so that rows do not wait for it. */
  settle(): Promise<void>;
  /** Puts the row's error, and how the request ended by it, onto the newest row of its trace at the stage that has none, or keeps the row where there is no such row; once for each number. */
  annotate(row: LogRow, stage: string, number?: number): Promise<void>;
  list(filters: LogFilters, limit: number, offset: number, signal?: AbortSignal): Promise<LogPage>;
  /** Looks through the rows until it has a page of those that match, or has reached a bound. Rows come without how they were routed. */
  search(filters: LogFilters, bounds: SearchBounds, signal?: AbortSignal): Promise<SearchPage>;
  /** Counts rows as a search finds them, until there are enough or it has reached a bound. */
  countFound(filters: LogFilters, bounds: CountBounds, signal?: AbortSignal): Promise<CountedPart>;
  /** Rows of the trace, the newest first, so many at most. */
  ofTrace(traceId: string, most: number, signal?: AbortSignal): Promise<readonly LogRow[]>;
  count(filters: LogFilters, signal?: AbortSignal): Promise<number>;
  /** The newest row of the trace: the one that ended the request, once it has ended. */
  newestOf(traceId: string, signal?: AbortSignal): Promise<LogRow | undefined>;
  /** `filters.stages` are those whose rows are summed up; by stage all are counted that the other filters leave, at `stage` where one is given. */
  statistics(filters: LogFilters, stage: string | undefined, signal?: AbortSignal): Promise<LogStatistics>;
  /** The most frequent first, a thousand at most. */
  shares(filters: LogFilters, by: LogSplit, signal?: AbortSignal): Promise<readonly LogShare[]>;
  series(filters: LogFilters, window: LogWindow, signal?: AbortSignal): Promise<LogSeries>;
  /** What stands in a column. */
  values(question: ValuesQuestion, signal?: AbortSignal): Promise<LogValues>;
  /** Sums up some of what statistics would else read row by row. Whether there is more to do by now. `now` in Unix milliseconds. */
  sum(now: number): Promise<boolean>;
  /** Ids ascend with writing; 0 without any row. */
  newestId(): Promise<number>;
  /** Deletes at most `most` rows up to an id, the oldest first, and says how many. */
  purge(filters: LogFilters, upTo: number, most: number): Promise<number>;
  /** Deletes at most `most` of the rows beyond so many, the oldest first, and says how many. */
  purgeBeyond(rows: number, most: number): Promise<number>;
  /** Reads one row. */
  ping(): Promise<void>;
}
