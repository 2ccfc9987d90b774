import type { Clock, Timer } from '../../../host/common/clock.ts';
import type { Log } from '../../../host/contract/index.ts';

/** Removes what is over. */
export interface Sweep {
  /** As the log names it. */
  readonly what: string;
  /** Removes at most so many rows by one statement, and says how many it were. By the database's clock. */
  readonly slice: (most: number) => Promise<number>;
}

interface UpkeepDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Asked before each slice. */
  readonly isLeader: () => boolean;
}

/** Milliseconds between two rounds. */
export const ROUND_MS = 60_000;
/** Rows that one statement removes: others read and write between two of them. */
const SLICE = 500;

/** What one of the processes on a database removes for all of them, once a minute. */
export class Upkeep {
  readonly #deps: UpkeepDeps;
  #sweeps: readonly Sweep[] = [];
  #next: Timer | undefined;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: UpkeepDeps) {
    this.#deps = deps;
    this.#roundLater();
  }

  add(sweeps: readonly Sweep[]): void {
    this.#sweeps = [...this.#sweeps, ...sweeps];
  }

  /** Resolves when nothing is under way any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#next?.cancel();
    await this.#round;
  }

  #roundLater(): void {
    if (!this.#isClosed)
      this.#next = this.#deps.clock.timer(ROUND_MS, () => {
        this.#round = this.#sweepAll().then(() => this.#roundLater());
      });
  }

  async #sweepAll(): Promise<void> {
    for (const { what, slice } of this.#sweeps) {
      try {
        while (!this.#isClosed && this.#deps.isLeader() && (await slice(SLICE)) === SLICE);
      } catch (error) {
        this.#deps.log.warn('what is over could not be removed, it is tried again in a minute', { what, error });
      }
    }
  }
}
