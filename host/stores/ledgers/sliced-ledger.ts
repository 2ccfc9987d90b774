import type { Ledger, LedgerBounds, Refusal, Reservation, ReservationOrder } from '../../contract/index.ts';
import type { MemoryLedger } from '../../state/memory-ledger.ts';
import type { Ledgers, Spent } from './ledgers.ts';
import type { Opening } from './opening.ts';
import type { Slices } from './slices.ts';
import type { StoredLedgers } from './stored-ledgers.ts';
import type { HearSums } from './sum-hearing.ts';

/** A ledger that other processes spend from too. What memory refuses is refused at once; what it grants is backed by a slice. */
export class SlicedLedger implements Ledger {
  readonly #memory: MemoryLedger;
  readonly #slices: Slices;

  constructor(memory: MemoryLedger, slices: Slices) {
    this.#memory = memory;
    this.#slices = slices;
  }

  get name(): string {
    return this.#memory.name;
  }

  reserve(key: string, order: ReservationOrder): Reservation | Refusal | Promise<Reservation | Refusal> {
    const held = this.#memory.reserve(key, order);
    const { limit } = order;
    if (!held.isGranted || limit === undefined || !Number.isFinite(limit)) return held;
    return this.#slices.back(this.#memory, key, { ...order, limit }, held);
  }

  correct(key: string, amount: number): void {
    this.#memory.correct(key, amount);
  }

  commit(key: string, amount: number): void {
    this.#memory.commit(key, amount);
  }
}

/** The ledgers of a store that other processes spend from too. */
export class SlicedLedgers implements Ledgers {
  readonly #stored: StoredLedgers;
  readonly #slices: Slices;

  constructor(stored: StoredLedgers, slices: Slices) {
    this.#stored = stored;
    this.#slices = slices;
  }

  open(name: string, bounds: LedgerBounds): Ledger {
    return new SlicedLedger(this.#stored.open(name, bounds), this.#slices);
  }

  peek(name: string, key: string): Spent {
    return this.#stored.peek(name, key);
  }

  begin(openings: readonly Opening[]): void {
    this.#stored.begin(openings);
  }

  forget(name: string, isChosen: (key: string) => boolean): void {
    this.#stored.forget(name, isChosen);
  }

  hear(name: string, hear: HearSums): void {
    this.#stored.hear(name, hear);
  }

  close(): Promise<void> {
    return this.#stored.close();
  }
}
