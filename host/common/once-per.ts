/** Most things that are remembered; beyond it the oldest is forgotten, and may be logged again. */
const MOST = 10_000;

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Says whether something has not happened for a period: a fault that comes with every request is logged once. */
export class OncePer {
  readonly #periodMs: number;
  readonly #lastAt = new Map<string, number>();

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** `now` in milliseconds, always of the same clock. */
  isFirst(what: string, now: number): boolean {
    const last = this.#lastAt.get(what);
    if (last !== undefined && now >= last && now - last < this.#periodMs) return false;
    this.#lastAt.delete(what);
    const [oldest] = this.#lastAt.keys();
    if (this.#lastAt.size >= MOST && oldest !== undefined) this.#lastAt.delete(oldest);
    this.#lastAt.set(what, now);
    return true;
  }
}
