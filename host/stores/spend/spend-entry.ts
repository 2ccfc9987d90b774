import type { SpendRow } from './spend-row.ts';

/** What is added to one budget, in whole micro-dollars; less than 0 gives back. */
export interface EntryBooking {
  readonly ledger: string;
  readonly key: string;
  readonly amount: number;
  /** What it may hold, in micro-dollars. */
  readonly limit: number;
  readonly endsAt?: number | undefined;
}

/** Spend that was measured elsewhere, or a correction. It counts once for its key, however often it is entered. */
export interface SpendEntry {
  readonly idempotencyKey: string;
  /** What it says, in one form for what says the same. */
  readonly body: string;
  /** Unix milliseconds at which it was spent. */
  readonly at: number;
  readonly row: SpendRow;
  readonly bookings: readonly EntryBooking[];
}

export type EnteredSpend =
  /** It counts now, or has been counted before: `at` is that of the first time. */
  | { readonly outcome: 'entered' | 'known'; readonly at: number }
  /** Another body has this key. */
  | { readonly outcome: 'conflict' }
  /** It gives back more than there is: nothing was changed. */
  | { readonly outcome: 'below zero' };
