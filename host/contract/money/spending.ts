import type { Exchange } from '../exchange.ts';
import { ExchangeNote } from '../exchange-note.ts';
import type { Ledger, Refusal, Reservation } from './ledger.ts';
import { estimateOf, type Pricing } from './pricing.ts';
import type { PluginPrices } from '../services.ts';

const MICRO = 1e6;
const UNBOUNDED: Pick<PluginPrices, 'longestAnswer'> = { longestAnswer: () => undefined };

/**
 * Who spends, and how much of it there is. It is asked for each request, so that limits may differ
 * by principal.
 */
export interface Purse {
  /** Whose money it is: what the ledger keeps the sum under, such as the id of a principal. */
  readonly key: string;
  /**
   * US dollars; `undefined` means unlimited. Less than a micro-dollar counts as one, so that a
   * limit of 0 grants calls until something is spent or reserved.
   */
  readonly limitUsd: number | undefined;
  /**
   * Completion tokens to reserve for a request that declares no ceiling; `undefined` leaves it to
   * the catalog.
   */
  readonly reserveTokens?: number | undefined;
}

/** What a call holds while it is in flight. */
interface Held {
  readonly key: string;
  readonly reservation: Reservation;
  /** How often it has asked: more than once where its answer calls for tools. */
  readonly turn: number;
}

/**
 * Spends from a ledger: reserves what a call may cost before it, and books what it did cost after
 * it. `admit` begins it, and `finish` must follow; what was booked or released in between stays so.
 * All of it is kept in the ledger and on the exchange, so one instance serves all requests of a
 * plugin.
 *
 * @example
 * ```ts
 * import Joi from 'joi';
 * import { catalogPricing, definePlugin, reject, Spending } from 'gw/contract';
 *
 * // Ten dollars for each credential, by the prices of the catalog.
 * export default definePlugin({
 *   name: 'ten-dollars',
 *   type: 'ratelimit',
 *   rejectsAs: 'insufficient_quota',
 *   summary: 'Gives each credential ten dollars',
 *   stages: ['before_request'],
 *   settings: Joi.object({}),
 *   create: (_settings, { ledger, prices }) => {
 *     const spending = new Spending(ledger('ten dollars', { maxKeys: 10_000 }), catalogPricing(prices), prices);
 *     return {
 *       async before_request(exchange) {
 *         const reason = await spending.admit(exchange, { key: exchange.principal?.id ?? '', limitUsd: 10 });
 *         return reason === undefined ? undefined : reject(reason);
 *       },
 *       finished: (exchange) => void spending.finish(exchange, exchange.answeredBy === undefined),
 *     };
 *   },
 * });
 * ```
 */
export class Spending {
  readonly #ledger: Ledger;
  readonly #pricing: Pricing;
  readonly #longestAnswer: PluginPrices['longestAnswer'];
  readonly #inFlight = new ExchangeNote<Held>();

  /**
   * @param ledger `deps.ledger(name, bounds)`: what was spent outlives the configuration there.
   * @param pricing by the catalog, or by rates of the operator.
   * @param prices `deps.prices`, for the longest answer of a model. Left out, a request without a
   * ceiling is held for 4,096 tokens per choice, unless the purse says how many.
   */
  constructor(ledger: Ledger, pricing: Pricing, { longestAnswer }: Pick<PluginPrices, 'longestAnswer'> = UNBOUNDED) {
    this.#ledger = ledger;
    this.#pricing = pricing;
    this.#longestAnswer = longestAnswer;
  }

  /**
   * Before a request's first turn, and before each further one of an answer that calls for tools:
   * what the turns before it cost counts there. Gives the reason why it is refused, or `undefined`;
   * a promise only where the ledger takes one. A ledger that cannot decide, because its store does
   * not answer, throws: what the turns before it cost is booked then, and nothing is held. The
   * reservation of a client that left while the ledger was asked is given back.
   */
  admit(exchange: Exchange, { key, limitUsd, reserveTokens }: Purse): string | undefined | Promise<string | undefined> {
    const earlier = this.#inFlight.take(exchange);
    earlier?.reservation.release();
    const running = earlier ? this.#pricing.reported(exchange) : 0;
    const expected = exchange.answeredBy === undefined ? this.#expected(exchange, reserveTokens) : 0;
    const decide = (answer: Reservation | Refusal): string | undefined => {
      if (answer.isGranted) {
        this.#inFlight.put(exchange, { key, reservation: answer, turn: (earlier?.turn ?? 0) + 1 });
        return undefined;
      }
      if (running > 0) void this.#ledger.commit(key, running);
      return `budget exceeded: spent $${(answer.committed / MICRO).toFixed(4)} of $${(limitUsd ?? 0).toFixed(2)} limit`;
    };
    const limit = limitUsd === undefined ? undefined : Math.max(limitUsd > 0 ? 1 : 0, Math.round(limitUsd * MICRO));
    const failed = (error: unknown): never => {
      if (running > 0) void this.#ledger.commit(key, running);
      throw error;
    };
    const decideLate = (answer: Reservation | Refusal): string | undefined => {
      const reason = decide(answer);
      if (exchange.signal.aborted) this.finish(exchange, false);
      return reason;
    };
    try {
      const answer = this.#ledger.reserve(key, { amount: running + expected, limit, running });
      return answer instanceof Promise ? answer.then(decideLate, failed) : decide(answer);
    } catch (error) {
      return failed(error);
    }
  }

  /** Micro-dollars to hold for the call that comes next. */
  #expected(exchange: Exchange, reserveTokens: number | undefined): number {
    return this.#pricing.expected(
      exchange,
      estimateOf(exchange, { undeclared: reserveTokens, longest: this.#longestAnswer(exchange) }),
    );
  }

  /**
   * Books what was used so far. For `after_request`, where the cost is known already; `finish` then
   * finds nothing left to do. Nothing is booked where nothing is held.
   */
  book(exchange: Exchange): void | Promise<void> {
    const held = this.#inFlight.take(exchange);
    return held && this.#settle(exchange, held);
  }

  /**
   * Books the cost as it is known now. Where the provider goes on by itself, the booking is noted,
   * to be corrected later.
   */
  #settle(exchange: Exchange, { key, reservation }: Held): void | Promise<void> {
    const amount = this.#pricing.reported(exchange);
    exchange.later?.add({ ledger: this.#ledger.name ?? '', key, amount, rates: this.#pricing.rates });
    return reservation.settle(amount);
  }

  /** Gives everything back: the call cost nothing. */
  release(exchange: Exchange): void {
    this.#inFlight.take(exchange)?.reservation.release();
  }

  /**
   * The end of a request. What was used of a stream that had begun was paid for, however it ended;
   * what else was used is booked where `isBilled` says so.
   *
   * @param isBilled whether a use outside of a stream was paid for. A plugin's own answer was not.
   */
  finish(exchange: Exchange, isBilled: boolean): void {
    const held = this.#inFlight.take(exchange);
    if (!held) return;
    const {
      charged,
      streaming,
      measurements: { ttftMs, costUsd },
    } = exchange;
    const isUsed = charged !== undefined || costUsd !== undefined;
    const isDelivered = streaming && ttftMs !== undefined;
    if (isUsed && (isDelivered || isBilled || held.turn > 1)) void this.#settle(exchange, held);
    else held.reservation.release();
  }
}
