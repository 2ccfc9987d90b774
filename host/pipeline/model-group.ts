import type { RouteTarget, Surface } from '../contract/index.ts';
import type { FailoverRules } from './attempts/retry.ts';
import type { Target } from './target.ts';

/** Limits of a group's models, in the place of the catalog's. */
export interface ModelContext {
  readonly max_input_tokens?: number;
  readonly max_output_tokens?: number;
}

/** An entry of `models`: a name that clients ask for, with the routes that serve it and a strategy of its own. */
export interface ModelGroup {
  /** As written: `smart`, `oss/*`. */
  readonly name: string;
  /** Its place in `models`, from 0. */
  readonly index: number;
  readonly matched: 'exact' | 'prefix';
  /** What a route calls, by its key: the target, with the upstream model and the weight of the route. In the order of the file. */
  readonly routes: ReadonlyMap<string, Target>;
  readonly strategy: FailoverRules;
  /** `mode` of its strategy. */
  readonly mode: string;
  /** Names as clients ask for them, tried in this order behind the routes. */
  readonly fallbacks: readonly string[];
  readonly isListed: boolean;
  readonly context: ModelContext | undefined;
  /** Every route, in order, by its key, marked with whether it serves the name on the surface; of a target that is named its routes alone. */
  routeTargets(name: string, surface: Surface, streaming: boolean, pinned?: string): readonly RouteTarget[];
}

/** A name after aliases, and the group that serves it. */
export interface ResolvedName<G extends ModelGroup = ModelGroup> {
  readonly name: string;
  /** `undefined`: targets serve it by the rules outside groups. */
  readonly group: G | undefined;
}

/** The groups of one configuration. */
export interface ModelGroups {
  /** In the order of the file. */
  readonly list: readonly ModelGroup[];
  /** The group that serves a name, after aliases: the exact one, else that with the longest prefix. */
  of(name: string): ModelGroup | undefined;
  /** What is tried behind the routes of a group that a name was found in: its fallbacks and theirs, depth first, each name once. */
  behind(name: string, group: ModelGroup): readonly ResolvedName[];
}
