import type { Clock, Timer } from '../../common/clock.ts';
import type { Log } from '../../contract/index.ts';
import type { LogFilters, LogRepository } from './log-repository.ts';

/** What of the request log is kept; a bound that is `undefined` does not hold. */
export interface Retention {
  readonly days: number | undefined;
  readonly rows: number | undefined;
}

/** Milliseconds between two looks. One look reads one index; where nothing was written since, only age counts. */
export const LOOK_MS = 5000;
const DAY_MS = 24 * 60 * 60 * 1000;
const ALL: LogFilters = { stages: [] };

interface RetentionDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly repository: Pick<LogRepository, 'idBehind'>;
  /** Deletes in slices what matches up to an id, for as long as this process is to do so. */
  readonly purge: (filters: LogFilters, upTo: number) => Promise<number>;
  /** Whether this process does it, of those that share the log. */
  readonly isLeader: () => boolean;
}

/** Deletes the rows beyond the bounds that the operator set, in one of the processes that share the log. Without a bound it does nothing. */
export class LogRetention {
  readonly #bounds: Retention;
  readonly #deps: RetentionDeps;
  #next: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();
  #hasNew = true;
  #isClosed = false;

  constructor(bounds: Retention, deps: RetentionDeps) {
    this.#bounds = bounds;
    this.#deps = deps;
    if (bounds.days !== undefined || bounds.rows !== undefined) this.#lookLater();
  }

  /** There are rows that have not been counted. */
  wrote(): void {
    this.#hasNew = true;
  }

  /** Resolves when no look is under way any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#next?.cancel();
    await this.#looking;
  }

  #lookLater(): void {
    if (!this.#isClosed)
      this.#next = this.#deps.clock.timer(LOOK_MS, () => {
        this.#looking = this.#look();
      });
  }

  /** The link logs a failure, once; the next look tries again. */
  async #look(): Promise<void> {
    try {
      const deleted = !this.#deps.isLeader() ? 0 : (await this.#purgeOld()) + (await this.#purgeMany());
      if (deleted > 0) this.#deps.log.debug('rows of the request log were purged', { rows: deleted });
    } catch {
      this.#hasNew = true;
    }
    this.#lookLater();
  }

  async #purgeOld(): Promise<number> {
    const { days } = this.#bounds;
    return days === undefined
      ? 0
      : this.#deps.purge(
          { ...ALL, olderThan: { ms: days * DAY_MS, now: this.#deps.clock.now() } },
          Number.MAX_SAFE_INTEGER,
        );
  }

  async #purgeMany(): Promise<number> {
    const { rows } = this.#bounds;
    if (rows === undefined || !this.#hasNew) return 0;
    this.#hasNew = false;
    const last = await this.#deps.repository.idBehind(rows);
    return last === undefined ? 0 : this.#deps.purge(ALL, last);
  }
}
