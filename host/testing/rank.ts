import type {
  RankFigures,
  RouteQuery,
  RouteTarget,
  RunningStrategy,
  StrategyDeps,
  StrategyModule,
} from '../contract/index.ts';
import { settingsProblems } from '../config/module-settings.ts';
import { createRunning } from '../generation/create-strategy.ts';
import { deepFrozen } from '../common/deep-frozen.ts';
import { madeUpStrategyDeps } from './made-up.ts';

/** A target by its name, or with more. */
type TargetFacts = string | (Partial<RouteTarget> & { readonly virtualKey: string });

export interface RankOptions {
  readonly settings?: object;
  readonly deps?: Partial<StrategyDeps>;
}

export interface Ranked {
  /** Names in the order they would be tried. */
  readonly order: readonly string[];
  readonly variant: string | undefined;
  /** Why nothing is left. */
  readonly nothing: string | undefined;
  readonly notes: readonly {
    readonly virtualKey: string;
    readonly why: string;
    readonly figures: RankFigures | undefined;
  }[];
  /** The strategy, to ask it again with `rank`, or to tell it outcomes. */
  readonly strategy: RunningStrategy;
}

/** Asks a strategy once. Throws for settings that it refuses, what its `check` says, and what is not a ranking of these targets. */
export function rank<S extends object>(
  module: StrategyModule<S>,
  targets: readonly TargetFacts[],
  query: Partial<RouteQuery> = {},
  { settings = {}, deps = {} }: RankOptions = {},
): Ranked {
  const list = targets.map((target): RouteTarget =>
    deepFrozen({ weight: 0, serves: true, ...(typeof target === 'string' ? { virtualKey: target } : target) }),
  );
  const checked = settingsProblems(module.settings, settings, 'strategy.settings');
  const problems = checked.problems.length > 0 ? checked.problems : (module.check?.(checked.settings as S, list) ?? []);
  if (problems.length > 0) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('; '));
  const strategy = createRunning(module, checked.settings, madeUpStrategyDeps(deps), {
    file: undefined,
    place: 'strategy',
  });
  const notes: { virtualKey: string; why: string; figures: RankFigures | undefined }[] = [];
  let variant: string | undefined;
  let nothing: string | undefined;
  const ranked: unknown = strategy.rank(Object.freeze(list), madeUpQuery(query), {
    variant: (label) => {
      variant = label;
    },
    nothing: (why) => {
      nothing = why;
    },
    target: (virtualKey, why, figures) => {
      notes.push({ virtualKey, why, figures });
    },
  });
  if (!Array.isArray(ranked)) throw new Error('the ranking is not a list of targets');
  const foreign = ranked.findIndex(
    (target, index) => !list.includes(target as RouteTarget) || ranked.indexOf(target) !== index,
  );
  if (foreign >= 0)
    throw new Error(`the ranking holds at ${foreign} something that is not one of the targets, or is there twice`);
  return { order: (ranked as RouteTarget[]).map(({ virtualKey }) => virtualKey), variant, nothing, notes, strategy };
}

/** What a strategy may look at of a request that says nothing but its model. */
export function madeUpQuery(query: Partial<RouteQuery> = {}): RouteQuery {
  return {
    isListing: false,
    surface: 'chat',
    model: 'm',
    upstreamModel: () => query.model ?? 'm',
    userTexts: () => [],
    promptCharacters: () => 0,
    maxTokens: undefined,
    images: 1,
    metadata: {},
    user: undefined,
    principal: undefined,
    streaming: false,
    ...query,
  };
}
