import { type Exchange, ExchangeNote, GatewayError } from '../../host/contract/index.ts';
import { type Level, levelName } from '../../host/common/accounts/level.ts';

/** Milliseconds after which a client may ask again: when a call ends is not known. */
const RETRY_MS = 1000;

/** How many requests of accounts and tags are in flight, where they have a bound. All levels take a request, or none does. */
export class ParallelCalls {
  readonly #inFlight = new Map<string, number>();
  readonly #held = new ExchangeNote<readonly string[]>();

  /** Before each turn; only the first one takes a place. Gives why there is none. */
  take(exchange: Exchange, levels: readonly Level[]): GatewayError | undefined {
    if (this.#held.get(exchange) || levels.every(({ maxParallel }) => maxParallel === undefined)) return undefined;
    const bound = levels.filter(({ maxParallel }) => maxParallel !== undefined);
    const full = bound.find(({ budgetId, maxParallel = 0 }) => (this.#inFlight.get(budgetId) ?? 0) >= maxParallel);
    if (full) return inFlightRefusal(full);
    const ids = bound.map(({ budgetId }) => budgetId);
    for (const id of ids) this.#inFlight.set(id, (this.#inFlight.get(id) ?? 0) + 1);
    this.#held.put(exchange, ids);
    return undefined;
  }

  /** At the end of a request, whatever became of it. */
  giveBack(exchange: Exchange): void {
    for (const id of this.#held.take(exchange) ?? []) {
      const left = (this.#inFlight.get(id) ?? 1) - 1;
      if (left > 0) this.#inFlight.set(id, left);
      else this.#inFlight.delete(id);
    }
  }
}

export const inFlightRefusal = (full: Level): GatewayError =>
  new GatewayError(
    'rate_limit_exceeded',
    `${levelName(full)} has ${full.maxParallel} requests in flight, the most it may have`,
    { retryAfterMs: RETRY_MS },
  );
