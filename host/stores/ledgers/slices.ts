import { bounded, MOST_BOOKING } from '../../common/bounded-sum.ts';
import { type Clock, TookTooLong, within } from '../../common/clock.ts';
import { GatewayError, type Refusal, type Reservation, type ReservationOrder } from '../../contract/index.ts';
import type { MemoryLedger } from '../../state/memory-ledger.ts';
import type { Booking, Draw, DrawAnswer, DrawCall, Drawn, HeldSlice } from './ledger-repository.ts';
import { Slice } from './slice.ts';

/** Milliseconds that a request waits for what its budget has left. */
export const DRAW_LIMIT_MS = 2000;
/** Milliseconds for which a slice is relied on after the store was last asked: there it is held for 15 seconds. */
export const SLICE_FENCE_MS = 12_000;
/** Characters of a name that an index of the store holds. Budgets with longer ones are held by each process. */
const LONGEST_NAME = 500;
/** Draws of one step. */
const MOST_DRAWS = 500;

export interface SlicesDeps {
  readonly clock: Clock;
  /** What holds while the store does not answer: `closed` refuses what the slices do not cover. `open` unless said. */
  readonly failure?: 'open' | 'closed' | undefined;
  /** Whether the store failed when it was last asked. */
  readonly isAway: () => boolean;
  /** Calls once the store has all that it was sent before, one at a time. Gives `undefined` where it does not answer. */
  readonly draw: (call: () => DrawCall) => Promise<DrawAnswer | undefined>;
  /** What is booked for an account and not in the store yet. */
  readonly unwritten: (ledger: string, key: string) => number;
}

/** An order that has a limit. */
type Order = ReservationOrder & { readonly limit: number };
type Decision = Reservation | Refusal;

/** A call that memory granted, and that has to be backed. */
interface Call {
  readonly slice: Slice;
  readonly order: Order;
  readonly held: Reservation;
  readonly need: number;
}

/** A call that waits for what its budget has left. */
interface Waiting extends Call {
  /** What of the slice is held for it already. */
  pledged: number;
  isGivenUp: boolean;
  /** `undefined`: the store did not answer. */
  readonly decide: (answer: Decision | undefined) => void;
}

/**
 * What this process may spend of budgets that others spend too: slices of what is left, drawn from the store and held there under its name. What is spent and
 * what all slices hold is never above a limit, but for the one call that crosses it. A call takes from the slice; where that is too small it waits for a draw.
 */
export class Slices {
  readonly #deps: SlicesDeps;
  readonly #slices = new Map<string, Map<string, Slice>>();
  #waiting: Waiting[] = [];
  #isDrawing = false;
  /** A call waited in vain: no other does until the store has answered. */
  #isLate = false;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #replicas = 1;

  constructor(deps: SlicesDeps) {
    this.#deps = deps;
  }

