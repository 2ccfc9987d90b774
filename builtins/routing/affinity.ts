import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import type { GenerationDraft } from '../../host/generation/generation.ts';
import type { HintValue, TeamHints } from '../../host/state/team-hints.ts';
import { explainSession } from './affinity/explained-session.ts';
import { Places } from './affinity/places.ts';
import { ServedSessions, type SessionWord, UNUSED_MS } from './affinity/served-sessions.ts';
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
    hooks.assemble.tapPromise('affinity', async (draft, host) => {
      const lists = sessionLists(draft);
      if (!lists) return;
      const { hooks: pipeline, carryover, services, targets } = draft;
      const served = carryover.lease('affinity', () => sharedSessions(host?.hints, services.clock.monotonic));
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

interface SessionHint extends HintValue {
  readonly word?: SessionWord;
}

/** Where this gateway has several processes, each says where it has served a session. A word that comes late costs a vendor's cache, and nothing else. */
function sharedSessions(hints: TeamHints | undefined, monotonic: () => number): ServedSessions {
  const served = new ServedSessions();
  if (!hints) return served;
  served.tell = (digest, word) => hints.send('session', digest, { forMs: word ? UNUSED_MS : 0, ...(word && { word }) });
  hints.onAny('session', (digest, value) => served.hear(digest, (value as SessionHint).word, monotonic()));
  return served;
}

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
