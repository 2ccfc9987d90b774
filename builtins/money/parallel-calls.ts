import { type Counters, ExchangeNote, GatewayError } from '../../host/contract/index.ts';
import { type Level, levelName } from '../../host/common/accounts/level.ts';
import type { Eventual } from '../../host/pipeline/eventual.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { PlacesHeld } from '../../host/state/shared-places.ts';
import type { BoundedPlaces } from '../../host/stores/bounded-places.ts';

/** Milliseconds after which a client may ask again: when a call ends is not known. */
const RETRY_MS = 1000;
/** What has the places, as the store of what replicas share names it. */
const REQUESTS = 'requests in flight';

/** Where replicas hold the places together, who asks there. */
export type SharedCalls = Pick<BoundedPlaces, 'take' | 'giveBack'> | undefined;

/** How many requests of keys, accounts and tags are in flight, where they have a bound. All levels take a request, or none does. */
export class ParallelCalls {
  readonly #inFlight = new Map<string, number>();
  readonly #held = new ExchangeNote<readonly string[] | PlacesHeld>();
  readonly #counters: Counters;

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /** Before each turn; only the first one takes a place. Gives why there is none: a promise only where replicas hold the places together. */
  take(exchange: LiveExchange, levels: readonly Level[], shared: SharedCalls): Eventual<GatewayError | undefined> {
    if (this.#held.get(exchange) || levels.every(({ maxParallel }) => maxParallel === undefined)) return undefined;
    const bound = levels.filter(({ maxParallel }) => maxParallel !== undefined);
    return shared ? this.#takeShared(exchange, bound, shared) : this.#takeHere(exchange, bound);
  }

  #takeHere(exchange: LiveExchange, bound: readonly Level[]): GatewayError | undefined {
    const full = bound.find(({ budgetId, maxParallel = 0 }) => (this.#inFlight.get(budgetId) ?? 0) >= maxParallel);
    if (full) return this.#refusal(full);
    const ids = bound.map(({ budgetId }) => budgetId);
    for (const id of ids) this.#inFlight.set(id, (this.#inFlight.get(id) ?? 0) + 1);
    this.#held.put(exchange, ids);
    return undefined;
  }

  async #takeShared(
    exchange: LiveExchange,
    bound: readonly Level[],
    shared: NonNullable<SharedCalls>,
  ): Promise<GatewayError | undefined> {
    const of = bound.map(({ budgetId, maxParallel = 0 }) => ({ group: REQUESTS, key: budgetId, most: maxParallel }));
    const { held, refusedAt = 0 } = await shared.take({ of, wanted: 1, isQueued: false });
    const [place] = held;
    const full = bound[refusedAt];
    if (!place) return full && this.#refusal(full);
    if (exchange.cancellation.cause) shared.giveBack(place); // the end of the request may be over
    else this.#held.put(exchange, place);
    return undefined;
  }

  #refusal(full: Level): GatewayError {
    this.#counters.add('gateway_rate_limit_rejections_total', { key_type: 'account' });
    return new GatewayError(
      'rate_limit_exceeded',
      `${levelName(full)} has ${full.maxParallel} requests in flight, the most it may have`,
      { retryAfterMs: RETRY_MS },
    );
  }

  /** At the end of a request, whatever became of it. */
  giveBack(exchange: LiveExchange, shared: SharedCalls): void {
    const held = this.#held.take(exchange);
    if (!held) return;
    if ('of' in held) return shared?.giveBack(held);
    for (const id of held) {
      const left = (this.#inFlight.get(id) ?? 1) - 1;
      if (left > 0) this.#inFlight.set(id, left);
      else this.#inFlight.delete(id);
    }
    return undefined;
  }
}
