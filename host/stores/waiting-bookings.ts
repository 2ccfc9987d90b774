import type { Booking } from './ledger-repository.ts';

/** Bookings that were not sent to a store yet, one for each account. */
export class WaitingBookings {
  #byLedger = new Map<string, Map<string, Booking>>();

  get size(): number {
    return this.#byLedger.values().reduce((sum, { size }) => sum + size, 0);
  }

  /** Later than what waits already. */
  add(later: Booking): void {
    const bookings = this.#of(later.ledger);
    const waiting = bookings.get(later.key);
    bookings.set(later.key, waiting ? joined(waiting, later) : later);
  }

  of(ledger: string, key: string): Booking | undefined {
    return this.#byLedger.get(ledger)?.get(key);
  }

  /** Gives all away: it begins anew. */
  take(): readonly Booking[] {
    const taken = this.#byLedger.values().flatMap((bookings) => bookings.values()).toArray();
    this.#byLedger = new Map();
    return taken;
  }

  /** Takes back what could not be kept: it came before what waits by now. */
  giveBack(taken: readonly Booking[]): void {
    for (const earlier of taken) {
      const bookings = this.#of(earlier.ledger);
      const waiting = bookings.get(earlier.key);
      bookings.set(earlier.key, waiting ? joined(earlier, waiting) : earlier);
    }
  }

  #of(ledger: string): Map<string, Booking> {
    const known = this.#byLedger.get(ledger);
    if (known) return known;
    const bookings = new Map<string, Booking>();
    this.#byLedger.set(ledger, bookings);
    return bookings;
  }
}

function joined(earlier: Booking, later: Booking): Booking {
  return later.isAnew ? later : { ...later, amount: earlier.amount + later.amount, isAnew: earlier.isAnew };
}
