import { type RouteTarget, type Surface, SURFACES } from '../contract/index.ts';
import type { Target } from './generation.ts';

/** Collects the model ids of one provider while an index is built. */
export interface ModelCollector {
  readonly provider: string;
  add(models: Iterable<string>): void;
}

/** Which targets may serve a model. Immutable; lookups are O(1). Rules: data-plane reference 10.1. */
export interface ModelIndex {
  /** Every declared target, in order, marked with whether it serves the model on the surface. */
  routeTargets(model: string, surface: Surface, streaming: boolean): readonly RouteTarget[];
  /** Whether any target owns the model, whatever the surface. */
  isKnown(model: string): boolean;
  /** Models a target owns, in the order they became known. */
  modelsOf(virtualKey: string): readonly string[];
}

export function buildModelIndex(targets: readonly Target[], modelsOf: (target: Target) => Iterable<string>): ModelIndex {
  const owners = new Map<string, Set<Target>>();
  const owned = new Map<string, readonly string[]>();
  for (const target of targets) {
    if (!target.provider) continue; // declared models stay inert until the provider registers
    const models = [...modelsOf(target)];
    owned.set(target.virtualKey, models);
    for (const model of models) {
      const known = owners.get(model);
      if (known) known.add(target);
      else owners.set(model, new Set([target]));
    }
  }
  const anyModel = new Set(targets.filter((target) => target.provider?.module.anyModel));
  // Only owned models are cached, so that names clients invent take no memory.
  const cache = new Map<string, readonly RouteTarget[]>();
  const mark = (model: string, surface: Surface, streaming: boolean): readonly RouteTarget[] => {
    const candidates = owners.get(model) ?? anyModel;
    return targets.map((target) => Object.freeze({
      virtualKey: target.virtualKey,
      weight: target.weight,
      serves: candidates.has(target) && implementsSurface(target, surface, streaming),
    }));
  };
  return {
    isKnown: (model) => owners.has(model),
    modelsOf: (virtualKey) => owned.get(virtualKey) ?? [],
    routeTargets: (model, surface, streaming) => {
      if (!owners.has(model)) return mark(model, surface, streaming);
      const key = `${surface} ${streaming ? 'stream' : 'unary'} ${model}`;
      const cached = cache.get(key);
      if (cached) return cached;
      const marked = Object.freeze(mark(model, surface, streaming));
      cache.set(key, marked);
      return marked;
    },
  };
}

/** Whether a target's provider can do the surface at all, whatever the model. */
export function implementsSurface(target: Target, surface: Surface, streaming: boolean): boolean {
  const { translator } = SURFACES[surface];
  const translators = target.provider?.module.translators;
  if (!translators || translator === undefined || !translators[translator]) return false;
  return !streaming || translators.chat?.openStream !== undefined;
}
