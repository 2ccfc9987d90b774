import { SURFACES } from '../../host/contract/index.ts';
import type { GenerationDraft } from '../../host/generation/generation.ts';
import { isPriced, sentBody } from '../../host/pipeline/billing/unpriced.ts';
import { mayAsk, mayServe } from '../../host/pipeline/key-access.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { isServed } from '../../host/pipeline/serving.ts';
import type { Target } from '../../host/pipeline/target.ts';
import type { AskedBudgets, Denial } from './asked-budgets.ts';
import type { BudgetLevel } from './budget-levels.ts';
import { deniedHeader } from './denied.ts';

export type OverBudgetsDeps = Pick<GenerationDraft, 'config' | 'models' | 'groups' | 'targets' | 'services'>;

/**
 * Serves a request beyond a budget by another model, which the budget names, out of a further amount. The request begins again with that model:
 * it must be served, allowed and priced, and every other budget must grant it.
 */
export class OverBudgets {
  readonly #all: AskedBudgets;
  readonly #deps: OverBudgetsDeps;
  readonly #known: Pick<OverBudgetsDeps, 'models' | 'groups'> & { readonly targets: ReadonlyMap<string, Target> };

  constructor(all: AskedBudgets, deps: OverBudgetsDeps) {
    this.#all = all;
    this.#deps = deps;
    const targets = new Map(deps.targets.map((target) => [target.virtualKey, target]));
    this.#known = { models: deps.models, groups: deps.groups, targets };
  }

  /** Gives what refuses the request all the same. `first` is what denied it with the model that it asks for. */
  async admit(exchange: LiveExchange, levels: readonly BudgetLevel[], first: Denial): Promise<Denial | undefined> {
    const { over } = first.budget;
    if (!over || first.amount === undefined || SURFACES[exchange.surface].isForwarded) return first;
    const { model, request } = exchange;
    this.#ask(exchange, over.use);
    const denial = this.#isFit(exchange) ? await this.#reserve(exchange, levels, first) : first;
    if (denial) {
      exchange.model = model;
      exchange.request = request;
      return denial;
    }
    exchange.routing.over = { from: model, of: first.budget.owner };
    exchange.setHeader('X-Gateway-Budget', `${deniedHeader(first)}, over="${quotable(over.use)}"`);
    return undefined;
  }

  #ask(exchange: LiveExchange, use: string): void {
    const { aliases } = this.#deps.config;
    const model = (Object.hasOwn(aliases, use) ? aliases[use] : undefined) ?? use;
    exchange.model = model;
    exchange.request = { ...exchange.request, model };
  }

  /** Whether a target serves the model to this request, and to this key, at a price where one is asked for. */
  #isFit(exchange: LiveExchange): boolean {
    const {
      limits = {},
      model,
      routing: { pinned, unpriced },
    } = exchange;
    const { config, services } = this.#deps;
    const needsPrice = unpriced?.rule === 'refuse';
    return (
      mayAsk(limits, model, config.aliases) &&
      isServed(
        exchange,
        this.#known,
        (target) =>
          target.provider !== undefined &&
          mayServe(limits, target.virtualKey) &&
          (!needsPrice || isPriced(target, model, services, sentBody(exchange))),
        pinned,
      )
    );
  }

  /** Each budget that denies and names the model too is passed over; the first other one refuses the request. */
  async #reserve(exchange: LiveExchange, levels: readonly BudgetLevel[], first: Denial): Promise<Denial | undefined> {
    const passed = new Map([[first.budget.name, first]]);
    for (;;) {
      const denial = await this.#all.admit(exchange, levels, passed);
      if (!denial) return undefined;
      const { name, over, overOf } = denial.budget;
      if (overOf !== undefined) return passed.get(overOf); // what may be spent beyond it is spent too
      if (over?.use !== first.budget.over?.use || denial.amount === undefined) return denial;
      passed.set(name, denial);
    }
  }
}

/** As a text of RFC 9651 may have it. */
const quotable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&');
