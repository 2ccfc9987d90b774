/** What a key has spent from a ledger. */
export interface StoredAccount {
  readonly ledger: string;
  readonly key: string;
  /** Whole micro-dollars, from 0 to `MOST_SUM`; `undefined` where something stands there that is not a number. */
  readonly committed: number | undefined;
  /** The limit it was last held against, in micro-dollars; `undefined` means unlimited. */
  readonly limit: number | undefined;
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
}

/** Where ledgers are kept. Each method is one transaction and throws whatever the driver throws, but a `WriteFault` where the store answers with a no. */
export interface LedgerRepository {
  /** Whether other processes book here too. */
  readonly isShared: boolean;
  /**
   * Adds to what stands there, from 0 to `MOST_SUM`, once for each number, and gives back what each of the accounts holds by now: nothing of a number
   * that it has already. Each account has one booking at most.
   */
  book(bookings: readonly Booking[], number?: number): Promise<readonly StoredAccount[]>;
  /** All accounts, or those that were written in this many milliseconds, by the clock of the store. */
  read(withinMs?: number): Promise<readonly StoredAccount[]>;
}
