import type { EnteredSpend, SpendEntry } from '../spend/spend-entry.ts';
import type { SpendRow } from '../spend/spend-row.ts';

/** What a key has spent from a ledger. */
export interface StoredAccount {
  readonly ledger: string;
  readonly key: string;
  /** Whole micro-dollars, from 0 to `MOST_SUM`; `undefined` where something stands there that is not a number. */
  readonly committed: number | undefined;
  /** The limit it was last held against, in micro-dollars; `undefined` means unlimited. */
  readonly limit: number | undefined;
  /** When it ends, in Unix milliseconds; `undefined` of what never does. */
  readonly endsAt?: number | undefined;
}

/** What is to be written of one account. */
export interface Booking {
  readonly ledger: string;
  readonly key: string;
  /** Whole micro-dollars that are added, `MOST_SUM` at most; less than 0 where some are given back. */
  readonly amount: number;
  readonly limit: number | undefined;
  /** It began at 0 again before that. */
  readonly isAnew: boolean;
  /** As of a stored account. Absent, it stays what it was. */
  readonly endsAt?: number | undefined;
}

/** Where ledgers are kept. Each method is one transaction and throws whatever the driver throws, but a `WriteFault` where the store answers with a no. */
export interface LedgerRepository {
  /** Whether other processes book here too. */
  readonly isShared: boolean;
  /**
   * Adds to what stands there, from 0 to `MOST_SUM`, once for each number, and gives back what each of the accounts holds by now: nothing of a number
   * that it has already. Each account has one booking at most, and rows of spend that are alike are one. Both are written in one step.
   */
  book(bookings: readonly Booking[], number?: number, spend?: readonly SpendRow[]): Promise<readonly StoredAccount[]>;
  /** Enters spend, its row and its bookings in one step, once for its key, and gives back what the accounts hold by now. */
  enter?(entry: SpendEntry): Promise<{ readonly result: EnteredSpend; readonly accounts: readonly StoredAccount[] }>;
  /**
   * All accounts, or those that were written in this many milliseconds, by the clock of the store; none that ended before `endedBefore`, in Unix
   * milliseconds.
   */
  read(withinMs?: number, endedBefore?: number): Promise<readonly StoredAccount[]>;
  /** Removes at most so many accounts that ended before this moment, and says how many. Of a shared store one process does it for all. */
  sweep?(endedBefore: number, most: number): Promise<number>;
}
