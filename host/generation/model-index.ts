import { type ProviderModule, type RouteTarget, type Surface, SURFACES } from '../contract/index.ts';
import type { RoutedModels } from '../pipeline/running-generation.ts';
import { takesAnyModel, type Target } from '../pipeline/target.ts';
import { mayCall, type ProviderInstance } from '../upstream/instance.ts';

/** Where model ids that no operator wrote come from. */
export type ModelSource = 'catalog' | 'discovered';

/** Collects the model ids of one provider while an index is built. */
export interface ModelCollector {
  readonly provider: string;
  /** The entry of `providers` under that name; `undefined` where the environment registers it. */
  readonly instance: ProviderInstance | undefined;
  /** Name that asks the catalog for its models. */
  readonly catalogProvider: string;
  /** The module whose models the catalog is asked for; `undefined` where there is none of that name. */
  readonly module: ProviderModule | undefined;
  add(source: ModelSource, models: Iterable<string>): void;
}

/** What is known of one provider's models, by who said so. */
export interface KnownModels {
  /** `targets[].models` and the keys of `model_map`. */
  readonly declared: readonly string[];
  /** Lists in the provider's own variables. */
  readonly configured: readonly string[];
  readonly catalog: readonly string[];
  readonly discovered: readonly string[];
}

/** Which targets may serve a model. Immutable; lookups are O(1). See docs/reference/data-plane.md#which-targets-serve-a-model. */
export interface ModelIndex extends RoutedModels {
  /** Whether any target owns the model, whatever the surface. */
  isKnown(model: string): boolean;
  /** Every target, marked with whether it owns the model, whatever the surface. */
  owners(model: string): readonly RouteTarget[];
  /** Targets that may be asked for a model, although they are not known to have it: those that take any name that no target owns. */
  takers(model: string): readonly Target[];
  /** Models a target tells clients about, each once: what is live, else the catalog's, else the configured ones; then the declared. */
  advertised(virtualKey: string): readonly string[];
  /** Whether it tells them about this one. */
  advertises(virtualKey: string, model: string): boolean;
}

type RouteCache = Map<string, readonly RouteTarget[]>;

export function buildModelIndex(targets: readonly Target[], modelsOf: (target: Target) => KnownModels): ModelIndex {
  const { owners, advertised, withheld } = ownersOf(targets, modelsOf);
  const anyModel = targets.filter(takesAnyModel);
  const anyModelSet: ReadonlySet<Target> = new Set(anyModel);
  const cacheOf = createCaches();
  const setOf = setsOf(advertised);
  const mark = (serves: (target: Target) => boolean): readonly RouteTarget[] => marked(targets, serves);
  const route = (model: string, surface: Surface, streaming: boolean): readonly RouteTarget[] => {
    const candidates = owners.get(model) ?? (withheld.has(model) ? NO_TARGETS : anyModelSet);
    return mark(
      (target) => candidates.has(target) && implementsSurface(target, surface, streaming) && mayBeAsked(target, model),
    );
  };
  return {
    advertised: (virtualKey) => advertised.get(virtualKey) ?? [],
    advertises: (virtualKey, model) => setOf(virtualKey).has(model),
    isKnown: (model) => owners.has(model),
    takers: (model) =>
      owners.has(model) || withheld.has(model) ? [] : anyModel.filter((target) => mayBeAsked(target, model)),
    owners: (model) => mark((target) => owners.get(model)?.has(target) ?? false),
    routeTargets: (model, surface, streaming, pinned) => {
      if (pinned !== undefined)
        return mark(
          (target) =>
            target.virtualKey === pinned && implementsSurface(target, surface, streaming) && mayBeAsked(target, model),
        ).filter(({ virtualKey }) => virtualKey === pinned);
      if (!owners.has(model)) return route(model, surface, streaming);
      const cache = cacheOf(surface, streaming);
      const cached = cache.get(model);
      if (cached) return cached;
      const found = route(model, surface, streaming);
      cache.set(model, found);
      return found;
    },
  };
}

