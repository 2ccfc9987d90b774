import type { Exchange } from './exchange.ts';

/** Where notes stand: members of the exchange that its type does not declare. */
type Noted = Record<symbol, unknown>;

/**
 * What one instance of a plugin remembers of a request from stage to stage: make one in `create`,
 * and it ends with the exchange. Two instances never see each other's. A note is found by the
 * exchange alone, without a table, so nothing is left behind when a request ends early. Nothing
 * else of the process can read it, and it is never logged.
 *
 * @example
 * ```ts
 * import { ExchangeNote, type PluginDeps, type PluginHandlers } from 'gw/contract';
 *
 * export function create(_settings: object, { counters }: PluginDeps): PluginHandlers {
 *   const question = new ExchangeNote<string>();
 *   return {
 *     before_request: (exchange) => question.put(exchange, exchange.model),
 *     finished(exchange) {
 *       const asked = question.take(exchange); // undefined where an earlier plugin refused the request
 *       if (asked !== undefined && asked !== exchange.reportedModel) counters.add('my_renamed_total');
 *     },
 *   };
 * }
 * ```
 */
export class ExchangeNote<T> {
  readonly #key = Symbol('note');

  /** Keeps a value, in the place of the one before. It costs no more than the write of a member. */
  put(exchange: Exchange, value: T): void {
    (exchange as unknown as Noted)[this.#key] = value;
  }

  /**
   * The value; `undefined` where none was put, or it was taken. Check for that even at late stages:
   * they run for requests that an earlier plugin ended.
   */
  get(exchange: Exchange): T | undefined {
    return (exchange as unknown as Noted)[this.#key] as T | undefined;
  }

  /**
   * Reads it once: a second look finds nothing. For what must happen once, such as giving a
   * reservation back, whichever handler comes first.
   */
  take(exchange: Exchange): T | undefined {
    const value = this.get(exchange);
    if (value !== undefined) (exchange as unknown as Noted)[this.#key] = undefined;
    return value;
  }
}
