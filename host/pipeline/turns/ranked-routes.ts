import type { RouteTarget } from '../../contract/index.ts';
import type { Routing } from '../exchange-state.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { ResolvedName } from '../model-group.ts';
import type { RunningGeneration } from '../running-generation.ts';
import type { ConnectedProvider } from '../../upstream/connect.ts';
import { asNamed, groupServing } from '../serving.ts';
import type { Target } from '../target.ts';

type Routed = Pick<RunningGeneration, 'hooks' | 'models' | 'groups' | 'targets'>;

/** What may serve the model that is asked for now, ranked: the routes of its group, or outside groups targets. */
export function rankedRoutes(exchange: LiveExchange, generation: Routed, streaming: boolean): readonly RouteTarget[] {
  const { routing, model, surface } = exchange;
  const { hooks, models, groups } = generation;
  routing.fallback = undefined;
  routing.refusal = undefined;
  const group = (routing.group = groups && groupServing(model, groups, routing.pinned));
  return hooks.route.call(
    group
      ? group.routeTargets(model, surface, streaming, routing.pinned)
      : models.routeTargets(model, surface, streaming, routing.pinned),
    exchange,
  );
}

/** What may serve a request, ranked, one list after another: first that for the model that is asked for, then those of the fallbacks of its group. */
export function* rankedLists(
  exchange: LiveExchange,
  generation: Routed,
  streaming: boolean,
): Generator<readonly RouteTarget[]> {
  yield rankedRoutes(exchange, generation, streaming);
  const { group } = exchange.routing;
  const behind = group && generation.groups?.behind(exchange.model, group);
  for (const resolved of behind ?? []) yield fallbackRoutes(resolved, exchange, generation, streaming);
}

/** The first of the ranked that serves and is registered, as it is called. */
export function firstServing(
  ranked: readonly RouteTarget[],
  exchange: LiveExchange,
  generation: Pick<Routed, 'targets'>,
): CallableTarget | undefined {
  for (const { virtualKey, serves } of ranked) {
    const target = serves ? routedTarget(virtualKey, exchange, generation) : undefined;
    if (target?.provider) return { target, provider: target.provider };
  }
  return undefined;
}

/** A target, and what it is called with. */
export interface CallableTarget {
  readonly target: Target;
  readonly provider: ConnectedProvider;
}

/** What may serve a fallback, ranked as if a client had asked for it. */
export function fallbackRoutes(
  { name, group }: ResolvedName,
  exchange: LiveExchange,
  { hooks, models }: Routed,
  streaming: boolean,
): readonly RouteTarget[] {
  const { routing, surface } = exchange;
  routing.fallback = name;
  routing.group = group;
  return hooks.route.call((group ?? models).routeTargets(name, surface, streaming, routing.pinned), exchange);
}

/** The target of a ranked name: in a group of models the name is that of a route. */
export function targetName(routeKey: string, { group }: Pick<Routing, 'group'>): string {
  return group ? (group.routes.get(routeKey)?.virtualKey ?? routeKey) : routeKey;
}

/** What a ranked name calls: a target, in a group the route of that key. Of a fallback it asks for the fallback's model. */
export function routedTarget(
  routeKey: string,
  { routing }: LiveExchange,
  { targets }: Pick<Routed, 'targets'>,
): Target | undefined {
  const { group, fallback } = routing;
  if (!group && fallback === undefined) return targets.get(routeKey);
  const target = (group?.routes ?? targets).get(routeKey);
  return target && fallback !== undefined ? asNamed(target, fallback) : target;
}
