import type { Clock } from '../../host/common/clock.ts';

const MOST = 10_000;

/** Ids that may be used once, for as long as they count at all. */
export class UsedOnce {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #lifeMs: number;
  readonly #usedAt = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonic'>, lifeMs: number) {
    this.#clock = clock;
    this.#lifeMs = lifeMs;
  }

  /** Whether this is the first use of it. */
  first(id: string): boolean {
    const now = this.#clock.monotonic();
    for (const [used, at] of this.#usedAt) {
      if (now - at <= this.#lifeMs && this.#usedAt.size < MOST) break;
      this.#usedAt.delete(used);
    }
    if (this.#usedAt.has(id)) return false;
    this.#usedAt.set(id, now);
    return true;
  }
}
