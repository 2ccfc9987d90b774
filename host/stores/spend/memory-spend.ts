import { HOUR_MS } from '../../common/once-per.ts';
import { OpenSpend } from './open-spend.ts';
import type { SpendAnswer, SpendLedger, SpendQuestion } from './spend-ledger.ts';
import type { SpendRow } from './spend-row.ts';
import { sumSpend } from './sum-spend.ts';

/** Hours that are kept where nothing is stored. */
const KEPT_HOURS = 48;

/** Spend in the memory of this process: of the last two days, and gone with it. */
export class MemorySpend implements SpendLedger {
  readonly #rows: OpenSpend;
  readonly #now: () => number;
  #hour = 0;

  /** @param now Unix milliseconds. */
  constructor(now: () => number, folded: () => void) {
    this.#now = now;
    this.#rows = new OpenSpend(folded);
  }

  add(row: SpendRow): void {
    this.#forget();
    this.#rows.add(row);
  }

  async read(question: SpendQuestion): Promise<SpendAnswer> {
    this.#forget();
    return sumSpend(this.#rows.rows, question);
  }

  #forget(): void {
    const hour = Math.floor(this.#now() / HOUR_MS);
    if (hour === this.#hour) return;
    this.#hour = hour;
    this.#rows.forget(hour - KEPT_HOURS);
  }
}
