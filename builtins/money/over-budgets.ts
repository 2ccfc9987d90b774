import { SURFACES } from '../../host/contract/index.ts';
import type { GenerationDraft } from '../../host/generation/generation.ts';
import { isPriced, sentBody } from '../../host/pipeline/billing/unpriced.ts';
import { mayAsk, mayServe } from '../../host/pipeline/key-access.ts';
import type { Eventual } from '../../host/pipeline/eventual.ts';
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
  admit(exchange: LiveExchange, levels: readonly BudgetLevel[], first: Denial): Eventual<Denial | undefined> {
    return this.decide(exchange, first, (passed) => this.#all.admit(exchange, levels, passed));
  }

  /** `reserve` asks all budgets, but for what may be spent beyond those that are passed, by name. */
  decide(exchange: LiveExchange, first: Denial, reserve: Reserve): Eventual<Denial | undefined> {
    const { over } = first.budget;
    if (!over || first.amount === undefined || SURFACES[exchange.surface].isForwarded) return first;
    const { model, request } = exchange;
    this.#ask(exchange, over.use);
    const end = (denial: Denial | undefined): Denial | undefined => {
      if (denial) {
        exchange.model = model;
        exchange.request = request;
        return denial;
      }
      exchange.routing.over = { from: model, of: first.budget.owner };
      exchange.setHeader('X-Gateway-Budget', `${deniedHeader(first)}, over="${quotable(over.use)}"`);
      return undefined;
    };
    if (!this.#isFit(exchange)) return end(first);
    const denial = askPassing(reserve, first, new Map([[first.budget.name, first]]));
    return denial instanceof Promise ? denial.then(end) : end(denial);
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
}

type Reserve = (passed: ReadonlyMap<string, Denial>) => Eventual<Denial | undefined>;

/** Each budget that denies and names the model too is passed over; the first other one refuses the request. */
function askPassing(reserve: Reserve, first: Denial, passed: Map<string, Denial>): Eventual<Denial | undefined> {
  const decide = (denial: Denial | undefined): Eventual<Denial | undefined> => {
    if (!denial) return undefined;
    const { name, over, overOf } = denial.budget;
    if (overOf !== undefined) return passed.get(overOf); // what may be spent beyond it is spent too
    if (over?.use !== first.budget.over?.use || denial.amount === undefined) return denial;
    passed.set(name, denial);
    return askPassing(reserve, first, passed);
  };
  const denial = reserve(passed);
  return denial instanceof Promise ? denial.then(decide) : decide(denial);
}

/** As a text of RFC 9651 may have it. */
const quotable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&');
