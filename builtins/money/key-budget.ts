import { catalogPricing, GatewayError, Spending } from '../../host/contract/index.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import { unpricedRule } from '../../host/config/unpriced-rule.ts';
import { tapEventual } from '../../host/pipeline/eventual.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';

/**
 * A key with a budget spends no more than that, at the catalog's prices and on every surface, whatever plugins are enabled; its
 * sessions spend it too. Whatever an answer used is booked, also of one that fails later: it was paid for.
 */
export default defineBuiltin({
  name: 'key-budget',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('key-budget', async ({ hooks: pipeline, config, ledger, prices }) => {
      const spending = new Spending(ledger('key budgets', { maxKeys: 0 }), catalogPricing(prices), prices);
      const unpriced = unpricedRule(config);
      tapEventual(pipeline.charge, 'key-budget', (exchange) => {
        const { principal } = exchange;
        const limitUsd = principal?.limits?.budget_usd;
        if (limitUsd === undefined) return undefined;
        exchange.needsPrice(unpriced, 'the key');
        const answer = spending.admit(exchange, { key: principal?.id ?? '', limitUsd });
        return answer instanceof Promise
          ? answer.then((reason) => refusal(exchange, reason))
          : refusal(exchange, answer);
      });
      pipeline.finished.tap('key-budget', (exchange) => {
        if (exchange.principal?.limits?.budget_usd !== undefined)
          spending.finish(exchange, exchange.answeredBy === undefined);
      });
    }),
});

/** The client gets the same error as from the plugin `budget`. */
function refusal(exchange: LiveExchange, reason: string | undefined): GatewayError | undefined {
  if (reason === undefined) return undefined;
  exchange.plugins.rejectedBy = 'gateway';
  return new GatewayError('insufficient_quota', `request rejected by budget (before_request): ${reason}`);
}
