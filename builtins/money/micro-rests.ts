/** Credentials whose rest is kept; beyond, all rests begin at 0 again. */
const MOST = 100_000;
/** Parts of a micro-dollar that count: finer ones are what binary fractions add. */
const PARTS = 1e6;
const MICRO = 1e6;

/** Whole micro-dollars of amounts: what is below one is carried to the next amount of the same credential, and so nothing is lost or made. */
export class MicroRests {
  readonly #rests = new Map<string, number>();

  /** @param usd US dollars, 0 or more. */
  whole(id: string, usd: number): number {
    if (!(usd > 0)) return 0;
    const parts = Math.round(((this.#rests.get(id) ?? 0) + usd * MICRO) * PARTS);
    const whole = Math.floor(parts / PARTS);
    if (this.#rests.size >= MOST && !this.#rests.has(id)) this.#rests.clear();
    this.#rests.set(id, (parts - whole * PARTS) / PARTS);
    return whole;
  }
}
