import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import type { GenerationDraft } from '../../host/generation/generation.ts';
import { explainSession } from './affinity/explained-session.ts';
import { Places } from './affinity/places.ts';
import { ServedSessions } from './affinity/served-sessions.ts';
import { sessionLists } from './affinity/session-lists.ts';
import { SessionRouting } from './affinity/session-routing.ts';

/**
 * Keeps the requests of a session at what served it before, where a strategy has `affinity: session`; without one nothing is
 * tapped. It orders what strategy and eligibility leave, and never brings back what they left out. See
 * docs/reference/affinity.md.
 */
export default defineBuiltin({
  name: 'affinity',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('affinity', async (draft) => {
      const lists = sessionLists(draft);
      if (!lists) return;
      const { hooks: pipeline, carryover, services, targets } = draft;
      const served = carryover.lease('affinity', () => new ServedSessions());
      const places = new Places(targets.flatMap(({ instance }) => instance ?? []));
      const { monotonic } = services.clock;
      const routing = new SessionRouting({ lists, places, served, monotonic });
      pipeline.route.tap({ name: 'affinity', stage: ORDER.session }, (ranked, exchange) => {
        routing.begin(exchange);
        return ranked;
      });
      pipeline.route.tap({ name: 'affinity', stage: ORDER.affinity }, (ranked, exchange) =>
        routing.order(ranked, exchange),
      );
      pipeline.credentialOrder.tap('affinity', (exchange, instance, upstreamModel) =>
        routing.credentials(exchange, instance, upstreamModel),
      );
      pipeline.settled.tap('affinity', (attempt) => routing.settled(attempt));
      pipeline.explainRequest.tap('affinity', explainSession);
      countResults(draft);
    }),
});

/** Counts answered requests that have a session, by the group whose route answered. */
function countResults({ hooks: pipeline, groups, carryover, services: { counters } }: GenerationDraft): void {
  for (const group of ['none', ...(groups?.list ?? []).map(({ name }) => name)])
    carryover.lease(
      `figures of affinity ${group}`,
      () => group,
      () => counters.forget('gateway_affinity_requests_total', { group }),
    );
  pipeline.finished.tap('affinity', (exchange, outcome) => {
    const result = outcome === 'success' && !exchange.isCounting ? exchange.affinity : undefined;
    if (result)
      counters.add('gateway_affinity_requests_total', { group: exchange.routing.group?.name ?? 'none', result });
  });
}
