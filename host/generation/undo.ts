import { type Clock, within } from '../common/clock.ts';
import { CLOSE_LIMIT_MS, closeInTurn } from '../common/close-all.ts';

/** What has to be closed again of a configuration. What was opened last is closed first; each step has a limit. */
export class Undo {
  readonly #clock: Clock;
  readonly #steps: (() => Promise<void>)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `what` as the error of a close that takes too long names it. */
  later(what: string, close: () => Promise<void>): void {
    this.#steps.unshift(() => within(close(), CLOSE_LIMIT_MS, this.#clock, what));
  }

  run(): Promise<void> {
    return closeInTurn(this.#steps);
  }
}
