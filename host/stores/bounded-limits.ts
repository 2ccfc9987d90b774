import type { BucketSpec } from '../contract/index.ts';
import type { Clock } from '../common/clock.ts';
import { GroupedBuckets } from '../state/grouped-buckets.ts';
import type { AllTaken, Ask, SharedLimits } from '../state/shared-limits.ts';
import type { Place } from './place.ts';
import type { StateTrips } from './state-trips.ts';

/** Buckets whose debt is kept while the store is away; those after them are forgiven. */
const MOST_OWED = 10_000;
/** Buckets that one trip pays back. */
const OWED_A_TRIP = 100;

const isRefused = ({ refusedAt }: AllTaken): boolean => refusedAt !== undefined;

/**
 * Limits that replicas hold together. While the store fails or takes longer than a request may wait, this process holds its share: each limit
 * divided by the replicas that were counted last, starting with its share of what was left. What it let through meanwhile is taken off when the store is back.
 */
export class BoundedLimits {
  readonly #place: Place<SharedLimits | undefined>;
  readonly #trips: StateTrips;
  readonly #clock: Clock;
  readonly #memory = new GroupedBuckets();
  readonly #owed = new Map<string, Ask>();

  constructor(place: Place<SharedLimits | undefined>, trips: StateTrips, clock: Clock) {
    this.#place = place;
    this.#trips = trips;
    this.#clock = clock;
    trips.onBack(() => void this.#payBack());
  }

  /** Whether there is a store. Without one each limit is kept where it is asked for. */
  get isShared(): boolean {
    return this.#place.value !== undefined;
  }

  /** Whether the store answered when it was last asked. */
  get isUp(): boolean {
    return this.#trips.isUp && this.#place.value?.isUp !== false;
  }

  /** Replicas that each limit is divided by while the store is away. */
  get replicas(): number {
    return Math.max(1, this.#place.value?.replicas ?? 1);
  }

  /** Takes from all buckets, or from none. Never rejects. */
  async takeAll(asks: readonly Ask[]): Promise<AllTaken> {
    const store = this.#place.value;
    const answer =
      store && (await this.#trips.ask({ kind: 'rates', ask: () => store.takeAll(asks), isDenied: isRefused }));
    const now = this.#clock.monotonic();
    if (!answer) return this.#takeShare(asks, now);
    this.#learn(asks, answer.levels, now);
    return answer;
  }

  /** What is left is divided as the limit is, should the store go away. */
  #learn(asks: readonly Ask[], levels: readonly number[], now: number): void {
    const { replicas } = this;
    for (const [index, { key, spec }] of asks.entries())
      this.#memory.of(spec.group).put(key, (levels[index] ?? 0) / replicas, now);
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

  /** What is not taken is forgiven. */
  async #payBack(): Promise<void> {
    const store = this.#place.value;
    if (!store) return;
    const owed = [...this.#owed.values()];
    this.#owed.clear();
    for (let from = 0; from < owed.length; from += OWED_A_TRIP)
      if (!(await this.#trips.work(store.takeAll(owed.slice(from, from + OWED_A_TRIP))))) return;
  }
}

/** A request takes a whole token, so that a share holds one at least. */
function shareOf(spec: BucketSpec, replicas: number): BucketSpec {
  return { ...spec, ratePerSecond: spec.ratePerSecond / replicas, burst: Math.max(1, spec.burst / replicas) };
}
