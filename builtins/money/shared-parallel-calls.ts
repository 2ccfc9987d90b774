import { type Exchange, ExchangeNote, type GatewayError } from '../../host/contract/index.ts';
import type { Level } from '../../host/common/accounts/level.ts';
import type { SharedPlaces } from '../../host/state/shared-places.ts';
import { inFlightRefusal } from './parallel-calls.ts';

/** What `ParallelCalls` counts in memory, where the processes of a gateway hold it together. */
export class SharedParallelCalls {
  readonly #places: SharedPlaces;
  readonly #held = new ExchangeNote<readonly string[]>();

  constructor(places: SharedPlaces) {
    this.#places = places;
  }

  /** Before each turn; only the first one takes a place. A promise only where a level has a bound. */
  take(exchange: Exchange, levels: readonly Level[]): GatewayError | undefined | Promise<GatewayError | undefined> {
    const bound = levels.filter(({ maxParallel }) => maxParallel !== undefined);
    return this.#held.get(exchange) || bound.length === 0 ? undefined : this.#ask(exchange, bound);
  }

  /** At the end of a request, whatever became of it. */
  giveBack(exchange: Exchange): void {
    const held = this.#held.take(exchange);
    if (held) this.#places.giveBack(held);
  }

  async #ask(exchange: Exchange, bound: readonly Level[]): Promise<GatewayError | undefined> {
    const keys = bound.map(({ budgetId }) => `parallel ${budgetId}`);
    const full = await this.#places.tryAll(
      bound.map(({ budgetId, maxParallel: limit = 0 }) => ({ key: `parallel ${budgetId}`, limit })),
    );
    const level = full === undefined ? undefined : bound[full];
    if (level) return inFlightRefusal(level);
    this.#held.put(exchange, keys);
    return undefined;
  }
}
