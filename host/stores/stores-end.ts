import type { Clock, Timer } from '../common/clock.ts';

/** The end of all stores together: until then they write what waits, and then none of them is waited for, also where a call is on its way. */
export class StoresEnd {
  readonly #clock: Pick<Clock, 'monotonic' | 'timer'>;
  readonly #waiting = new Set<() => void>();
  #endsAt = Number.POSITIVE_INFINITY;
  #timer: Timer | undefined;

  constructor(clock: Pick<Clock, 'monotonic' | 'timer'>) {
    this.#clock = clock;
  }

  /** Milliseconds that are left; no bound before the end was asked for. */
  get leftMs(): number {
    return Math.max(0, this.#endsAt - this.#clock.monotonic());
  }

  /** Only the first call counts. */
  comeWithin(ms: number): void {
    if (this.#endsAt !== Number.POSITIVE_INFINITY) return;
    this.#endsAt = this.#clock.monotonic() + ms;
    this.#timer = this.#clock.timer(ms, () => {
      for (const giveUp of this.#waiting) giveUp();
    });
  }

  /** All of them are closed. */
  reached(): void {
    this.#timer?.cancel();
  }

  /** Calls at the end, unless what is given back was called before. */
  wait(giveUp: () => void): () => void {
    this.#waiting.add(giveUp);
    return () => this.#waiting.delete(giveUp);
  }
}
