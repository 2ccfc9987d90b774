import type { Ledger, LedgerBounds } from '../../contract/index.ts';
import { MOST_BOOKING } from '../../common/bounded-sum.ts';
import { MemoryLedger } from '../../state/memory-ledger.ts';
import { LedgerLines, type LedgerLinesDeps } from './ledger-lines.ts';
import type { Opening } from './opening.ts';
import { type HearSums, SumHearing } from './sum-hearing.ts';

/** In the unit of the ledger: micro-dollars, tokens or requests. */
export interface Spent {
  readonly committed: number;
  readonly reserved: number;
}

export const NOTHING_SPENT: Spent = { committed: 0, reserved: 0 };

/** Opens ledgers by name. Generations keep an open one for as long as they use it: a name is opened once at a time. */
export interface Ledgers {
  open(name: string, bounds: LedgerBounds): Ledger;
  /** What a key has spent from a ledger that is open, and what its calls in flight hold, by memory alone. */
  peek(name: string, key: string): Spent;
  /** Adds to what a key has spent from an open ledger, where that is in memory alone; less than 0 gives back. */
  correct?(name: string, key: string, amount: number): void;
  /**
   * Calls `hear` for each sum of a ledger that a booking of this process has moved. Where processes share a store that is once the store has it, with
   * what all of them booked by then: so of a sum that crosses a limit one of them hears.
   */
  hear?(name: string, hear: HearSums): void;
  /** Counts what was spent elsewhere, where nothing is counted yet. Ledgers in a store have it there already. */
  begin?(openings: readonly Opening[]): void;
  /** Forgets what was spent from a ledger under names that are chosen, of those that have not ended long ago. */
  forget?(name: string, isChosen: (key: string) => boolean): void;
  /** Writes what waits, before the stores close. */
  close?(): Promise<void>;
}

/** What is spent is forgotten with the process. */
export class MemoryLedgers implements Ledgers {
  readonly #lines: LedgerLines;
  readonly #deps: LedgerLinesDeps;
  readonly #open = new Map<string, MemoryLedger>();
  readonly #hearing = new SumHearing();

  constructor(deps: LedgerLinesDeps) {
    this.#deps = deps;
    this.#lines = new LedgerLines(deps);
  }

  open(name: string, bounds: LedgerBounds): MemoryLedger {
    const ledger = new MemoryLedger(
      bounds,
      {
        booked: (key, amount) =>
          this.#hearing.booked({ ledger: name, key, amount }, () => spentIn(this.#open.get(name), key).committed),
        forgot: () => {},
        outOfBounds: (key, amount) => this.#lines.outOfBounds(name, key, amount),
        now: () => this.#deps.clock.now(),
      },
      name,
    );
    this.#open.set(name, ledger);
    return ledger;
  }

  peek(name: string, key: string): Spent {
    return spentIn(this.#open.get(name), key);
  }

  hear(name: string, hear: HearSums): void {
    this.#hearing.hear(name, hear);
  }

  begin(openings: readonly Opening[]): void {
    for (const { ledger, key, amount } of openings)
      if (this.peek(ledger, key).committed === 0) this.correct(ledger, key, amount);
  }

  forget(name: string, isChosen: (key: string) => boolean): void {
    this.#open.get(name)?.forgetAll(isChosen);
  }

  correct(name: string, key: string, amount: number): void {
    const ledger = this.#open.get(name);
    if (!ledger) return;
    const most = Math.sign(amount) * MOST_BOOKING; // no booking may be larger
    let left = amount;
    for (; Math.abs(left) > MOST_BOOKING; left -= most) ledger.correct(key, most);
    ledger.correct(key, left);
  }
}

/** What a key has spent from a ledger in memory. */
export const spentIn = (ledger: MemoryLedger | undefined, key: string): Spent =>
  ledger ? { committed: ledger.committed(key), reserved: ledger.reservedOf(key) } : NOTHING_SPENT;
