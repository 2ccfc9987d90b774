import type { RouteTarget, Surface } from '../contract/index.ts';
import type { FailoverRules } from './attempts/retry.ts';
import type { Target } from './target.ts';

/** An entry of `models`: a name that clients ask for, with the routes that serve it and a strategy of its own. */
export interface ModelGroup {
  /** As written: `smart`, `oss/*`. */
  readonly name: string;
  readonly matched: 'exact' | 'prefix';
  /** What a route calls, by its key: the target, with the upstream model and the weight of the route. */
  readonly routes: ReadonlyMap<string, Target>;
  readonly strategy: FailoverRules;
  /** Names as clients ask for them, tried in this order behind the routes. */
  readonly fallbacks: readonly string[];
  readonly isListed: boolean;
  /** Every route, in order, by its key, marked with whether it serves on the surface. */
  routeTargets(surface: Surface, streaming: boolean, pinned?: string): readonly RouteTarget[];
}
