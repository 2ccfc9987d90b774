import type { Clock, Timer } from '../../common/clock.ts';
import type { LogRepository } from './log-repository.ts';

/** Milliseconds between two looks, and between two steps of one: less than a fifth of the time is spent on them. */
const LOOK_MS = 60_000;
const STEP_MS = 1000;

interface LogSumsDeps {
  readonly clock: Clock;
  readonly repository: Pick<LogRepository, 'sum'>;
  /** One call of the repository. */
  readonly ask: (call: () => Promise<boolean>) => Promise<boolean>;
  /** Whether it is for this process to sum up: one of several on a database does. */
  readonly isLeader: () => boolean;
}

/** Has rows summed up, so that statistics need not read them. */
export class LogSums {
  readonly #deps: LogSumsDeps;
  #next: Timer | undefined;
  #stepping: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: LogSumsDeps) {
    this.#deps = deps;
    this.#later(LOOK_MS);
  }

  /** Resolves when no step is under way any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#next?.cancel();
    await this.#stepping;
  }

  #later(ms: number): void {
    if (!this.#isClosed)
      this.#next = this.#deps.clock.timer(ms, () => {
        this.#stepping = this.#step();
      });
  }

  /** The link logs a failure, once; the next look tries again. */
  async #step(): Promise<void> {
    const { clock, repository, ask, isLeader } = this.#deps;
    let hasMore = false;
    try {
      hasMore = isLeader() && (await ask(() => repository.sum(clock.now())));
    } catch {
      // until then the rows are read
    }
    this.#later(hasMore ? STEP_MS : LOOK_MS);
  }
}
