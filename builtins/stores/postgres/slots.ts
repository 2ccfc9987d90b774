import { type Clock, TookTooLong } from '../../../host/common/clock.ts';
import type { Lane } from '../database/database.ts';
import { LANE_LIMITS } from './lanes.ts';

interface Waiter {
  readonly lane: Lane;
  readonly give: (slot: Lane) => void;
}

/**
 * Who may use a connection now. Each purpose has its own places; those of `reads` are lent to others while no read waits for one. So none
 * takes everybody's, and there are never more than all of them together. Where there is no place for a purpose, rows of the log share that of the ledger,
 * and all others that of changes.
 */
export class Slots {
  readonly #clock: Clock;
  readonly #sizes: () => ReadonlyMap<Lane, number>;
  readonly #used = new Map<Lane, number>();
  readonly #waiting = new Set<Waiter>();

  constructor(sizes: () => ReadonlyMap<Lane, number>, clock: Clock) {
    this.#sizes = sizes;
    this.#clock = clock;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  used(lane: Lane): number {
    return this.#used.get(lane) ?? 0;
  }

  /** Whose place was taken; its own or that of `reads`. Rejects when none is free in time, or when the signal is aborted. */
  async take(lane: Lane, signal: AbortSignal | undefined): Promise<Lane> {
    signal?.throwIfAborted();
    const free = this.#placesOf(lane).find((place) => this.#isFree(place, lane));
    if (free !== undefined) {
      this.#used.set(free, this.used(free) + 1);
      return free;
    }
    return this.#wait(lane, signal);
  }

  /** Takes a place of its own for a connection that is about to go: until it has, no other may come. */
  hold(place: Lane): void {
    this.#used.set(place, this.used(place) + 1);
  }

  giveBack(place: Lane): void {
    this.#used.set(place, this.used(place) - 1);
    this.#serve(place);
  }

  async #wait(lane: Lane, signal: AbortSignal | undefined): Promise<Lane> {
    const { promise, resolve, reject } = Promise.withResolvers<Lane>();
    const { waitMs } = LANE_LIMITS[lane];
    const waiter: Waiter = { lane, give: resolve };
    const fail = (error: Error): void => {
      if (this.#waiting.delete(waiter)) reject(error);
    };
    const limit = this.#clock.timer(waitMs, () =>
      fail(new TookTooLong(`no connection to the database was free within ${waitMs} ms`)),
    );
    const stop = (): void => fail(new Error('it was stopped before it was asked', { cause: signal?.reason }));
    signal?.addEventListener('abort', stop);
    this.#waiting.add(waiter);
    try {
      return await promise;
    } finally {
      limit.cancel();
      signal?.removeEventListener('abort', stop);
    }
  }

  /** A place that became free goes to who has waited longest for it; one of `reads` to a read before all. */
  #serve(place: Lane): void {
    if (this.used(place) >= this.#size(place)) return;
    const suited = this.#waiting
      .values()
      .filter(({ lane }) => this.#placesOf(lane).includes(place))
      .toArray();
    const next = suited.find(({ lane }) => lane === place) ?? suited[0];
    if (!next) return;
    this.#waiting.delete(next);
    this.#used.set(place, this.used(place) + 1);
    next.give(place);
  }

  /** Its own, or that which it shares where it has none; and a place of reading that is lent. */
  #placesOf(lane: Lane): readonly Lane[] {
    const own = this.#size(lane) > 0 ? lane : this.#shared(lane);
    return own === 'reads' || this.#size('reads') === 0 ? [own] : [own, 'reads'];
  }

  #shared(lane: Lane): Lane {
    const shared = lane === 'log' ? 'ledger' : 'changes';
    return this.#size(shared) > 0 ? shared : 'reads';
  }

  #isFree(place: Lane, lane: Lane): boolean {
    if (this.used(place) >= this.#size(place)) return false;
    return !this.#waiting.values().some((waiter) => waiter.lane === place || waiter.lane === lane);
  }

  #size(lane: Lane): number {
    return this.#sizes().get(lane) ?? 0;
  }
}
