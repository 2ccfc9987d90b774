import { GatewayError } from '../../host/contract/index.ts';
import { SESSIONS, shownAmount, TOTALS, WINDOWS } from '../../host/common/budgets/counted-sum.ts';
import type { KeyLimits } from '../../host/common/host-principal.ts';
import type { ExplainedBudget, ExplainedRequest } from '../../host/pipeline/explained.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { Ledgers, Spent } from '../../host/stores/ledgers/ledgers.ts';
import type { AskedBudgets, Denial, Looked } from './asked-budgets.ts';
import type { BudgetLevel, BudgetLevels } from './budget-levels.ts';
import { CallAmounts, type CallAmountsDeps } from './call-amounts.ts';
import { deniedMessage } from './denied.ts';
import type { OpenBudget } from './open-budgets.ts';
import type { OverBudgets } from './over-budgets.ts';
import type { PriceRules } from './prices/price-rules.ts';
import { missingTag } from './required-tags.ts';
import { isOfSession } from './session-budgets.ts';

export interface ExplainedBudgetsDeps extends CallAmountsDeps {
  readonly all: AskedBudgets;
  readonly over: OverBudgets;
  readonly levels: BudgetLevels;
  readonly rules: PriceRules;
  /** What is spent; `undefined` where no gateway runs. */
  readonly ledgers: Pick<Ledgers, 'peek'> | undefined;
  /** `budget_usd` of a key in US dollars, with what it is raised by. */
  readonly limitUsdOf: (limits: KeyLimits, id: string) => number | undefined;
}

/** `budget_usd`, which has no windows, in micro-dollars. */
interface Total {
  readonly name: string;
  readonly limit: number;
  readonly expected: number;
  readonly spent: Spent | undefined;
}

const NOTHING: Spent = { committed: 0, reserved: 0 };

/** What budgets would say to a request that is only explained. */
export class ExplainedBudgets {
  readonly #deps: ExplainedBudgetsDeps;

  constructor(deps: ExplainedBudgetsDeps) {
    this.#deps = deps;
  }

  /** As the request would be charged, holding nothing. */
  look(members: ExplainedRequest, exchange: LiveExchange): GatewayError | undefined {
    const { limits, principal } = exchange;
    if (!limits || exchange.surface === 'mcp') return undefined;
    const missing = limits.levels && missingTag(limits, limits.levels);
    if (missing) return missing;
    const { over, levels, rules, ledgers } = this.#deps;
    const needed = rules.of(limits);
    if (needed) exchange.needsPrice(needed.rule, needed.who);
    const asked = levels.of(principal?.id, limits);
    const total = this.#total(exchange, limits);
    let rows = this.#look(exchange, asked);
    let denial: Denial | undefined = rows.find(({ isGranted }) => !isGranted);
    const first = denial;
    if (ledgers && first?.budget.over) {
      const answer = over.decide(exchange, first, (passed) => {
        rows = this.#look(exchange, asked, passed);
        return rows.find(({ isGranted }) => !isGranted);
      });
      denial = answer instanceof Promise ? first : answer; // what is only looked at is there at once
      if (denial) rows = this.#look(exchange, asked);
      else members.over = exchange.model;
    }
    const budgets = [...(total ? [totalRow(total)] : []), ...rows.map((row) => rowOf(row, ledgers !== undefined))];
    if (budgets.length > 0) members.budgets = budgets;
    return ledgers && (totalDenied(total) ?? (denial && deniedError(denial)));
  }

  #look(
    exchange: LiveExchange,
    asked: readonly BudgetLevel[],
    passed?: ReadonlyMap<string, Denial>,
  ): readonly Looked[] {
    const { all, ledgers } = this.#deps;
    const peek = (budget: OpenBudget): Spent =>
      ledgers?.peek(isOfSession(budget) ? SESSIONS : WINDOWS, budget.name) ?? NOTHING;
    return all.look(exchange, asked, peek, passed);
  }

  #total(exchange: LiveExchange, limits: KeyLimits): Total | undefined {
    const { ledgers, limitUsdOf } = this.#deps;
    const id = exchange.principal?.id ?? '';
    const limitUsd = limitUsdOf(limits, id);
    if (limitUsd === undefined) return undefined;
    const expected = new CallAmounts(exchange, this.#deps).of({
      unit: 'usd',
      overrun: 'one',
      reserveTokens: undefined,
    });
    return { name: id, limit: Math.round(limitUsd * 1e6), expected: expected ?? 0, spent: ledgers?.peek(TOTALS, id) };
  }
}

function rowOf({ budget, committed, reserved, amount, isGranted }: Looked, isKnown: boolean): ExplainedBudget {
  const { name, owner, unit, limit } = budget;
  return {
    name,
    of: owner.kind,
    unit,
    limit: shownAmount(unit, Math.round(limit)),
    spent: isKnown ? shownAmount(unit, committed) : null,
    reserved: isKnown ? shownAmount(unit, Math.ceil(reserved)) : null,
    expected: amount === undefined ? null : shownAmount(unit, Math.ceil(amount)),
    grants: isKnown ? isGranted : null,
  };
}

function totalRow({ name, limit, expected, spent }: Total): ExplainedBudget {
  return {
    name,
    of: 'key',
    unit: 'usd',
    limit: shownAmount('usd', Math.round(limit)),
    spent: spent ? shownAmount('usd', spent.committed) : null,
    reserved: spent ? shownAmount('usd', Math.ceil(spent.reserved)) : null,
    expected: shownAmount('usd', Math.ceil(expected)),
    grants: spent ? spent.committed + spent.reserved < limit : null,
  };
}

function totalDenied(total: Total | undefined): GatewayError | undefined {
  if (!total?.spent || total.spent.committed + total.spent.reserved < total.limit) return undefined;
  const [spent, limit] = [total.spent.committed / 1e6, total.limit / 1e6];
  return refusedFor(`budget exceeded: spent $${spent.toFixed(4)} of $${limit.toFixed(2)} limit`);
}

const deniedError = (denial: Denial): GatewayError =>
  denial.amount === undefined
    ? new GatewayError('request_rejected', `${REFUSED}this budget needs max_tokens`)
    : refusedFor(deniedMessage(denial));

const REFUSED = 'request rejected by budget (before_request): ';

const refusedFor = (reason: string): GatewayError => new GatewayError('insufficient_quota', `${REFUSED}${reason}`);
