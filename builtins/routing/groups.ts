import { defineBuiltin } from '../../host/builtin.ts';
import type { ExchangeOutcome } from '../../host/contract/index.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';

/** Counts requests that were routed by a group of models, by the group that they asked for; not those that the client gave up. */
export default defineBuiltin({
  name: 'groups',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('groups', async ({ hooks: pipeline, groups, carryover, services }) => {
      if (!groups) return;
      const { counters } = services;
      for (const { name } of groups.list)
        carryover.lease(
          `figures of the group ${name}`,
          () => name,
          (group) => counters.forget('gateway_group_requests_total', { group }),
        );
      pipeline.finished.tap('groups', (exchange, outcome) => {
        const { routing } = exchange;
        if (outcome === 'client_canceled') return;
        if (!routing.group && routing.fallback === undefined) return; // not routed, or not by a group
        const asked = groups.of(exchange.model);
        if (asked)
          counters.add('gateway_group_requests_total', { group: asked.name, result: resultOf(exchange, outcome) });
      });
    }),
});

function resultOf({ routing }: LiveExchange, outcome: ExchangeOutcome): 'ok' | 'fallback' | 'failed' {
  if (outcome !== 'success') return 'failed';
  return routing.fallback === undefined ? 'ok' : 'fallback';
}
