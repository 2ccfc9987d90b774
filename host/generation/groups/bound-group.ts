import type { ModelGroupConfig } from '../../config/document.ts';
import type { RouteTarget, StrategyDeps, Surface } from '../../contract/index.ts';
import type { GenerationHooks } from '../../pipeline/hooks.ts';
import type { LiveExchange } from '../../pipeline/live-exchange.ts';
import type { ModelContext, ModelGroup } from '../../pipeline/model-group.ts';
import type { Target } from '../../pipeline/target.ts';
import { bindStrategy, type BoundStrategy, rankBy, type StrategySurroundings } from '../bind-strategy.ts';
import { GroupRoutes } from './group-routes.ts';

export interface GroupDeps extends StrategySurroundings {
  readonly targets: ReadonlyMap<string, Target>;
  readonly hooks: Pick<GenerationHooks, 'median'>;
  /** What strategies of groups work with; medians and prices are asked for by the key of a route. */
  readonly given: StrategyDeps;
}

/** A group of models of one generation. */
export class BoundGroup implements ModelGroup {
  readonly name: string;
  readonly index: number;
  readonly matched: 'exact' | 'prefix';
  readonly routes: ReadonlyMap<string, Target>;
  readonly strategy: BoundStrategy;
  readonly mode: string;
  readonly fallbacks: readonly string[];
  readonly isListed: boolean;
  readonly context: ModelContext | undefined;
  readonly #marked: GroupRoutes;
  /** The name whose routes are being ranked: of a group with a star it decides which upstream models they have. */
  #asked: string;

  constructor(config: ModelGroupConfig, index: number, deps: GroupDeps) {
    const { name, strategy, fallbacks = [], listed = true, context } = config;
    this.name = name;
    this.index = index;
    this.matched = name.endsWith('*') ? 'prefix' : 'exact';
    this.fallbacks = fallbacks;
    this.isListed = listed;
    this.context = context;
    this.#marked = new GroupRoutes(config, deps.targets, deps.registry.strategies.get(strategy.mode));
    this.routes = this.#marked.targets;
    this.#asked = name;
    this.mode = strategy.mode;
    this.strategy = bindStrategy(strategy, `models[${index}].strategy`, this.#strategyDeps(deps), deps);
  }

  /** The upstream model of a route as it is written; `undefined` where it names none. */
  writtenModel(routeKey: string): string | undefined {
    return this.#marked.models.get(routeKey);
  }

  routeTargets(name: string, surface: Surface, streaming: boolean, pinned?: string): readonly RouteTarget[] {
    return this.#marked.marked(name, surface, streaming, pinned);
  }

  /** Orders routes for a request. */
  rank(routes: readonly RouteTarget[], exchange: LiveExchange): readonly RouteTarget[] {
    this.#asked = exchange.routing.fallback ?? exchange.model;
    return rankBy(this.strategy.ranker, routes, exchange, this.routes);
  }

  /** Strategies of two groups keep nothing in common: a key of a route may stand for something else in each. */
  #strategyDeps({ given, hooks: { median } }: GroupDeps): StrategyDeps {
    const { carryover, price } = given;
    return {
      ...given,
      carryover: {
        lease: (key, create, dispose) => carryover.lease(`models ${JSON.stringify(this.name)} ${key}`, create, dispose),
      },
      medianMs: (routeKey) => {
        const route = this.routes.get(routeKey);
        return route && median.call(route.virtualKey, route.upstreamModel(this.#asked));
      },
      price: (routeKey, model) => {
        const route = this.routes.get(routeKey);
        return route && price(route.virtualKey, model);
      },
    };
  }
}
