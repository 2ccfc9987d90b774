import type { Exchange, Pricing } from '../../host/contract/index.ts';
import { type Estimate, estimateOf } from '../../host/contract/money/pricing.ts';
import type { CallPrices } from '../../host/generation/call-prices.ts';
import { callBound, type CallLimits, needsBound } from './call-bound.ts';
import type { OpenBudget } from './open-budgets.ts';
import { toolAmount, toolUses } from './tool-bound.ts';

export interface CallAmountsDeps {
  readonly pricing: Pricing;
  readonly prices: CallLimits & Partial<Pick<CallPrices, 'dearest'>>;
}

type Asking = Pick<OpenBudget, 'unit' | 'overrun' | 'reserveTokens'>;

/** What a call may use, in the unit of each budget that it asks. A prompt is measured once, and only where that is asked. */
export class CallAmounts {
  readonly #exchange: Exchange;
  readonly #deps: CallAmountsDeps;
  readonly #estimates = new Map<number | undefined, Estimate>();

  constructor(exchange: Exchange, deps: CallAmountsDeps) {
    this.#exchange = exchange;
    this.#deps = deps;
  }

  /** An estimate; of a budget that nothing may cross the most that it may be, and `undefined` where nothing bounds it. */
  of({ unit, overrun, reserveTokens }: Asking): number | undefined {
    if (unit === 'requests') return 1;
    if (this.#exchange.answeredBy !== undefined) return 0;
    const isBound = overrun === 'none' && needsBound(this.#exchange);
    const estimate = isBound
      ? callBound(this.#exchange, reserveTokens, this.#deps.prices)
      : (this.#estimates.get(reserveTokens) ?? this.#measure(reserveTokens));
    if (!estimate) return undefined;
    if (unit === 'tokens') return estimate.prompt + estimate.completion;
    return this.#deps.pricing.expected(this.#exchange, estimate) + (isBound ? this.#tools() : 0);
  }

  /** What tools of the vendor may cost: searches and the like, which are not counted in tokens. */
  #tools(): number {
    const { request, clientRequest } = this.#exchange;
    const uses = toolUses((request as { readonly json?: unknown }).json ?? clientRequest?.value ?? request);
    if (uses.length === 0) return 0;
    return this.#deps.prices.dearest?.(this.#exchange, (pricing) => toolAmount(uses, pricing)) ?? 0;
  }

  #measure(undeclared: number | undefined): Estimate {
    const longest = this.#deps.prices.longestAnswer(this.#exchange);
    const estimate = estimateOf(this.#exchange, { undeclared, longest });
    this.#estimates.set(undeclared, estimate);
    return estimate;
  }
}
