import { catalogPricing, GatewayError, Spending } from '../../host/contract/index.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import { SESSIONS, TOTALS, WINDOWS } from '../../host/common/budgets/counted-sum.ts';
import { type Raise, raisedBy } from '../../host/common/accounts/raise.ts';
import type { KeyLimits } from '../../host/common/host-principal.ts';
import { type Eventual, tapEventual } from '../../host/pipeline/eventual.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { AskedBudgets, type Denial } from './asked-budgets.ts';
import { type BudgetLevel, BudgetLevels } from './budget-levels.ts';
import { BudgetRefusals, newBudgetRefusals } from './budget-refusals.ts';
import { BudgetWarnings } from './budget-warnings.ts';
import { deniedHeader, deniedMessage } from './denied.ts';
import { ExplainedBudgets } from './explained-budgets.ts';
import { OverBudgets } from './over-budgets.ts';
import { ParallelCalls } from './parallel-calls.ts';
import { PatternValues } from './pattern-values.ts';
import { PriceRules } from './prices/price-rules.ts';
import { missingTag } from './required-tags.ts';

type Answer = GatewayError | undefined;

/**
 * A key with a budget spends no more than that, and no more than its account, those above it and its tags may, at the catalog's prices
 * and on every surface, whatever plugins are enabled; its sessions spend it too. Whatever an answer used is booked, also of one that fails
 * later: it was paid for. `budget_usd` is asked first, then `budgets` of the key, then those of each level, in their order.
 */
export default defineBuiltin({
  name: 'key-budget',
  apply: ({ hooks }) => {
    let warnings: BudgetWarnings | undefined;
    const values = new PatternValues();
    const said = newBudgetRefusals();
    hooks.assemble.tapPromise('key-budget', async (draft, host) => {
      const { hooks: pipeline, config, accounts, ledger, prices, carryover, services } = draft;
      const { clock, log, counters } = services;
      if (host) {
        warnings ??= new BudgetWarnings({ moved: (move) => hooks.budgetMoved.call(move, host), now: clock.now });
        warnings.listen(host.stores.ledgers.value);
      }
      const refusals = new BudgetRefusals({ counters, log, now: clock.now }, said);
      const pricing = catalogPricing(prices);
      const spending = new Spending(ledger(TOTALS, { maxKeys: 0 }), pricing, prices);
      const all = new AskedBudgets({
        ledger: ledger(WINDOWS, { maxKeys: 0 }),
        sessions: ledger(SESSIONS, { maxKeys: MOST_SESSIONS, leaves: 'oldest' }),
        pricing,
        prices,
        now: clock.now,
        raises: accounts,
        warnings,
      });
      const over = new OverBudgets(all, draft);
      const levels = new BudgetLevels();
      const calls = carryover.lease('calls of accounts', () => new ParallelCalls(counters));
      const places = host?.places.isShared === true ? host.places : undefined;
      const rules = new PriceRules(config);
      const limitUsdOf = ({ budget_usd: total }: KeyLimits, id: string): number | undefined =>
        total === undefined ? undefined : total + raisedUsd(accounts.raisesOf(id), clock.now());
      const ledgers = host?.stores.ledgers.value;
      const explained = new ExplainedBudgets({ all, over, levels, rules, ledgers, limitUsdOf, pricing, prices });
      pipeline.explainCharge.tap('key-budget', (members, exchange) => explained.look(members, exchange));
      const askAll = (exchange: LiveExchange, asked: readonly BudgetLevel[]): Eventual<Answer> => {
        if (asked.length === 0) return undefined;
        const isFirst = !all.holds(exchange);
        const decide = (denial: Denial | undefined): Eventual<Answer> => {
          if (!isFirst || !denial?.budget.over) return denied(exchange, denial, refusals);
          const end = (late: Denial | undefined): Answer => beyond(exchange, denial, late, refusals);
          const late = over.admit(exchange, asked, denial);
          return late instanceof Promise ? late.then(end) : end(late);
        };
        const denial = all.admit(exchange, asked);
        return denial instanceof Promise ? denial.then(decide) : decide(denial);
      };
      tapEventual(pipeline.charge, 'key-budget', (exchange) => {
        const { principal: { id } = NO_KEY, limits } = exchange;
        if (!limits) return undefined;
        const limitUsd = limitUsdOf(limits, id);
        const isTool = exchange.surface === 'mcp'; // a call of a tool has no usage
        const spend = (): Eventual<Answer> => {
          const needed = isTool ? undefined : rules.of(limits);
          if (needed) exchange.needsPrice(needed.rule, needed.who);
          const asked = isTool ? [] : levels.of(id, limits);
          if (limitUsd === undefined) return askAll(exchange, asked);
          const decide = (reason: string | undefined): Eventual<Answer> => {
            if (reason === undefined) return askAll(exchange, asked);
            refusals.refused('key', 'usd');
            return refusal(exchange, reason);
          };
          if (limitUsd === 0) return decide(NOTHING_MAY_BE_SPENT);
          const answer = spending.admit(exchange, { key: id, limitUsd });
          return answer instanceof Promise ? answer.then(decide) : decide(answer);
        };
        if (!limits.levels || isTool) return spend();
        const refused = missingTag(limits, limits.levels) ?? values.take(limits.levels, clock.now());
        if (refused) return refused;
        const full = calls.take(exchange, limits.levels, places);
        return full instanceof Promise ? full.then((late) => late ?? spend()) : (full ?? spend());
      });
      pipeline.finished.tap('key-budget', (exchange) => {
        if (exchange.limits?.budget_usd !== undefined) spending.finish(exchange, exchange.answeredBy === undefined);
        all.finish(exchange); // finds nothing of a request that asked none
        calls.giveBack(exchange, places);
      });
    });
  },
});

/** Sums of sessions in memory. Clients choose their names. */
const MOST_SESSIONS = 100_000;

const NO_KEY = { id: '' };

/** US dollars. `budget_usd` is a budget without windows. */
const raisedUsd = (raises: readonly Raise[], now: number): number =>
  raises.length === 0 ? 0 : raisedBy(raises, 'usd', 'total', now) / 1e6;

const NOTHING_MAY_BE_SPENT = 'budget exceeded: spent $0.0000 of $0.00 limit';

/** The client gets the same error as from the plugin `budget`. */
function refusal(exchange: LiveExchange, reason: string): GatewayError {
  exchange.plugins.rejectedBy = 'gateway';
  return new GatewayError('insufficient_quota', `request rejected by budget (before_request): ${reason}`);
}

function denied(exchange: LiveExchange, denial: Denial | undefined, refusals: BudgetRefusals): Answer {
  if (!denial) return undefined;
  if (denial.amount === undefined) return needsCeiling(exchange);
  const { owner, unit } = denial.budget;
  refusals.refused(owner.kind, unit);
  refusals.spent(exchange, denial);
  exchange.setHeader('X-Gateway-Budget', deniedHeader(denial));
  return refusal(exchange, deniedMessage(denial));
}

/** `first` is spent, whatever became of the request that began again with another model. */
function beyond(exchange: LiveExchange, first: Denial, late: Denial | undefined, refusals: BudgetRefusals): Answer {
  if (late !== first) refusals.spent(exchange, first);
  if (!late) refusals.passed(first.budget.owner);
  return denied(exchange, late, refusals);
}

/** A budget that nothing may cross cannot take a call that may answer with any number of tokens. */
function needsCeiling(exchange: LiveExchange): GatewayError {
  exchange.plugins.rejectedBy = 'gateway';
  return new GatewayError(
    'request_rejected',
    'request rejected by budget (before_request): this budget needs max_tokens',
  );
}
