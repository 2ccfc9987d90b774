import type { SpendRow } from '../spend/spend-row.ts';
import type { Booking } from './ledger-repository.ts';

/** What is written together: sums of ledgers, and rows of spend. */
export type LedgerWrite = Booking | SpendRow;
export const isSpend = (write: LedgerWrite): write is SpendRow => 'hour' in write;
export const isBooking = (write: LedgerWrite): write is Booking => !isSpend(write);
