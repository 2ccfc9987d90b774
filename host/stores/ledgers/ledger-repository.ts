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
  /** What this process holds of it from then on, beside what is booked; `undefined` where it holds none. */
  readonly held?: number | undefined;
}

/** What a process holds of an account for its calls, beside what is booked. */
export interface HeldSlice {
  readonly ledger: string;
  readonly key: string;
  /** 0 gives all of it back. */
  readonly held: number;
  /** What is held counts also where its process is lost: nothing may cross the limit. */
  readonly isWhole: boolean;
  readonly endsAt: number | undefined;
}

/** More is wanted of an account, for one call. Whole units of its ledger. */
export interface Draw {
  readonly ledger: string;
  readonly key: string;
  readonly limit: number;
  readonly need: number;
  /** What the request has cost so far without being committed. */
  readonly running: number;
  /** What the process holds unused: it does not count against the call. */
  readonly free: number;
  /** What it would take beyond that, for the calls that follow. */
  readonly more: number;
  /** What it has booked beyond its slice, and the store does not know yet. */
  readonly beyond: number;
  /** Nothing may cross the limit; else one call does. */
  readonly isWhole: boolean;
  readonly endsAt: number | undefined;
}

export interface DrawCall {
  /** What the process says that it holds, before it draws. */
  readonly holdings: readonly HeldSlice[];
  /** Decided in their order, each by what those before it left. */
  readonly draws: readonly Draw[];
}

export interface Drawn {
  readonly isGranted: boolean;
  readonly more: number;
  readonly committed: number;
  /** What all processes held before it, this one too. */
  readonly outstanding: number;
}

export interface DrawAnswer {
  readonly drawn: readonly Drawn[];
  /** Processes that hold something, or did a moment ago; this one too. */
  readonly replicas: number;
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
  /** Says what this process holds, and draws more: one step of a store that others draw from too. Absent where this process spends alone. */
  readonly draw?: ((call: DrawCall) => Promise<DrawAnswer>) | undefined;
  /** Removes at most so many accounts that ended before this moment, and says how many. Of a shared store one process does it for all. */
  sweep?(endedBefore: number, most: number): Promise<number>;
}
