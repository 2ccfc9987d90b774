import type { Exchange } from './exchange.ts';

/** Where notes stand: members of the exchange that its type does not declare. */
type Noted = Record<symbol, unknown>;

/**
 * What one instance of a plugin remembers of a request from stage to stage: make one in `create`,
 * and it ends with the exchange. Two instances never see each other's.
 */
export class ExchangeNote<T> {
  readonly #key = Symbol('note');

  put(exchange: Exchange, value: T): void {
    (exchange as unknown as Noted)[this.#key] = value;
  }

  get(exchange: Exchange): T | undefined {
    return (exchange as unknown as Noted)[this.#key] as T | undefined;
  }

  /** Reads it once: a second look finds nothing. */
  take(exchange: Exchange): T | undefined {
    const value = this.get(exchange);
    if (value !== undefined) (exchange as unknown as Noted)[this.#key] = undefined;
    return value;
  }
}
