import { MODULES } from '../../builtins/manifest.ts';
import type {
  Rank,
  RankNotes,
  RouteQuery,
  RouteTarget,
  StrategyDeps,
  StrategyModule,
  StrategyProblem,
  TokenPrice,
} from '../../host/contract/index.ts';
import { settingsProblems, strategySettings } from '../../host/config/module-settings.ts';

export { seeded } from '../kit/random.ts';

/** The shipped strategy of a mode. */
export function strategy(name: string): StrategyModule {
  const found = MODULES.find((module) => module.kind === 'strategy' && module.name === name);
  if (!found) throw new Error(`${name} is not shipped`);
  return found as StrategyModule;
}

/** Its ranking, with the settings that a `strategy` block gives it. */
export function rankOf(mode: string, block: object = {}, deps: Partial<StrategyDeps> = {}): Rank {
  const module = strategy(mode);
  const { settings, problems } = settingsProblems(
    module.settings,
    strategySettings(module, { mode, ...block }).value,
    'strategy',
  );
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join('; '));
  return ranking(module, settings, { medianMs: () => undefined, price: () => undefined, random: () => 0, ...deps });
}

const quiet = (): void => {};

/** What a strategy makes of settings, with nothing around it but what is given. */
export function ranking(
  module: StrategyModule,
  settings: object,
  deps: Pick<StrategyDeps, 'medianMs' | 'price' | 'random'>,
): Rank {
  const made = module.create(settings, {
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    now: () => 0,
    carryover: { lease: (_key, create) => create() },
    ...deps,
  });
  return typeof made === 'function' ? made : made.rank.bind(made);
}

/** What its own rules say of a block and the targets' weights. */
export function problemsOf(
  mode: string,
  block: object,
  weights: Readonly<Record<string, number>> = { a: 1, b: 1 },
): readonly StrategyProblem[] {
  const module = strategy(mode);
  const { settings } = settingsProblems(
    module.settings,
    strategySettings(module, { mode, ...block }).value,
    'strategy',
  );
  return (
    module.check?.(
      settings,
      Object.entries(weights).map(([virtualKey, weight]) => ({ virtualKey, weight })),
    ) ?? []
  );
}

/** Targets by name, `!a` for one that does not serve the model, `a=3` for a weight. */
export function targets(...written: readonly string[]): readonly RouteTarget[] {
  return written.map((text) => {
    const [name = '', weight = '0'] = text.split('=');
    return { virtualKey: name.replace('!', ''), weight: Number(weight), serves: !name.startsWith('!') };
  });
}

/** A chat request for model `m`. */
export function query(more: Partial<RouteQuery> = {}): RouteQuery {
  return {
    isListing: false,
    surface: 'chat',
    model: 'm',
    upstreamModel: () => more.model ?? 'm',
    userTexts: () => [],
    promptCharacters: () => 0,
    maxTokens: undefined,
    images: 1,
    metadata: {},
    user: undefined,
    principal: undefined,
    streaming: false,
    ...more,
  };
}

/** Names in the order of a ranking. */
export function order(
  rank: Rank,
  list: readonly RouteTarget[],
  asked: RouteQuery = query(),
  notes?: RankNotes,
): string {
  return rank(list, asked, notes)
    .map(({ virtualKey }) => virtualKey)
    .join(' ');
}

/** Draws these, one after the other, from the start again at the end. */
export function draws(...values: readonly number[]): () => number {
  let next = 0;
  return () => {
    const value = values[next % values.length] ?? 0;
    next += 1;
    return value;
  };
}

/** Draws spread evenly over [0, 1): what they hit is a share to within one in `count`, without chance. */
export function evenDraws(count: number): () => number {
  return draws(...Array.from({ length: count }, (_none, at) => (at + 0.5) / count));
}

const NO_PRICE: TokenPrice = {
  input: undefined,
  output: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  embedding: undefined,
  image: undefined,
};

/** Prices by target, whatever the model. */
export function prices(table: Readonly<Record<string, Partial<TokenPrice>>>): StrategyDeps['price'] {
  return (target) => {
    const price = table[target];
    return price && { ...NO_PRICE, ...price };
  };
}

/** How often each answer came. */
export function tally(count: number, answer: () => string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let at = 0; at < count; at += 1) {
    const given = answer();
    counts[given] = (counts[given] ?? 0) + 1;
  }
  return counts;
}
