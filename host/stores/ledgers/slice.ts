import type { Reservation, ReservationOrder } from '../../contract/index.ts';
import type { MemoryLedger } from '../../state/memory-ledger.ts';

const SECOND_MS = 1000;

/** Parts of what calls hold: of the slice, and of the share that is spent while the store is away. */
export interface Backing {
  readonly slice: number;
  readonly share: number;
}

/** What one process holds of one budget, in whole units of its ledger. The store knows the sum of all parts. */
export class Slice {
  readonly memory: MemoryLedger;
  readonly key: string;
  /** Drawn, and held by no call. */
  free = 0;
  /** Held by calls in flight. */
  #reserved = 0;
  /** Spent, in bookings that the store does not have yet. */
  #unwritten = 0;
  /** What the store holds under the name of this process; `undefined` where that is not known. */
  known: number | undefined = 0;
  /** What other processes held when the store last said so. */
  others = 0;
  /** What is left of the share of this process while the store is away. */
  share: number | undefined;
  /** Calls that wait for a draw. */
  waiting = 0;
  isWhole = false;
  endsAt: number | undefined;
  #second = Number.NEGATIVE_INFINITY;
  #inSecond = 0;
  #before = 0;

  constructor(memory: MemoryLedger, key: string) {
    this.memory = memory;
    this.key = key;
  }

  /** All that stands in the store as held. */
  get held(): number {
    return this.free + this.#reserved + this.#unwritten;
  }

  /** What stands there as held and is spent already. */
  get unwritten(): number {
    return this.#unwritten;
  }

  /** What calls asked for in a second, lately: a slice of so much lasts about as long. */
  get demand(): number {
    return Math.max(this.#before, this.#inSecond);
  }

  asked(need: number, { isWhole = false, endsAt }: ReservationOrder, now: number): void {
    this.isWhole = isWhole;
    this.endsAt = endsAt;
    const isNext = now - this.#second >= SECOND_MS;
    if (isNext) {
      this.#before = now - this.#second < 2 * SECOND_MS ? this.#inSecond : 0;
      this.#inSecond = 0;
      this.#second = now;
    }
    this.#inSecond += need;
  }

  /** Nothing was asked of it for a second or two, and nothing waits. */
  isIdle(now: number): boolean {
    return this.waiting === 0 && now - this.#second >= 2 * SECOND_MS;
  }

  /** Nothing is left of it, here and in the store. */
  get isOver(): boolean {
    return this.waiting === 0 && this.held === 0 && this.known === 0;
  }

  /** Takes as much of what is free as there is, and gives how much that was. */
  pledge(need: number): number {
    const pledged = Math.min(this.free, need);
    this.free -= pledged;
    this.#reserved += pledged;
    return pledged;
  }

  /** Gives a pledge back. */
  unpledge(pledged: number): void {
    this.free += pledged;
    this.#reserved -= pledged;
  }

  /** The store gave so much for a call, and so much beyond. */
  drawn(need: number, more: number): void {
    this.#reserved += need;
    this.free += more;
    this.known = this.held;
  }

  /** What a batch of bookings leaves of it, once the store has them; `undefined` where the store holds none. */
  written(): number | undefined {
    if (this.known === 0 && this.held === 0) return undefined;
    this.#unwritten = 0;
    this.known = this.held;
    return this.held;
  }

  /** A call that holds parts of it. */
  backed(held: Reservation, backing: Backing): Reservation {
    return new Backed(this, held, backing);
  }

  /** A call has ended, and so much of it was booked. */
  ended({ slice, share }: Backing, booked: number): void {
    const spent = Math.min(slice, Math.max(0, booked));
    this.#reserved -= slice;
    this.#unwritten += spent;
    this.free += slice - spent;
    if (this.share !== undefined) this.share += Math.max(0, share - Math.max(0, booked - spent));
  }
}

/** Books into the ledger of this process, and gives the slice back what it does not use. */
class Backed implements Reservation {
  readonly isGranted = true;
  readonly #slice: Slice;
  readonly #held: Reservation;
  readonly #backing: Backing;
  #isOver = false;

  constructor(slice: Slice, held: Reservation, backing: Backing) {
    this.#slice = slice;
    this.#held = held;
    this.#backing = backing;
  }

  settle(amount: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { memory, key } = this.#slice;
    const before = memory.committed(key);
    void this.#held.settle(amount);
    this.#slice.ended(this.#backing, memory.committed(key) - before);
  }

  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#held.release();
    this.#slice.ended(this.#backing, 0);
  }
}
