import type { RouteTarget } from '../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { targetName } from '../../host/pipeline/turns/ranked-routes.ts';
import { classOf } from '../../host/upstream/fault-classes.ts';

/** How long a target that answered 429 is passed over: by its own hint, within these bounds; one whose account has no credit left as long as may be. See docs/reference/data-plane.md#failures-that-go-on-to-the-next-target. */
const PARKED_MS = 5_000;
const MAX_PARKED_MS = 60_000;

/** When one target's rest ends, in monotonic milliseconds, and why it rests. */
interface Rest {
  until: number;
  why: string;
}

/**
 * Passes over targets whose circuit is open and those that asked for a rest, as long as others can serve: a filter, never
 * a refusal. Only for strategies that try one target after another.
 */
export default defineBuiltin({
  name: 'health',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('health', async ({ hooks: pipeline, targets, strategy, groups, carryover, services }) => {
      const isOfUse = strategy.advances || groups?.list.some((group) => group.strategy.advances) === true;
      if (!isOfUse || targets.length < 2) return;
      const { monotonic } = services.clock;
      const rests = new Map(
        targets.map(({ virtualKey }) => [
          virtualKey,
          carryover.lease<Rest>(`rest ${virtualKey}`, () => ({ until: 0, why: '' })),
        ]),
      );
      const isResting = (virtualKey: string): boolean => {
        const until = rests.get(virtualKey)?.until ?? 0;
        return until > 0 && until > monotonic();
      };
      const isHealthy = (virtualKey: string): boolean =>
        !isResting(virtualKey) && pipeline.circuit.call(virtualKey) !== 'open';

      pipeline.route.tap({ name: 'health', stage: ORDER.health }, (ranked, { routing }) => {
        const { heard, group } = routing;
        if (!(group?.strategy ?? strategy).advances) return ranked;
        const isFit = ({ virtualKey }: RouteTarget): boolean => isHealthy(targetName(virtualKey, routing));
        if (ranked.every(isFit)) return ranked;
        const healthy = ranked.filter(isFit);
        const then = healthy.length > 0 ? '' : ', as do all others: they are tried all the same';
        for (const { virtualKey: routeKey } of ranked) {
          const name = targetName(routeKey, routing);
          if (!isHealthy(name))
            heard?.target?.(routeKey, `${isResting(name) ? rests.get(name)?.why : 'its circuit is open'}${then}`);
        }
        return healthy.length > 0 ? healthy : ranked;
      });
      pipeline.settled.tap('health', ({ target: { virtualKey }, outcome, error }) => {
        const rest = rests.get(virtualKey);
        if (!rest) return;
        const { fault, retryAfterMs = PARKED_MS } = error ?? {};
        if (fault?.reason === 'billing' && fault.ofRequest !== true)
          Object.assign(rest, { until: monotonic() + MAX_PARKED_MS, why: 'its account has no credit left' });
        else if (fault?.status === 429 && classOf(fault).isOver !== true)
          // what is wrong with one request says nothing of the next
          Object.assign(rest, {
            until: monotonic() + Math.min(retryAfterMs, MAX_PARKED_MS),
            why: 'it rests after a 429',
          });
        else if (outcome === 'success' && !error) rest.until = 0;
      });
    }),
});
