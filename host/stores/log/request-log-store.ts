import type { LogColumnName } from '../../contract/log-columns.ts';
import type { RequestLog, RequestLogRow, Stage } from '../../contract/index.ts';
import type { Timer } from '../../common/clock.ts';
import { exportRows, type LogExport } from './log-export.ts';
import { LogQueue, type WaitingRow } from './log-queue.ts';
import type {
  LogFilters,
  LogPage,
  LogRepository,
  LogRow,
  LogSeries,
  LogShare,
  LogSplit,
  LogStatistics,
  LogWindow,
  SearchPage,
} from './log-repository.ts';
import type { SearchBounds } from './log-search.ts';
import type { LogValues, ValuesQuestion } from './log-values.ts';
import { TERMINAL_STAGES } from './log-repository.ts';
import { LogRetention, type Retention } from './log-retention.ts';
import { LogSums } from './log-sums.ts';
import { givenRow, storedRow } from './log-row.ts';
import type { GivenRow } from './row-values.ts';
import { readFrom } from '../reading.ts';
import type { StoreDeps } from '../store-deps.ts';
import { LOOKUP_LIMIT_MS, StoreLink } from '../store-link.ts';
import { WriteFault } from '../write-fault.ts';
import { RowWriter } from '../write-rows.ts';

/** Rows that wait for the store at most. */
export const MOST_WAITING_ROWS = 20_000;
/** Rows are written together: this long after the first of them, or as soon as there are this many. A row is there within 250 ms. */
const WRITE_BEHIND_MS = 100;
const BATCH = 500;
const RETRY_MS = 1000;
/** Rows that one statement deletes: others read and write between two of them. */
const SLICE = 500;
/** How long one call of a search looks. */
const SEARCH_MS = 1500;

/** As `LogRepository` takes them. */
export interface StatisticsQuery {
  readonly filters: LogFilters;
  readonly stage: string | undefined;
  readonly series?: { readonly filters: LogFilters; readonly window: LogWindow } | undefined;
  readonly by: readonly LogSplit[];
}

export interface StatisticsAnswer {
  readonly statistics: LogStatistics;
  readonly series: LogSeries | undefined;
  /** Those that were asked for. */
  readonly shares: ReadonlyMap<LogSplit, readonly LogShare[]>;
}

/** What the admin API asks of a request log. A reading ends after ten seconds, and when the client that asks for it has left. */
export interface LogReader {
  list(filters: LogFilters, limit: number, offset: number, client?: AbortSignal): Promise<LogPage>;
  /** In one reading, with a series where one is asked for. */
  statistics(asked: StatisticsQuery, client?: AbortSignal): Promise<StatisticsAnswer>;
  /** Looks for a second and a half at most; a page with fewer rows than its limit may have a next one. */
  search(filters: LogFilters, asked: Omit<SearchBounds, 'mayGoOn'>, client?: AbortSignal): Promise<SearchPage>;
  values(question: ValuesQuestion, client?: AbortSignal): Promise<LogValues>;
  /** Everything that the filters leave, up to `most` rows. */
  export(filters: LogFilters, most: number, client?: AbortSignal): Promise<LogExport>;
  newestOf(traceId: string, client?: AbortSignal): Promise<LogRow | undefined>;
  /** Rows of the trace, the newest first, so many at most. */
  ofTrace(traceId: string, most: number, client?: AbortSignal): Promise<readonly LogRow[]>;
  /** Rows that end a request. */
  count(client?: AbortSignal): Promise<number>;
  /** Deletes all that match, in slices, and says how many. */
  purge(filters: LogFilters): Promise<number>;
  ping(): Promise<void>;
  /** Writes what waits, before the process ends. */
  flush?(): Promise<void>;
  /** Unix milliseconds by the clock of the store, which rows are kept by. */
  now(): number;
}

export interface RequestLogDeps extends Omit<StoreDeps, 'randomBytes'> {
  /** The operator's word for what keeps the rows. */
  readonly backend: string;
  readonly retention: Retention;
  /** What is added to the moments of rows, which are the machine's: `clock` is that of the store. Nothing unless given. */
  readonly shiftMs?: () => number;
  /** Columns that stay empty; none unless given. */
  readonly omit?: readonly LogColumnName[];
  /** Whether it is for this process to delete what is beyond the retention; it is, unless said. */
  readonly isLeader?: () => boolean;
  /** As many rows were dropped. */
  readonly dropped: (rows: number) => void;
}

/**
 * The request log. Writing never waits and never fails a request: rows wait in a bounded queue and are written in order, many at a
 * time. Reading writes first what waits.
 */
