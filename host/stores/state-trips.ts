import type { Counters, Log } from '../contract/index.ts';
import { type Clock, TookTooLong, within } from '../common/clock.ts';

/** Milliseconds that a request waits for a shared store. */
export const STATE_LIMIT_MS = 250;
/** Milliseconds that a worker waits for its primary, which lives as long as the worker does: what it grants late would count twice. */
export const PRIMARY_LIMIT_MS = 2000;
/** Milliseconds that a store is left alone after it failed, so that not every request waits for the limit. */
export const STATE_REST_MS = 1000;

export interface StateTripsDeps {
  /** Milliseconds that a request waits. */
  readonly limitMs?: number | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly counters: Counters;
}

/** What is known of the store that is asked. */
export interface AskedStore {
  readonly backend: string;
  readonly replicas: number;
}

/** One question to the store. */
export interface Trip<T> {
  readonly kind: 'rates' | 'slots';
  readonly ask: () => Promise<T>;
  /** Whether the answer refuses something. */
  readonly isDenied: (answer: T) => boolean;
}

/** Questions to the store of what replicas share: one that fails, or takes longer than a request may wait, is done without for a second. */
export class StateTrips {
  readonly #deps: StateTripsDeps;
  readonly #store: () => AskedStore;
  #whenBack: () => void = () => {};
  /** Monotonic milliseconds; `undefined` while the store answers. */
  #restsUntil: number | undefined;
  #lostAt = 0;

  constructor(deps: StateTripsDeps, store: () => AskedStore) {
    this.#deps = deps;
    this.#store = store;
  }

  /** Whether it answered when it was last asked. */
  get isUp(): boolean {
    return this.#restsUntil === undefined;
  }

  /** Calls `then` each time that the store answers again. */
  onBack(then: () => void): void {
    this.#whenBack = then;
  }

  /** The answer; `undefined` where it has to be done without. Never rejects. */
  ask<T>(trip: Trip<T>): Promise<T | undefined> | undefined {
    const now = this.#deps.clock.monotonic();
    if (this.#restsUntil !== undefined) {
      if (now < this.#restsUntil) return undefined;
      this.#restsUntil = now + STATE_REST_MS; // one request a second looks whether it is back
    }
    return this.#go(trip);
  }

  /** As `ask`, of work that no request waits for: it counts for nothing but whether the store answers. */
  async work(work: Promise<unknown>): Promise<boolean> {
    try {
      await inTime(work, this.#deps);
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  async #go<T>({ kind, ask, isDenied }: Trip<T>): Promise<T | undefined> {
    try {
      const answer = await inTime(ask(), this.#deps);
      this.#answered();
      this.#count(kind, isDenied(answer) ? 'denied' : 'ok');
      return answer;
    } catch (error) {
      this.#count(kind, error instanceof TookTooLong ? 'late' : 'failed');
      this.#failed(error);
      return undefined;
    }
  }

  #count(kind: Trip<unknown>['kind'], result: 'ok' | 'denied' | 'late' | 'failed'): void {
    this.#deps.counters.add('gateway_state_trips_total', { kind, result });
  }

  #answered(): void {
    if (this.#restsUntil === undefined) return;
    this.#restsUntil = undefined;
    const { log, clock } = this.#deps;
    log.info('the shared state answers again', { seconds: Math.round((clock.monotonic() - this.#lostAt) / 1000) });
    this.#whenBack();
  }

  #failed(error: unknown): void {
    const { log, clock } = this.#deps;
    const now = clock.monotonic();
    if (this.#restsUntil === undefined) {
      this.#lostAt = now;
      log.error('the shared state does not answer, this replica holds its share of each limit', {
        ...this.#store(),
        error,
      });
    }
    this.#restsUntil = now + STATE_REST_MS;
  }
}

/** A process that is busy may not have read an answer that came in time: before it counts as late, one turn of the event loop reads what is there. */
async function inTime<T>(answer: Promise<T>, { clock, limitMs = STATE_LIMIT_MS }: StateTripsDeps): Promise<T> {
  try {
    return await within(answer, limitMs, clock, 'the shared state');
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    const isRead = Promise.withResolvers<never>();
    setImmediate(() => isRead.reject(error));
    return Promise.race([answer, isRead.promise]);
  }
}
