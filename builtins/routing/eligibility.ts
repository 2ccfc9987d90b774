import type { RouteTarget } from '../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import type { Target } from '../../host/pipeline/target.ts';
import { implementsSurface } from '../../host/generation/model-index.ts';

type Targets = ReadonlyMap<string, Target>;

/**
 * Leaves of the ranked targets those that may be tried. Strategies that advance pass over what cannot serve; those that
 * name a target keep the first that serves the surface, and a model it does not serve is then not found.
 */
export default defineBuiltin({
  name: 'eligibility',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('eligibility', async ({ hooks: pipeline, strategy, targets: all, services: { log } }) => {
      const targets = new Map(all.map((target) => [target.virtualKey, target]));
      const isAnyMissing = all.some(({ provider }) => !provider);
      const warned = new Set<string>();
      const warnOfMissing = (ranked: readonly RouteTarget[], known: Targets, traceId: string): void => {
        for (const { virtualKey: routeKey } of ranked) {
          const { provider, virtualKey = routeKey } = known.get(routeKey) ?? {};
          if (provider || warned.has(virtualKey)) continue;
          warned.add(virtualKey);
          log.warn('provider not found, skipping', { provider: virtualKey, trace_id: traceId });
        }
      };
      pipeline.route.tap(
        { name: 'eligibility', stage: ORDER.eligibility },
        (ranked, { id, surface, streaming, turn, routing: { explaining, heard, group, alsoOn } }) => {
          const known = group?.routes ?? targets;
          if (isAnyMissing && !explaining) warnOfMissing(ranked, known, id);
          if ((group?.strategy ?? strategy).advances) return serving(ranked);
          const named =
            ranked.find(({ virtualKey }) => {
              const target = known.get(virtualKey);
              const isStreamed = turn?.streaming ?? streaming;
              return (
                target !== undefined &&
                (implementsSurface(target, surface, isStreamed) ||
                  (alsoOn !== undefined && implementsSurface(target, alsoOn, isStreamed)))
              );
            }) ?? ranked[0];
          for (const { virtualKey } of ranked)
            if (virtualKey !== named?.virtualKey) heard?.target?.(virtualKey, 'the strategy tries one target only');
          return named ? [named] : [];
        },
      );
    }),
});

/** A loop: of a frozen list, V8 makes `filter` several times as slow. */
function serving(ranked: readonly RouteTarget[]): readonly RouteTarget[] {
  const found: RouteTarget[] = [];
  for (const target of ranked) if (target.serves) found.push(target);
  return found;
}
