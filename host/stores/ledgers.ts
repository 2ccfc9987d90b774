import type { Ledger, LedgerBounds } from '../contract/index.ts';
import { MemoryLedger } from '../state/memory-ledger.ts';

/** Opens ledgers by name. Generations keep an open one for as long as they use it: a name is opened once at a time. */
export interface Ledgers {
  open(name: string, bounds: LedgerBounds): Ledger;
  /** Writes what waits, before the stores close. */
  close?(): Promise<void>;
}

/** What is spent is forgotten with the process. */
export const MEMORY_LEDGERS: Ledgers = { open: (_name, bounds) => new MemoryLedger(bounds) };
