import type { Clock, Timer } from '../../common/clock.ts';
import type { Log } from '../../contract/index.ts';
import type { LogFilters, LogRepository } from './log-repository.ts';

/** What of the request log is kept; a bound that is `undefined` does not hold. */
export interface Retention {
  readonly days: number | undefined;
  readonly rows: number | undefined;
}

/** Milliseconds between two looks. Where nothing is beyond the bounds, one reads an entry of an index and how many rows there are. */
export const LOOK_MS = 5000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Rows that one statement deletes: others read and write between two of them. */
const SLICE = 500;
const ALL: LogFilters = { stages: [] };

interface RetentionDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly repository: Pick<LogRepository, 'purge' | 'purgeBeyond'>;
  /** One call of the repository. */
  readonly ask: (call: () => Promise<number>) => Promise<number>;
  /** Whether it is for this process to delete: of several on one database, one does. Asked before every slice. */
  readonly isLeader: () => boolean;
}

/** Deletes the rows beyond the bounds that the operator set. Without a bound it does nothing. */
export class LogRetention {
  readonly #bounds: Retention;
  readonly #deps: RetentionDeps;
  #next: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(bounds: Retention, deps: RetentionDeps) {
    this.#bounds = bounds;
    this.#deps = deps;
    if (bounds.days !== undefined || bounds.rows !== undefined) this.#lookLater();
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
    const { clock, repository, log } = this.#deps;
    const { days, rows } = this.#bounds;
    try {
      const olderThan = { ms: (days ?? 0) * DAY_MS, now: clock.now() };
      const old =
        days === undefined
          ? 0
          : await this.#inSlices(() => repository.purge({ ...ALL, olderThan }, Number.MAX_SAFE_INTEGER, SLICE));
      const surplus = rows === undefined ? 0 : await this.#inSlices(() => repository.purgeBeyond(rows, SLICE));
      if (old + surplus > 0) log.debug('rows of the request log were purged', { rows: old + surplus });
    } catch {
      // what was deleted is gone, and the rest goes with the next look
    }
    this.#lookLater();
  }

  async #inSlices(purge: () => Promise<number>): Promise<number> {
    const { ask, isLeader } = this.#deps;
    let deleted = 0;
    while (!this.#isClosed && isLeader()) {
      const slice = await ask(purge);
      deleted += slice;
      if (slice < SLICE) break;
    }
    return deleted;
  }
}
