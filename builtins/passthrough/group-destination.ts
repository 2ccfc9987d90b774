import { GatewayError, type RouteTarget } from '../../host/contract/index.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { mayServe } from '../../host/pipeline/key-access.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { ModelGroup } from '../../host/pipeline/model-group.ts';
import { asNamed } from '../../host/pipeline/serving.ts';
import { modelNotFound } from '../../host/pipeline/shown.ts';
import type { Target } from '../../host/pipeline/target.ts';
import { firstServing, rankedLists, routedTarget } from '../../host/pipeline/turns/ranked-routes.ts';
import { mayCall } from '../../host/upstream/instance.ts';
import { type Destination, notForwarded } from './destination.ts';

/** A request whose model is the name of a group. See docs/passthrough.md#groups-of-models. */
export interface GroupRequest {
  readonly exchange: LiveExchange;
  readonly generation: Generation;
  readonly group: ModelGroup;
  /** The name, after aliases. */
  readonly name: string;
  /** As the body has it. */
  readonly written: string;
  /** Its model is written as the provider knows it; else the body stays as it is. */
  readonly isRewritten: boolean;
  /** It belongs to one account of a vendor: the strategy is not asked. */
  readonly isStateful: boolean;
}

/** The route that a request goes to. Throws where none takes it. */
export function groupDestination(request: GroupRequest): Destination {
  return request.isRewritten ? rewritten(request) : asWritten(request);
}

/** The route to a target that the request names; `undefined` where the group has none: then the rule outside groups holds. */
export function namedRoute(request: GroupRequest, target: string): Target | undefined {
  const { exchange, generation, group, name, written, isRewritten } = request;
  const routes = [...group.routes.values()].filter(({ virtualKey }) => virtualKey === target);
  if (routes.length === 0) return undefined;
  const usable = routes.filter((route) => isUsable(request, route));
  if (usable.length === 0) throw modelNotFound(name, generation.services.redactor);
  const route = isRewritten ? usable[0] : usable.find((each) => each.upstreamModel(name) === written);
  if (!route) throw otherName();
  exchange.routing.group = group;
  return asNamed(route, name);
}

/** The first ranked route that such requests are sent on to; where no route of the group takes any, what its fallbacks name. */
function rewritten(request: GroupRequest): Destination {
  const { exchange, generation, group, isStateful } = request;
  const lists = isStateful ? listsInOrder(request) : rankedLists(exchange, generation, false);
  for (const ranked of lists) {
    const found = firstServing(ranked, exchange, generation);
    if (found) return found;
  }
  throw exchange.routing.refusal?.() ?? noneForwards(request, [...group.routes.values()]);
}

/** As they stand in the file. */
function* listsInOrder({ exchange, generation, group, name }: GroupRequest): Generator<readonly RouteTarget[]> {
  const { routing, surface } = exchange;
  for (const resolved of [{ name, group }, ...(generation.groups?.behind(name, group) ?? [])]) {
    routing.group = resolved.group;
    routing.fallback = resolved.name === name ? undefined : resolved.name;
    yield (resolved.group ?? generation.models)
      .routeTargets(resolved.name, surface, false)
      .filter(({ virtualKey }) => isAllowed(exchange, routedTarget(virtualKey, exchange, generation)));
  }
}

/** The first ranked route whose upstream model the body names already. */
function asWritten(request: GroupRequest): Destination {
  const { exchange, generation, group, name, written } = request;
  const { routing, surface } = exchange;
  const usable = [...group.routes.values()].filter((route) => isUsable(request, route));
  const same = usable.filter((route) => route.upstreamModel(name) === written);
  if (usable.length > 0 && same.length === 0) throw otherName();
  routing.group = group;
  const keys = new Set(same.map(({ routeKey }) => routeKey));
  const marked = group.routeTargets(name, surface, false).filter(({ virtualKey }) => keys.has(virtualKey));
  const found = firstServing(generation.hooks.route.call(marked, exchange), exchange, generation);
  if (found) return found;
  throw exchange.routing.refusal?.() ?? noneForwards(request, same);
}

const isAllowed = ({ limits = {} }: LiveExchange, target: Target | undefined): boolean =>
  target !== undefined && mayServe(limits, target.virtualKey);

/** Whether a route serves the name for the caller, be it on another surface. */
const isUsable = ({ exchange, name }: GroupRequest, route: Target): boolean =>
  route.provider !== undefined && isAllowed(exchange, route) && mayCall(route.instance, route.upstreamModel(name));

const otherName = (): GatewayError =>
  new GatewayError('proxy_not_supported', 'the model is served under another name there');

/** Why nothing is sent on, though routes may serve the name otherwise. */
function noneForwards(request: GroupRequest, routes: readonly Target[]): GatewayError {
  const target = routes.find((route) => isUsable(request, route));
  if (!target?.provider) return modelNotFound(request.name, request.generation.services.redactor);
  return notForwarded(target.provider.module.name);
}
