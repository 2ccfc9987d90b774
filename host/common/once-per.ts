/** Most things that are remembered; beyond it the oldest is forgotten, and may be logged again. */
const MOST = 1000;

/** Says whether something happens for the first time in a period: a fault that comes with every request is logged once. */
export class OncePer {
  readonly #periodMs: number;
  readonly #periods = new Map<string, number>();

  /** `periodMs` in milliseconds: periods are equal parts of the clock, such as hours or days in UTC. */
  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** `now` in Unix milliseconds. */
  isFirst(what: string, now: number): boolean {
    const period = Math.floor(now / this.#periodMs);
    if (this.#periods.get(what) === period) return false;
    this.#periods.delete(what);
    const [oldest] = this.#periods.keys();
    if (this.#periods.size >= MOST && oldest !== undefined) this.#periods.delete(oldest);
    this.#periods.set(what, period);
    return true;
  }
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