  /** Backs a call that memory granted. A promise only where the store is asked. */
  back(memory: MemoryLedger, key: string, order: Order, held: Reservation): Decision | Promise<Decision> {
    const need = Math.ceil(bounded(order.amount, MOST_BOOKING));
    if (need === 0 || key.length > LONGEST_NAME) return held;
    const slice = this.#of(memory, key);
    const now = this.#deps.clock.monotonic();
    slice.asked(need, order, now);
    if (this.#isFenced(now)) slice.free = 0;
    if (slice.free >= need) return slice.backed(held, { slice: slice.pledge(need), share: 0 });
    const call = { slice, order, held, need };
    return this.#isLate || this.#deps.isAway() ? this.#withoutStore(call) : this.#draw(call);
  }

  /** Bookings that are about to be written, with what they leave of their slices. */
  written(bookings: readonly Booking[]): readonly Booking[] {
    if (this.#slices.size === 0) return bookings;
    return bookings.map((each) => ({ ...each, held: this.#slices.get(each.ledger)?.get(each.key)?.written() }));
  }

  /** Once a second: says that this process lives, and gives back what it did not use. */
  async keepUp(): Promise<void> {
    if (this.#slices.size > 0) await this.#call([]);
  }

  /** Gives everything back. */
  async close(): Promise<void> {
    for (const slice of this.#all()) slice.free = 0;
    await this.keepUp();
  }

  async #draw(call: Call): Promise<Decision> {
    const { promise, resolve } = Promise.withResolvers<Decision | undefined>();
    const waiting: Waiting = { ...call, pledged: 0, isGivenUp: false, decide: resolve };
    this.#waiting.push(waiting);
    call.slice.waiting += 1;
    void this.#drawAll();
    try {
      return (await within(promise, DRAW_LIMIT_MS, this.#deps.clock, 'a draw')) ?? this.#withoutStore(call);
    } catch (error) {
      if (!(error instanceof TookTooLong)) throw error;
      waiting.isGivenUp = true;
      this.#isLate = true;
      return this.#withoutStore(call);
    } finally {
      call.slice.waiting -= 1;
    }
  }

  /** What comes while one step is on its way is in the next. */
  async #drawAll(): Promise<void> {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MOST_DRAWS);
      await this.#call(batch);
    }
    this.#isDrawing = false;
  }

  async #call(batch: readonly Waiting[]): Promise<void> {
    const asking: Waiting[] = [];
    let told: readonly Slice[] = [];
    let sentAt = 0;
    const answer = await this.#deps.draw(() => {
      sentAt = this.#deps.clock.monotonic();
      if (this.#isFenced(sentAt)) for (const slice of this.#all()) slice.free = 0;
      for (const waiting of batch) if (!this.#pledge(waiting)) asking.push(waiting);
      told = this.#toTell(asking, sentAt);
      return { holdings: told.map(holdingOf), draws: asking.map((waiting) => this.#drawOf(waiting)) };
    });
    if (answer === undefined) return this.#failed(batch, asking);
    this.#isLate = false;
    this.#renewedAt = sentAt;
    this.#replicas = Math.max(1, answer.replicas);
    for (const slice of told) slice.known = slice.held;
    for (const slice of this.#all()) slice.share = undefined;
    for (const [at, waiting] of asking.entries()) this.#decide(waiting, answer.drawn[at]);
    for (const slice of this.#all()) if (slice.isOver) this.#slices.get(slice.memory.name)?.delete(slice.key);
    return undefined;
  }

  /** True where nothing has to be drawn: the slice has enough by now, or its call waits no more. */
  #pledge(waiting: Waiting): boolean {
    const { slice, need, isGivenUp, held, decide } = waiting;
    if (isGivenUp) return true;
    waiting.pledged = slice.pledge(need);
    if (waiting.pledged < need) return false;
    decide(slice.backed(held, { slice: need, share: 0 }));
    return true;
  }

  /** Slices of which the store holds something else than is so, and those that are drawn for. What was not asked for lately goes back. */
  #toTell(asking: readonly Waiting[], now: number): readonly Slice[] {
    const drawn = new Set(asking.map(({ slice }) => slice));
    for (const slice of this.#all()) if (slice.isIdle(now)) slice.free = 0;
    return this.#all()
      .filter((slice) => drawn.has(slice) || slice.known !== slice.held)
      .toArray();
  }

  #drawOf({ slice, order: { limit, running = 0, isWhole = false }, need, pledged }: Waiting): Draw {
    const { memory, key } = slice;
    return {
      ledger: memory.name,
      key,
      limit: Math.floor(bounded(limit)),
      need: need - pledged,
      running: Math.ceil(bounded(running)),
      free: pledged,
      more: Math.ceil(slice.demand),
      beyond: Math.max(0, this.#deps.unwritten(memory.name, key) - slice.unwritten),
      isWhole,
      endsAt: slice.endsAt,
    };
  }

  #decide({ slice, need, pledged, isGivenUp, held, decide }: Waiting, drawn: Drawn | undefined): void {
    slice.others = Math.max(0, (drawn?.outstanding ?? 0) - slice.held);
    if (!drawn?.isGranted) {
      slice.unpledge(pledged);
      held.release();
      const { committed = 0, outstanding = 0 } = drawn ?? {};
      decide({ isGranted: false, committed, ...(slice.isWhole && { reserved: outstanding }) });
      return;
    }
    slice.drawn(need - pledged, drawn.more);
    if (isGivenUp) slice.unpledge(need);
    else decide(slice.backed(held, { slice: need, share: 0 }));
  }

  /** What the store holds by now is not known. */
  #failed(batch: readonly Waiting[], asking: readonly Waiting[]): void {
    for (const { slice, pledged } of asking) {
      slice.known = undefined;
      slice.unpledge(pledged);
    }
    for (const { decide } of batch) decide(undefined);
  }

  /** By what is held, and by a share of what was left: that of all replicas is no more than the rest. */
  #withoutStore({ slice, order, held, need }: Call): Decision {
    const { memory, key } = slice;
    if (this.#deps.failure === 'closed' || order.isWhole === true) {
      held.release();
      throw new GatewayError('store_unavailable', 'the store of budgets does not answer');
    }
    const committed = memory.committed(key);
    const left = order.limit - committed - (memory.reservedOf(key) - order.amount) - slice.others - slice.free;
    slice.share ??= Math.max(0, left) / this.#replicas;
    if (slice.share + slice.free <= 0) {
      held.release();
      return { isGranted: false, committed };
    }
    const pledged = slice.pledge(need);
    slice.share -= need - pledged;
    return slice.backed(held, { slice: pledged, share: need - pledged });
  }

  #isFenced(now: number): boolean {
    return now - this.#renewedAt >= SLICE_FENCE_MS;
  }

  #all(): IteratorObject<Slice> {
    return this.#slices.values().flatMap((slices) => slices.values());
  }

  #of(memory: MemoryLedger, key: string): Slice {
    const { name } = memory;
    const ledger = this.#slices.get(name) ?? new Map<string, Slice>();
    this.#slices.set(name, ledger);
    const known = ledger.get(key);
    if (known) return known;
    const slice = new Slice(memory, key);
    ledger.set(key, slice);
    return slice;
  }
}

const holdingOf = (slice: Slice): HeldSlice => ({
  ledger: slice.memory.name,
  key: slice.key,
  held: slice.held,
  isWhole: slice.isWhole,
  endsAt: slice.endsAt,
});
