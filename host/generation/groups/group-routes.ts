import type { ModelGroupConfig, RouteConfig } from '../../config/document.ts';
import { routeKeys } from '../../config/route-keys.ts';
import { readSettings } from '../../config/module-settings.ts';
import type { RouteTarget, StrategyModule, Surface } from '../../contract/index.ts';
import type { Target } from '../../pipeline/target.ts';
import { mayCall } from '../../upstream/instance.ts';
import { implementsSurface } from '../model-index.ts';

/** The routes of one group: what each calls, and which serve where. */
export class GroupRoutes {
  /** By route key, in the order of the file. */
  readonly targets: ReadonlyMap<string, Target>;
  /** What stands before the star of the group's name; `undefined` for an exact one. */
  readonly #prefix: string | undefined;
  readonly #name: string;
  /** Upstream models as they are written, by route key; routes without one are not in it. */
  readonly models: ReadonlyMap<string, string>;
  readonly #marked = new Map<string, readonly RouteTarget[]>();
  /** Which routes serve depends on the name: credentials of a target have lists of models. */
  readonly #isByName: boolean;

  constructor(config: ModelGroupConfig, targets: ReadonlyMap<string, Target>, module: StrategyModule | undefined) {
    this.#name = config.name;
    this.#prefix = config.name.endsWith('*') ? config.name.slice(0, -1) : undefined;
    const keys = routeKeys(config);
    const routes = new Map<string, Target>();
    const models = new Map<string, string>();
    config.routes.forEach((route, at) => {
      const target = targets.get(route.target);
      const key = keys[at];
      if (!target || key === undefined) return; // checks refuse such a document
      routes.set(key, routeOf(target, key, route, this.#prefix, module));
      if (route.model !== undefined) models.set(key, route.model);
    });
    this.targets = routes;
    this.models = models;
    this.#isByName =
      this.#prefix !== undefined &&
      routes.values().some(({ instance }) => instance?.credentials.some(({ hasModels }) => hasModels) === true);
  }

  /** Every route, marked with whether it serves the name; of a target that is named its routes alone. */
  marked(name: string, surface: Surface, streaming: boolean, pinned?: string): readonly RouteTarget[] {
    if (pinned !== undefined)
      return this.#mark(name, surface, streaming).filter(
        ({ virtualKey }) => this.targets.get(virtualKey)?.virtualKey === pinned,
      );
    if (this.#isByName) return this.#mark(name, surface, streaming);
    const key = streaming ? `${surface} stream` : surface;
    const known = this.#marked.get(key);
    if (known) return known;
    const found = this.#mark(this.#prefix === undefined ? this.#name : name, surface, streaming);
    this.#marked.set(key, found);
    return found;
  }

  #mark(name: string, surface: Surface, streaming: boolean): readonly RouteTarget[] {
    const marked: RouteTarget[] = [];
    for (const [virtualKey, route] of this.targets) {
      const model = this.models.get(virtualKey);
      marked.push(
        Object.freeze({
          virtualKey,
          weight: route.weight,
          serves: implementsSurface(route, surface, streaming) && mayCall(route.instance, route.upstreamModel(name)),
          ...(route.settings && { settings: route.settings }),
          ...(model !== undefined && { model }),
        }),
      );
    }
    return Object.freeze(marked);
  }
}

/** A target as one route uses it. */
function routeOf(
  target: Target,
  routeKey: string,
  { model, weight = 0, settings }: RouteConfig,
  prefix: string | undefined,
  module: StrategyModule | undefined,
): Target {
  return {
    ...target,
    routeKey,
    weight,
    settings: module?.targetSettings && readSettings<Record<string, unknown>>(module.targetSettings, settings),
    ...(model !== undefined && { upstreamModel: upstreamModelOf(model, prefix) }),
  };
}

/** With a star, what stood for the star of the group's name is put there. */
function upstreamModelOf(model: string, prefix: string | undefined): Target['upstreamModel'] {
  if (prefix === undefined || !model.endsWith('*')) return () => model;
  const head = model.slice(0, -1);
  return (name) => head + name.slice(prefix.length);
}
