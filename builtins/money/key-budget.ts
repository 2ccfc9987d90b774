import { catalogPricing, GatewayError, Spending } from '../../host/contract/index.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import type { KeyBudget } from '../../host/common/budgets/key-budget.ts';
import { unpricedOfBudgets, unpricedRule } from '../../host/config/unpriced-rule.ts';
import { tapEventual } from '../../host/pipeline/eventual.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { type Denial, KeyBudgets } from './key-budgets.ts';
import { spentHeader, spentMessage } from './open-budgets.ts';

type Answer = GatewayError | undefined;

/**
 * A key with a budget spends no more than that, at the catalog's prices and on every surface, whatever plugins are enabled; its
 * sessions spend it too. Whatever an answer used is booked, also of one that fails later: it was paid for. `budget_usd` is asked first,
 * then `budgets`, in their order.
 */
export default defineBuiltin({
  name: 'key-budget',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise(
      'key-budget',
      async ({ hooks: pipeline, config, ledger, prices, services: { clock } }) => {
        const pricing = catalogPricing(prices);
        const spending = new Spending(ledger('key budgets', { maxKeys: 0 }), pricing, prices);
        const all = new KeyBudgets({ ledger: ledger('budgets', { maxKeys: 0 }), pricing, prices, now: clock.now });
        const [unpriced, unpricedOfAll] = [unpricedRule(config), unpricedOfBudgets(config)];
        const askAll = (
          exchange: LiveExchange,
          id: string,
          budgets: readonly KeyBudget[],
        ): Answer | Promise<Answer> => {
          if (budgets.some(({ usd }) => usd !== undefined)) exchange.needsPrice(unpricedOfAll, 'the key');
          const denial = all.admit(exchange, id, budgets);
          return denial instanceof Promise ? denial.then((late) => denied(exchange, late)) : denied(exchange, denial);
        };
        tapEventual(pipeline.charge, 'key-budget', (exchange) => {
          const limits = exchange.principal?.limits;
          if (!limits) return undefined;
          const { budget_usd: limitUsd } = limits;
          const budgets = exchange.surface === 'mcp' ? undefined : limits.budgets; // a call of a tool has no usage
          const id = exchange.principal?.id ?? '';
          if (limitUsd === undefined) return budgets && askAll(exchange, id, budgets);
          exchange.needsPrice(unpriced, 'the key');
          const decide = (reason: string | undefined): Answer | Promise<Answer> =>
            refusal(exchange, reason) ?? (budgets && askAll(exchange, id, budgets));
          const answer = spending.admit(exchange, { key: id, limitUsd });
          return answer instanceof Promise ? answer.then(decide) : decide(answer);
        });
        pipeline.finished.tap('key-budget', (exchange) => {
          const limits = exchange.principal?.limits;
          if (limits?.budget_usd !== undefined) spending.finish(exchange, exchange.answeredBy === undefined);
          if (limits?.budgets !== undefined) all.finish(exchange);
        });
      },
    ),
});

/** The client gets the same error as from the plugin `budget`. */
function refusal(exchange: LiveExchange, reason: string | undefined): Answer {
  if (reason === undefined) return undefined;
  exchange.plugins.rejectedBy = 'gateway';
  return new GatewayError('insufficient_quota', `request rejected by budget (before_request): ${reason}`);
}

function denied(exchange: LiveExchange, denial: Denial | undefined): Answer {
  if (!denial) return undefined;
  exchange.setHeader('X-Gateway-Budget', spentHeader(denial.budget, denial.committed));
  return refusal(exchange, spentMessage(denial.budget, denial.committed));
}
