import type { BucketSpec, Counters, Log } from '../contract/index.ts';
import { type Clock, TookTooLong, within } from '../common/clock.ts';
import { GroupedBuckets } from '../state/grouped-buckets.ts';
import type { AllTaken, Ask, SharedLimits } from '../state/shared-limits.ts';
import type { Place } from './place.ts';

/** Milliseconds that a request waits for a shared store. */
export const STATE_LIMIT_MS = 250;
/** Milliseconds that a store is left alone after it failed, so that not every request waits for the limit. */
export const STATE_REST_MS = 1000;
/** Buckets whose debt is kept while the store is away; those after them are forgiven. */
const MOST_OWED = 10_000;
/** Buckets that one trip pays back. */
const OWED_A_TRIP = 100;

export interface BoundedLimitsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly counters: Counters;
}

/**
 * Limits that replicas hold together. While the store fails or takes longer than a request may wait, this process holds its share: each limit
 * divided by the replicas that were counted last, starting with its share of what was left. What it let through meanwhile is taken off when the store is back.
 */
export class BoundedLimits {
  readonly #place: Place<SharedLimits | undefined>;
  readonly #deps: BoundedLimitsDeps;
  readonly #memory = new GroupedBuckets();
  readonly #owed = new Map<string, Ask>();
  /** Monotonic milliseconds; `undefined` while the store answers. */
  #restsUntil: number | undefined;
  #lostAt = 0;

  constructor(place: Place<SharedLimits | undefined>, deps: BoundedLimitsDeps) {
    this.#place = place;
    this.#deps = deps;
  }

  /** Whether there is a store. Without one each limit is kept where it is asked for. */
  get isShared(): boolean {
    return this.#place.value !== undefined;
  }

  /** Whether the store answered when it was last asked. */
  get isUp(): boolean {
    return this.#restsUntil === undefined && this.#place.value?.isUp !== false;
  }

  /** Replicas that each limit is divided by while the store is away. */
  get replicas(): number {
    return Math.max(1, this.#place.value?.replicas ?? 1);
  }

  /** Takes from all buckets, or from none. Never rejects. */
  takeAll(asks: readonly Ask[]): Promise<AllTaken> {
    const store = this.#place.value;
    const now = this.#deps.clock.monotonic();
    if (!store || (this.#restsUntil !== undefined && now < this.#restsUntil))
      return Promise.resolve(this.#takeShare(asks, now));
    if (this.#restsUntil !== undefined) this.#restsUntil = now + STATE_REST_MS; // one request a second looks whether it is back
    return this.#askStore(store, asks);
  }

  async #askStore(store: SharedLimits, asks: readonly Ask[]): Promise<AllTaken> {
    const { clock } = this.#deps;
    try {
      const answer = await inTime(store.takeAll(asks), clock);
      this.#answered(store);
      this.#count(answer.refusedAt === undefined ? 'ok' : 'denied');
      this.#learn(asks, answer.levels, clock.monotonic());
      return answer;
    } catch (error) {
      this.#count(error instanceof TookTooLong ? 'late' : 'failed');
      this.#failed(error);
      return this.#takeShare(asks, clock.monotonic());
    }
  }

  #count(result: 'ok' | 'denied' | 'late' | 'failed'): void {
    this.#deps.counters.add('gateway_state_trips_total', { kind: 'rates', result });
  }

  /** What is left is divided as the limit is, should the store go away. */
  #learn(asks: readonly Ask[], levels: readonly number[], now: number): void {
    const { replicas } = this;
    for (const [index, { key, spec }] of asks.entries())
      this.#memory.of(spec.group).put(key, (levels[index] ?? 0) / replicas, now);
  }

  #answered(store: SharedLimits): void {
    if (this.#restsUntil === undefined) return;
    this.#restsUntil = undefined;
    const { log, clock } = this.#deps;
    log.info('the shared state answers again', { seconds: Math.round((clock.monotonic() - this.#lostAt) / 1000) });
    void this.#payBack(store);
  }

  #failed(error: unknown): void {
    const { log, clock } = this.#deps;
    const now = clock.monotonic();
    if (this.#restsUntil === undefined) {
      this.#lostAt = now;
      log.error('the shared state does not answer, this replica holds its share of each limit', {
        backend: this.#place.backend,
        replicas: this.replicas,
        error,
      });
    }
    this.#restsUntil = now + STATE_REST_MS;
  }

  #takeShare(asks: readonly Ask[], now: number): AllTaken {
    const { replicas } = this;
    const parts = asks.map((ask) => ({ ...ask, spec: shareOf(ask.spec, replicas) }));
    for (const [index, { key, spec, floor }] of parts.entries()) {
      const { taken, retryAfterMs } = this.#memory.of(spec.group).take(key, spec, now, 0, floor);
      if (!taken) return { refusedAt: index, retryAfterMs, levels: [] };
    }
    for (const { key, spec, cost } of parts)
      if (cost !== 0) this.#memory.of(spec.group).take(key, spec, now, cost, Number.NEGATIVE_INFINITY);
    if (this.isShared) for (const ask of asks) this.#owe(ask);
    return { refusedAt: undefined, retryAfterMs: 0, levels: [] };
  }

  #owe(ask: Ask): void {
    if (ask.cost === 0) return;
    const id = JSON.stringify([ask.spec.group, ask.key]);
    const known = this.#owed.get(id);
    if (!known && this.#owed.size >= MOST_OWED) return;
    const cost = Math.min(ask.spec.burst, ask.cost + (known?.cost ?? 0)); // a longer debt would be one of other minutes
    this.#owed.set(id, { ...ask, cost, floor: Number.NEGATIVE_INFINITY });
  }

  async #payBack(store: SharedLimits): Promise<void> {
    const owed = [...this.#owed.values()];
    this.#owed.clear();
    try {
      for (let from = 0; from < owed.length; from += OWED_A_TRIP)
        await inTime(store.takeAll(owed.slice(from, from + OWED_A_TRIP)), this.#deps.clock);
    } catch (error) {
      this.#failed(error); // what was let through meanwhile is forgiven
    }
  }
}

/** A process that is busy may not have read an answer that came in time: before it counts as late, one turn of the event loop reads what is there. */
async function inTime<T>(answer: Promise<T>, clock: Clock): Promise<T> {
  try {
    return await within(answer, STATE_LIMIT_MS, clock, 'the shared state');
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    const isRead = Promise.withResolvers<never>();
    setImmediate(() => isRead.reject(error));
    return Promise.race([answer, isRead.promise]);
  }
}

/** A request takes a whole token, so that a share holds one at least. */
function shareOf(spec: BucketSpec, replicas: number): BucketSpec {
  return { ...spec, ratePerSecond: spec.ratePerSecond / replicas, burst: Math.max(1, spec.burst / replicas) };
}
