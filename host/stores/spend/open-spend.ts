import { OTHERS, spendKey, type SpendRow, spendSum } from './spend-row.ts';

/** Rows that are kept apart; further ones lose their key and tags. */
export const MOST_ROWS = 20_000;

/** Rows of spend in memory, each of what is alike once. Whatever is folded, no sum changes. */
export class OpenSpend {
  #rows = new Map<string, SpendRow>();
  readonly #folded: () => void;

  /** @param folded hears of each row that lost its key and tags. */
  constructor(folded: () => void) {
    this.#folded = folded;
  }

  get size(): number {
    return this.#rows.size;
  }

  get rows(): Iterable<SpendRow> {
    return this.#rows.values();
  }

  add(row: SpendRow): void {
    const key = spendKey(row);
    const known = this.#rows.get(key);
    if (known) this.#rows.set(key, spendSum(known, row));
    else if (this.#rows.size < MOST_ROWS) this.#rows.set(key, row);
    else this.#fold(row);
  }

  /** Gives all away: it begins anew. */
  take(): readonly SpendRow[] {
    const taken = [...this.#rows.values()];
    this.#rows = new Map();
    return taken;
  }

  /** Forgets rows that ended before an hour. */
  forget(before: number): void {
    for (const [key, { hour, span }] of this.#rows) if (hour + span <= before) this.#rows.delete(key);
  }

  #fold(row: SpendRow): void {
    this.#folded();
    const folded = { ...row, key_id: OTHERS, tags: OTHERS };
    const key = spendKey(folded);
    const known = this.#rows.get(key);
    this.#rows.set(key, known ? spendSum(known, folded) : folded);
  }
}
