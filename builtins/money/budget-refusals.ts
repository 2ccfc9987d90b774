import type { Counters, Log } from '../../host/contract/index.ts';
import { OncePer } from '../../host/common/once-per.ts';
import { timestamp } from '../../host/common/timestamps.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { Denial } from './asked-budgets.ts';
import type { BudgetOwner } from './budget-levels.ts';

export interface BudgetRefusalsDeps {
  readonly counters: Counters;
  readonly log: Log;
  readonly now: () => number;
}

/** Accounts and tags that a figure tells apart; further ones are counted together. */
const MOST_SERIES = 1000;
const OTHERS = '(other)';
/** A budget is said to be spent once in its window. */
const ONCE_MS = Number.POSITIVE_INFINITY;

/** Counts what budgets refuse, and what is served beyond them; says of each budget that it is spent. */
export class BudgetRefusals {
  readonly #deps: BudgetRefusalsDeps;
  /** Budgets whose line was a warning. Their names hold their window, so each window has a warning of its own. */
  readonly #told: OncePer;
  readonly #accounts: Set<string>;

  /** `kept`: what outlives a change of the configuration. */
  constructor(deps: BudgetRefusalsDeps, kept: BudgetRefusalsKept) {
    this.#deps = deps;
    this.#told = kept.told;
    this.#accounts = kept.accounts;
  }

  /** A request that a budget has refused. */
  refused(kind: BudgetOwner['kind'], unit: Denial['budget']['unit']): void {
    this.#deps.counters.add('gateway_budget_rejections_total', { kind, unit });
  }

  /** A request that is served by another model, because a budget is spent. A key or a session has no account. */
  passed({ kind, series }: BudgetOwner): void {
    const account = kind === 'account' || kind === 'tag' ? this.#labelOf(series) : '';
    this.#deps.counters.add('gateway_budget_overflow_total', { account });
  }

  /** A budget that denies, because nothing is left of it; of a call that only does not fit nothing is said. */
  spent({ id, principal }: LiveExchange, { budget, committed }: Denial): void {
    const { owner, name, unit, ruleName, limit, rule, window, overrun } = budget;
    if (overrun === 'none' && committed < limit) return;
    const level = this.#told.isFirst(name, this.#deps.now()) ? 'warn' : 'debug';
    this.#deps.log[level]('budget spent', {
      trace_id: id,
      ...(principal && { api_key_id: principal.id }),
      ...((owner.kind === 'account' || owner.kind === 'tag') && { account: owner.id }),
      unit,
      window: ruleName,
      spent: committed,
      limit,
      ...(rule.kind !== 'total' && { ends_at: timestamp(window.endsAt) }),
    });
  }

  #labelOf(account: string): string {
    if (this.#accounts.has(account)) return account;
    if (this.#accounts.size >= MOST_SERIES) return OTHERS;
    this.#accounts.add(account);
    return account;
  }
}

export interface BudgetRefusalsKept {
  readonly told: OncePer;
  readonly accounts: Set<string>;
}

export const newBudgetRefusals = (): BudgetRefusalsKept => ({ told: new OncePer(ONCE_MS), accounts: new Set() });
