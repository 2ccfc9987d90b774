import { MOST_SUM } from '../../common/bounded-sum.ts';
import type { Booking } from './ledger-repository.ts';

/**
 * Bookings that their store does not have yet, one for each account. Those that it refused stand apart, with whatever is booked on their
 * accounts later: they do not hold up the others, and nothing of them is lost.
 */
export class WaitingBookings {
  #next = new Bookings();
  #apart = new Bookings();

  /** Accounts that wait for the next write. */
  get size(): number {
    return this.#next.size;
  }

  /** Accounts that stand apart. */
  get apart(): number {
    return this.#apart.size;
  }

  /** Later than what waits already. */
  add(later: Booking): void {
    (this.#apart.of(later) ? this.#apart : this.#next).add(later);
  }

  of(ledger: string, key: string): Booking | undefined {
    return this.#next.of({ ledger, key }) ?? this.#apart.of({ ledger, key });
  }

  /** Gives away all but what stands apart: it begins anew. */
  take(): readonly Booking[] {
    const taken = this.#next.all();
    this.#next = new Bookings();
    return taken;
  }

  /** Takes back what could not be kept: it came before what waits by now. */
  giveBack(taken: readonly Booking[]): void {
    for (const earlier of taken) this.#next.addBefore(earlier);
  }

  /** Takes back what was refused: it came before what waits by now. */
  setApart(refused: Booking): void {
    this.#apart.addBefore(refused);
    const later = this.#next.take(refused);
    if (later) this.#apart.add(later);
  }

  /** What stands apart waits for the next write again. */
  tryAgain(): void {
    this.giveBack(this.#apart.all());
    this.#apart = new Bookings();
  }
}

/** One booking for each account. */
class Bookings {
  readonly #byLedger = new Map<string, Map<string, Booking>>();

  get size(): number {
    return this.#byLedger.values().reduce((sum, { size }) => sum + size, 0);
  }

  all(): readonly Booking[] {
    return this.#byLedger
      .values()
      .flatMap((bookings) => bookings.values())
      .toArray();
  }

  of({ ledger, key }: Pick<Booking, 'ledger' | 'key'>): Booking | undefined {
    return this.#byLedger.get(ledger)?.get(key);
  }

  add(later: Booking): void {
    const known = this.of(later);
    this.#set(known ? joined(known, later) : later);
  }

  addBefore(earlier: Booking): void {
    const known = this.of(earlier);
    this.#set(known ? joined(earlier, known) : earlier);
  }

  take(account: Booking): Booking | undefined {
    const taken = this.of(account);
    this.#byLedger.get(account.ledger)?.delete(account.key);
    return taken;
  }

  #set(booking: Booking): void {
    const known = this.#byLedger.get(booking.ledger);
    if (known) known.set(booking.key, booking);
    else this.#byLedger.set(booking.ledger, new Map([[booking.key, booking]]));
  }
}

function joined(earlier: Booking, later: Booking): Booking {
  return later.isAnew
    ? later
    : {
        ...later,
        amount: Math.max(-MOST_SUM, Math.min(MOST_SUM, earlier.amount + later.amount)),
        isAnew: earlier.isAnew,
      };
}