/** Whether a target has a credential for a model; one without an instance always has. */
export const mayBeAsked = (target: Target, model: string): boolean =>
  !target.instance || mayCall(target.instance, target.upstreamModel(model));

const NO_TARGETS: ReadonlySet<Target> = new Set();

interface Owners {
  readonly owners: ReadonlyMap<string, ReadonlySet<Target>>;
  readonly advertised: ReadonlyMap<string, readonly string[]>;
  /** What instances would own that are not registered: where a credential is missing, its prompts go to no other place. */
  readonly withheld: ReadonlySet<string>;
}

function ownersOf(targets: readonly Target[], modelsOf: (target: Target) => KnownModels): Owners {
  const owners = new Map<string, Set<Target>>();
  const advertised = new Map<string, readonly string[]>();
  const withheld = new Set<string>();
  for (const target of targets) {
    if (!target.provider) {
      if (target.instance) for (const model of allOf(modelsOf(target))) withheld.add(model);
      continue; // declared models stay inert until the provider registers
    }
    const models = modelsOf(target);
    const offered = advertisedOf(models);
    advertised.set(target.virtualKey, target.instance ? offered.filter((model) => mayBeAsked(target, model)) : offered);
    for (const model of allOf(models)) {
      if (!mayBeAsked(target, model)) {
        withheld.add(model);
        continue;
      }
      const known = owners.get(model);
      if (known) known.add(target);
      else owners.set(model, new Set([target]));
    }
  }
  return { owners, advertised, withheld };
}

/** Each is made when it is first asked for. */
function setsOf(lists: Owners['advertised']): (virtualKey: string) => ReadonlySet<string> {
  const sets = new Map<string, ReadonlySet<string>>();
  return (virtualKey) => {
    const known = sets.get(virtualKey);
    if (known) return known;
    const set = new Set(lists.get(virtualKey));
    sets.set(virtualKey, set);
    return set;
  };
}

/** Only owned models are cached, so that names clients invent take no memory. */
function createCaches(): (surface: Surface, streaming: boolean) => RouteCache {
  const caches = { unary: new Map<Surface, RouteCache>(), stream: new Map<Surface, RouteCache>() };
  return (surface, streaming) => {
    const bySurface = streaming ? caches.stream : caches.unary;
    const known = bySurface.get(surface);
    if (known) return known;
    const cache: RouteCache = new Map();
    bySurface.set(surface, cache);
    return cache;
  };
}

function marked(targets: readonly Target[], serves: (target: Target) => boolean): readonly RouteTarget[] {
  return Object.freeze(
    targets.map((target) =>
      Object.freeze({
        virtualKey: target.virtualKey,
        weight: target.weight,
        serves: serves(target),
        ...(target.settings && { settings: target.settings }),
      }),
    ),
  );
}

/** Every id a provider is known to have. */
export function allOf({ declared, configured, catalog, discovered }: KnownModels): Set<string> {
  return new Set([...declared, ...configured, ...catalog, ...discovered]);
}

/** What is live, else the catalog's, else the configured ones; then the declared. */
export function advertisedOf({ declared, configured, catalog, discovered }: KnownModels): readonly string[] {
  const live = [discovered, catalog].find((models) => models.length > 0) ?? configured;
  return [...new Set([...live, ...declared])];
}

/** Whether a target's provider can do the surface at all, whatever the model: translate it, or be sent it as it is. */
export function implementsSurface(target: Target, surface: Surface, streaming: boolean): boolean {
  const { translator, isForwarded } = SURFACES[surface];
  const module = target.provider?.module;
  if (module && isForwarded) return isForwardedTo(module, surface);
  if (!module || translator === undefined || !module.translators[translator]) return false;
  if (!streaming) return true;
  return translator === 'chat'
    ? module.translators.chat?.openStream !== undefined
    : (module.streams as readonly Surface[] | undefined)?.includes(surface) === true;
}

/** Bytes go on to a vendor of the clients' own API alone. */
function isForwardedTo({ wire, responses, passthrough }: ProviderModule, surface: Surface): boolean {
  if (wire !== 'common') return false;
  return surface === 'responses' ? responses === true || responses === 'native' : passthrough === true;
}