export class RequestLogStore implements RequestLog, LogReader {
  readonly #repository: LogRepository;
  readonly #deps: RequestLogDeps;
  readonly #link: StoreLink;
  readonly #retention: LogRetention;
  readonly #sums: LogSums;
  /** What rows are without, where they are without any. */
  readonly #omitted: Partial<RequestLogRow> | undefined;
  readonly #queue = new LogQueue(MOST_WAITING_ROWS);
  /** Holds what was taken from the queue and is not written yet. */
  readonly #rows: RowWriter<WaitingRow>;
  #dropped = 0;
  /** Rows up to this number are written without waiting for more. */
  #due = 0;
  #writing: Promise<void> | undefined;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(repository: LogRepository, deps: RequestLogDeps) {
    this.#repository = repository;
    this.#deps = deps;
    const { omit = [] } = deps;
    this.#omitted = omit.length === 0 ? undefined : Object.fromEntries(omit.map((name) => [name, undefined]));
    this.#link = new StoreLink('the request log store', { ...deps, backend: () => deps.backend });
    this.#rows = new RowWriter({
      write: (part, number) => this.#writePart(part, number),
      refused: (waiting, fault) => this.#drop(waiting, fault),
      cut: inRuns,
    });
    this.#sums = new LogSums({
      clock: deps.clock,
      repository,
      ask: (call) => this.#link.ask(call),
      isLeader: deps.isLeader ?? (() => true),
    });
    this.#retention = new LogRetention(deps.retention, {
      ...deps,
      repository,
      ask: (call) => this.#link.ask(call),
      isLeader: deps.isLeader ?? (() => true),
    });
  }

  append(row: RequestLogRow): void {
    this.#add(this.#given(row), undefined);
  }

  annotate(stage: Stage, row: RequestLogRow): void {
    this.#annotate(stage, this.#given(row));
  }

  /** Takes a row that another process of this gateway has put together. `annotates`: the stage whose row gets its error. */
  takeGiven(row: GivenRow, annotates: Stage | undefined): void {
    const shifted = {
      ...row,
      ...(this.#omitted as Partial<GivenRow>),
      created_at: row.created_at + (this.#deps.shiftMs?.() ?? 0),
    };
    if (annotates === undefined) this.#add(shifted, undefined);
    else this.#annotate(annotates, shifted);
  }

  #annotate(stage: Stage, given: GivenRow): void {
    const { trace_id: traceId, error_message, status, outcome, code, reason } = given;
    const waiting = traceId === '' ? undefined : this.#queue.find(traceId, stage);
    if (waiting) waiting.row = { ...waiting.row, error_message, status, outcome, code, reason };
    else this.#add(given, traceId === '' ? undefined : stage);
  }

  list(filters: LogFilters, limit: number, offset: number, client?: AbortSignal): Promise<LogPage> {
    return this.#read('a list', client, (signal) => this.#repository.list(filters, limit, offset, signal));
  }

  statistics({ filters, stage, series, by }: StatisticsQuery, client?: AbortSignal): Promise<StatisticsAnswer> {
    return this.#read('statistics', client, async (signal) => {
      const shares = new Map<LogSplit, readonly LogShare[]>();
      for (const split of by) shares.set(split, await this.#repository.shares(filters, split, signal));
      return {
        statistics: await this.#repository.statistics(filters, stage, signal),
        series: series && (await this.#repository.series(series.filters, series.window, signal)),
        shares,
      };
    });
  }

  search(filters: LogFilters, asked: Omit<SearchBounds, 'mayGoOn'>, client?: AbortSignal): Promise<SearchPage> {
    const { clock } = this.#deps;
    return this.#read('a search', client, (signal) => {
      const began = clock.monotonic();
      const mayGoOn = (): boolean => clock.monotonic() - began < SEARCH_MS;
      return this.#repository.search(filters, { ...asked, mayGoOn }, signal);
    });
  }

  values(question: ValuesQuestion, client?: AbortSignal): Promise<LogValues> {
    return this.#read('values', client, (signal) => this.#repository.values(question, signal));
  }

  export(filters: LogFilters, most: number, client?: AbortSignal): Promise<LogExport> {
    const { clock } = this.#deps;
    const read = <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => this.#read('an export', client, work);
    return exportRows({ clock, repository: this.#repository, read }, filters, most);
  }

  ofTrace(traceId: string, most: number, client?: AbortSignal): Promise<readonly LogRow[]> {
    return this.#read('a trace', client, (signal) => this.#repository.ofTrace(traceId, most, signal));
  }

  newestOf(traceId: string, client?: AbortSignal): Promise<LogRow | undefined> {
    return this.#read('a decision', client, (signal) => this.#repository.newestOf(traceId, signal));
  }

  count(client?: AbortSignal): Promise<number> {
    return this.#read('a count', client, (signal) => this.#repository.count({ stages: TERMINAL_STAGES }, signal));
  }

  async purge(filters: LogFilters): Promise<number> {
    await this.flush();
    return this.#purge(filters, await this.#link.ask(() => this.#repository.newestId()));
  }

  async ping(): Promise<void> {
    await this.#link.ask(() => this.#repository.ping(), LOOKUP_LIMIT_MS);
  }

  now(): number {
    return this.#deps.clock.now();
  }

  /** Tries to write what waits now. It never throws: what cannot be written goes on waiting. */
  flush(): Promise<void> {
    this.#due = this.#queue.newest;
    if (this.#writing) return this.#writing;
    return this.#waitingRows === 0 ? Promise.resolve() : (this.#writing = this.#write());
  }

  /** Before the database closes: writes what waits, within the time that one call has. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#retention.close();
    await this.#sums.close();
    await this.flush(); // may be one that began before the last rows came
    await this.flush();
    this.#timer?.cancel();
    const lost = this.#waitingRows;
    if (lost > 0)
      this.#deps.log.error('rows of the request log are lost: their store did not come back', { rows: lost });
  }

  get #waitingRows(): number {
    return this.#rows.held.length + this.#queue.length;
  }
  #read<T>(what: string, client: AbortSignal | undefined, read: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, log } = this.#deps;
    const store = { of: 'the request log', link: this.#link, clock, log, flush: () => this.flush() };
    return readFrom(store, { what, client }, read);
  }

  /** Its moment by the clock of the store, while the two clocks can still be compared: the machine's may be set meanwhile. */
  #given(row: RequestLogRow): GivenRow {
    return givenRow(
      this.#omitted ? { ...row, ...this.#omitted } : row,
      this.#deps.redactor,
      this.#deps.shiftMs?.() ?? 0,
    );
  }

  #add(row: GivenRow, annotates: string | undefined): void {
    const isTerminal = TERMINAL_STAGES.includes(row.stage);
    if (this.#queue.add(row, { isTerminal, annotates })) {
      this.#dropped += 1;
      this.#deps.dropped(1);
    }
    if (this.#writing) return; // it takes what is enough for a batch, and leaves the rest to the timer
    if (this.#queue.length >= BATCH && !this.#link.isAway) void this.flush();
    else this.#wakeLater();
  }

  #wakeLater(): void {
    if (this.#isClosed) return;
    this.#timer ??= this.#deps.clock.timer(this.#link.isAway ? RETRY_MS : WRITE_BEHIND_MS, () => {
      this.#timer = undefined;
      void this.flush();
    });
  }

  /** At least one row waits. */
  async #write(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    try {
      while (this.#rows.holdsAny || this.#hasBatch()) await this.#writeBatch();
      if (this.#dropped > 0)
        this.#deps.log.error('rows of the request log were dropped: too many waited for their store', {
          rows: this.#dropped,
        });
      this.#dropped = 0;
    } catch {
      this.#wakeLater();
    } finally {
      this.#writing = undefined;
      if (this.#queue.length > 0) this.#wakeLater();
    }
  }

  /** Few rows that came meanwhile wait for others: writing a few costs nearly as much as writing many. */
  #hasBatch(): boolean {
    return this.#queue.length >= BATCH || this.#queue.holdsUpTo(this.#due);
  }

  /** What was held before, or else as many as are written together. Throws while the store does not answer. */
  async #writeBatch(): Promise<void> {
    const wasAway = this.#link.isAway;
    const unwritten = await this.#rows.write(this.#rows.holdsAny ? [] : this.#queue.take(BATCH));
    if (unwritten) {
      if (!wasAway) this.#warn(unwritten.error);
      throw unwritten.error;
    }
    await this.#link.ask(() => this.#repository.settle());
  }

  /** Rows of which none is written onto another, or one that is. */
  async #writePart(part: readonly WaitingRow[], number: number): Promise<void> {
    const annotates = part[0]?.annotates;
    const stored = storedRows(part);
    const [row] = stored;
    if (row)
      await this.#link.ask(() =>
        annotates === undefined
          ? this.#repository.append(stored, number)
          : this.#repository.annotate(row, annotates, number),
      );
  }

  /** A row that the store refuses by itself must not hold up those behind it. */
  #drop({ row: { stage, trace_id } }: WaitingRow, fault: WriteFault): void {
    this.#deps.dropped(1);
    this.#link.refused({ stage, trace_id }, fault);
  }

  #warn(error: unknown): void {
    const { held } = this.#rows;
    const stages = [...new Set(held.map(({ row: { stage } }) => stage))];
    this.#deps.log.warn('rows of the request log could not be written, they wait', {
      stages: stages.join(', '),
      rows: held.length,
      error,
    });
  }

  async #purge(filters: LogFilters, upTo: number): Promise<number> {
    let deleted = 0;
    for (;;) {
      const slice = await this.#link.ask(() => this.#repository.purge(filters, upTo, SLICE));
      deleted += slice;
      if (slice < SLICE) return deleted;
    }
  }
}

/** All of a batch in a row: that costs a quarter of what they cost one by one. A module may have made a row of other types than it may. */
function storedRows(part: readonly WaitingRow[]): LogRow[] {
  try {
    return part.map(({ row }) => storedRow(row));
  } catch (cause) {
    throw new WriteFault('refused', cause);
  }
}

/** What is written together: rows that follow each other; one that is written onto another stands alone. */
function inRuns(batch: readonly WaitingRow[]): readonly (readonly WaitingRow[])[] {
  const runs: WaitingRow[][] = [];
  for (const waiting of batch) {
    const last = runs.at(-1);
    if (last && waiting.annotates === undefined && last[0]?.annotates === undefined) last.push(waiting);
    else runs.push([waiting]);
  }
  return runs;
}
