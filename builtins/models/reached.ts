import type { Catalog } from '../../host/common/catalog.ts';
import type { KeyLimits } from '../../host/common/host-principal.ts';
import type { RouteQuery, RouteTarget, Surface } from '../../host/contract/index.ts';
import type { BoundGroup } from '../../host/generation/groups/bound-group.ts';
import type { BoundStrategy } from '../../host/generation/bind-strategy.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { implementsSurface } from '../../host/generation/model-index.ts';
import { listsProviders, mayServe } from '../../host/pipeline/key-access.ts';
import type { Target } from '../../host/pipeline/target.ts';
import { mayCall } from '../../host/upstream/instance.ts';

/** Where bare requests of a caller go: those that say nothing but a model. */
export interface Calling {
  readonly generation: Generation;
  readonly catalog: Catalog;
  readonly limits: KeyLimits;
}

/** The target that a bare request for a model outside groups would reach first in target order; `undefined` when none would. */
export function reachedOwner({ generation, catalog, limits }: Calling, model: string): Target | undefined {
  const { models, strategy, targets } = generation;
  const owners = models.owners(model);
  const marked = listsProviders(limits)
    ? owners.map((target) => (mayServe(limits, target.virtualKey) ? target : { ...target, serves: false }))
    : owners;
  return firstReached(
    { model, marked, strategy, targets },
    (first) => catalog.entry(first.catalogProvider, model)?.mode,
  );
}

/** A route, and the upstream model that a name stands for there. */
export interface ReachedRoute {
  readonly route: Target;
  readonly model: string;
}

/** The route that a bare request for a name of a group would reach first in the order of the file; where none serves, what its fallbacks name. */
export function reachedRoute(calling: Calling, name: string, group: BoundGroup): ReachedRoute | undefined {
  const own = ofGroup(calling, name, group);
  if (own) return { route: own, model: own.upstreamModel(name) };
  for (const behind of calling.generation.groups?.behind(name, group) ?? []) {
    const route = behind.group ? ofGroup(calling, behind.name, behind.group) : reachedOwner(calling, behind.name);
    if (route) return { route, model: route.upstreamModel(behind.name) };
  }
  return undefined;
}

function ofGroup({ catalog, limits }: Calling, name: string, group: BoundGroup): Target | undefined {
  const { routes } = group;
  const mayReach = (route: Target | undefined): boolean =>
    route?.provider !== undefined &&
    mayCall(route.instance, route.upstreamModel(name)) &&
    mayServe(limits, route.virtualKey);
  const marked = group
    .routeTargets(name, 'chat', false)
    .map((target) => ({ ...target, serves: mayReach(routes.get(target.virtualKey)) }));
  return firstReached(
    { model: name, marked, strategy: group.strategy, targets: routes },
    (first) => catalog.entry(first.catalogProvider, first.upstreamModel(name))?.mode,
  );
}

interface Ranked {
  readonly model: string;
  /** Marked with what may serve the caller, whatever the surface. */
  readonly marked: readonly RouteTarget[];
  readonly strategy: BoundStrategy;
  /** By the names that the strategy knows them by. */
  readonly targets: ReadonlyMap<string, Target>;
}

function firstReached(
  { model, marked, strategy, targets }: Ranked,
  modeOf: (first: Target) => string | undefined,
): Target | undefined {
  const candidates = marked.filter(({ serves }) => serves);
  const first = targets.get(candidates[0]?.virtualKey ?? '');
  if (!first) return undefined;
  const query = bareQuery(model, modeOf(first), (key) => targets.get(key)?.upstreamModel(model) ?? model);
  const ranked = strategy.ranker.list(marked, query);
  const reachable = new Set(
    (strategy.advances ? ranked : named(ranked, query.surface, targets)).map(({ virtualKey }) => virtualKey),
  );
  const found = candidates.find(({ virtualKey }) => reachable.has(virtualKey));
  return found && targets.get(found.virtualKey);
}

/** The target that takes the request under a strategy that names one: the first that can serve the surface, whatever the model. */
function named(
  ranked: readonly RouteTarget[],
  surface: Surface,
  targets: ReadonlyMap<string, Target>,
): readonly RouteTarget[] {
  const able = ranked.find(({ virtualKey }) => {
    const target = targets.get(virtualKey);
    return target !== undefined && implementsSurface(target, surface, false);
  });
  return able ? [able] : ranked.slice(0, 1);
}

const SURFACE_OF_MODE: ReadonlyMap<string | undefined, Surface> = new Map([
  ['embedding', 'embeddings'],
  ['image', 'images'],
  ['audio_in', 'audio.transcriptions'],
  ['audio_out', 'audio.speech'],
]);

function bareQuery(model: string, mode: string | undefined, upstreamModel: RouteQuery['upstreamModel']): RouteQuery {
  return {
    isListing: true,
    surface: SURFACE_OF_MODE.get(mode) ?? 'chat',
    model,
    upstreamModel,
    metadata: {},
    userTexts: () => [],
    promptCharacters: () => 0,
    maxTokens: undefined,
    images: 1,
    user: undefined,
    principal: undefined,
    streaming: false,
  };
}
