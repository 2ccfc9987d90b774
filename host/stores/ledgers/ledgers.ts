import type { Ledger, LedgerBounds } from '../../contract/index.ts';
import { MemoryLedger } from '../../state/memory-ledger.ts';
import { LedgerLines, type LedgerLinesDeps } from './ledger-lines.ts';

/** Opens ledgers by name. Generations keep an open one for as long as they use it: a name is opened once at a time. */
export interface Ledgers {
  open(name: string, bounds: LedgerBounds): Ledger;
  /** Writes what waits, before the stores close. */
  close?(): Promise<void>;
}

/** What is spent is forgotten with the process. */
export class MemoryLedgers implements Ledgers {
  readonly #lines: LedgerLines;
  readonly #deps: LedgerLinesDeps;

  constructor(deps: LedgerLinesDeps) {
    this.#deps = deps;
    this.#lines = new LedgerLines(deps);
  }

  open(name: string, bounds: LedgerBounds): MemoryLedger {
    return new MemoryLedger(
      bounds,
      {
        booked: () => {},
        forgot: () => {},
        outOfBounds: (key, amount) => this.#lines.outOfBounds(name, key, amount),
        now: () => this.#deps.clock.now(),
      },
      name,
    );
  }
}
