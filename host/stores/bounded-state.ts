import type { BucketSpec, Log, SharedState } from '../contract/index.ts';
import { type Clock, within } from '../common/clock.ts';
import type { Ask } from '../state/shared-limits.ts';
import { refuseNoBytes } from '../state/shared-state.ts';
import type { BoundedLimits } from './bounded-limits.ts';
import type { Place } from './place.ts';
import { STATE_LIMIT_MS, STATE_REST_MS } from './state-trips.ts';

export interface BoundedStateDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds that a request waits. */
  readonly limitMs?: number | undefined;
}

/**
 * Shared state as plugins get it. While the shared store fails or takes longer than the limit, this process goes by its own
 * memory: requests are served, each replica counts for itself, and values count as forgotten. What was counted meanwhile
 * stays in this process; it is not added to the store when that is back.
 */
export class BoundedState implements SharedState {
  readonly #place: Place<SharedState>;
  readonly #memory: SharedState;
  readonly #limits: BoundedLimits;
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #log: Log;
  /** Monotonic milliseconds; `undefined` while the store answers. */
  #restsUntil: number | undefined;

  /** `place` holds its default, the memory of this process, until a store is supplied. Buckets are those of `limits` where these are shared. */
  constructor(
    place: Place<SharedState>,
    limits: BoundedLimits,
    { clock, log, limitMs = STATE_LIMIT_MS }: BoundedStateDeps,
  ) {
    this.#limitMs = limitMs;
    this.#place = place;
    this.#limits = limits;
    this.#memory = place.value;
    this.#clock = clock;
    this.#log = log;
  }

  get sharesValues(): boolean {
    return this.#place.value.sharesValues === true;
  }

  get flight(): SharedState['flight'] {
    return this.#place.value.flight;
  }

  take(key: string, spec: BucketSpec, cost: number, floor?: number): ReturnType<SharedState['take']> {
    if (this.#limits.isShared) return this.#takeShared({ key, spec, cost, floor: floor ?? cost });
    return this.#ask((state) => state.take(key, spec, cost, floor));
  }

  add(key: string, by: number, ttlMs?: number): Promise<number> {
    if (!Number.isFinite(by)) return this.#memory.add(key, by, ttlMs); // refuses it: the store has not failed
    return this.#ask((state) => state.add(key, by, ttlMs));
  }

  get(key: string): Promise<Uint8Array | undefined> {
    return this.#ask((state) => state.get(key));
  }

  async set(key: string, value: Uint8Array | string, ttlMs: number): Promise<void> {
    refuseNoBytes(value); // the store has not failed
    return this.#ask((state) => state.set(key, value, ttlMs));
  }

  delete(key: string): Promise<void> {
    return this.#ask((state) => state.delete(key));
  }

  async #takeShared(ask: Ask): ReturnType<SharedState['take']> {
    const { refusedAt, retryAfterMs } = await this.#limits.takeAll([ask]);
    return { taken: refusedAt === undefined, retryAfterMs };
  }

  #ask<T>(call: (state: SharedState) => Promise<T>): Promise<T> {
    const store = this.#place.value;
    const rests = this.#restsUntil !== undefined && this.#clock.monotonic() < this.#restsUntil;
    return store === this.#memory || rests ? call(this.#memory) : this.#askStore(store, call);
  }

  async #askStore<T>(store: SharedState, call: (state: SharedState) => Promise<T>): Promise<T> {
    try {
      const answer = await within(call(store), this.#limitMs, this.#clock, 'the shared store');
      if (this.#restsUntil !== undefined) this.#log.info('the shared store answers again');
      this.#restsUntil = undefined;
      return answer;
    } catch (error) {
      if (this.#restsUntil === undefined)
        this.#log.error('the shared store does not answer, this process goes by its own memory', {
          backend: this.#place.backend,
          error,
        });
      this.#restsUntil = this.#clock.monotonic() + STATE_REST_MS;
      return call(this.#memory);
    }
  }
}
