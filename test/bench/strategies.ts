/**
 * Cost of one routing decision with 30 targets, per shipped strategy: `node test/bench/strategies.ts`. The ranking alone
 * and with the host's check of it; prices and medians come from tables, as they do in a gateway.
 */
import { fileURLToPath } from 'node:url';
import { MODULES } from '../../builtins/manifest.ts';
import type { RouteQuery, RouteTarget, StrategyModule, TokenPrice } from '../../host/contract/index.ts';
import { ranking } from '../strategies/support.ts';
import { readSettings, strategySettings } from '../../host/config/module-settings.ts';
import { createTrace } from '../../host/boundary/module-log.ts';
import { Ranker } from '../../host/boundary/ranking.ts';

const TARGETS = 30;
const DECISIONS = 50_000;
const ROUNDS = 5;

export interface DecisionCost {
  readonly name: string;
  /** Microseconds of the best round. */
  readonly rankUs: number;
  /** With what the host does to the answer. */
  readonly routedUs: number;
}

const query: RouteQuery = {
  isListing: false,
  surface: 'chat',
  model: 'gpt-4o',
  maxTokens: undefined,
  images: 1,
  metadata: { team: 'research' },
  user: undefined,
  principal: undefined,
  streaming: false,
  upstreamModel: () => 'gpt-4o',
  userTexts: () => ['Please summarise the attached minutes in three sentences.'],
  promptCharacters: () => 58,
};

/** As many rules and variants as targets; of the rules the last one matches. */
const blockOf = (keys: readonly string[]): object => ({
  conditions: keys.map((target_key, at) => ({
    key: at % 2 === 0 ? 'model_prefix' : 'model',
    value: at === keys.length - 1 ? query.model : `model-${at}`,
    target_key,
  })),
  content_conditions: keys.map((target_key, at) =>
    at === keys.length - 1
      ? { type: 'prompt_regex', value: '(?i)summari[sz]e', target_key }
      : { type: 'prompt_contains', value: `word ${at}`, target_key },
  ),
  ab_variants: keys.map((target_key, at) => ({ target_key, weight: at % 4, label: `variant ${at}` })),
});

/** One strategy, ready to decide over so many targets. */
export interface Decision {
  readonly rank: () => readonly RouteTarget[];
  /** With what the host does to the answer. */
  readonly route: () => readonly RouteTarget[];
}

export const STRATEGIES = MODULES.filter((module): module is StrategyModule => module.kind === 'strategy');

export function decisionOver(module: StrategyModule, count: number): Decision {
  const keys = Array.from({ length: count }, (_none, at) => `target-${at}`);
  const targets: readonly RouteTarget[] = Object.freeze(
    keys.map((virtualKey, at) => Object.freeze({ virtualKey, weight: at % 4, serves: at % 7 !== 6 })),
  );
  const prices = new Map(
    keys.map((key, at): [string, TokenPrice] => [
      key,
      {
        input: (at * 7) % 11,
        output: (at * 5) % 13,
        cacheRead: undefined,
        cacheWrite: undefined,
        embedding: undefined,
        image: undefined,
      },
    ]),
  );
  const medians = new Map(
    keys.map((key, at): [string, number | undefined] => [key, at % 5 === 4 ? undefined : (at * 37) % 101]),
  );
  const settings = readSettings(
    module.settings,
    strategySettings(module, { mode: module.name, ...blockOf(keys) }).value,
  );
  const rank = ranking(module, settings, {
    medianMs: (key) => medians.get(key),
    price: (key) => prices.get(key),
    random: Math.random,
  });
  const ranker = new Ranker(rank, {
    module: { kind: 'strategy', name: module.name, file: undefined },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    trace: createTrace(),
  });
  return { rank: () => rank(targets, query), route: () => ranker.rank(targets, query, undefined, 'bench') };
}

/** Measures every shipped strategy. */
export function decisionCosts(decisions = DECISIONS): readonly DecisionCost[] {
  return STRATEGIES.map((module) => {
    const { rank, route } = decisionOver(module, TARGETS);
    return { name: module.name, rankUs: bestUs(rank, decisions), routedUs: bestUs(route, decisions) };
  });
}

function bestUs(decide: () => readonly RouteTarget[], decisions: number): number {
  let best = Infinity;
  let seen = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const startedAt = performance.now();
    for (let at = 0; at < decisions; at += 1) seen += decide().length;
    if (round > 0) best = Math.min(best, ((performance.now() - startedAt) * 1000) / decisions); // the first one warms up
  }
  if (seen < 0) throw new Error('unreachable: it keeps the results in use');
  return best;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const line = (cells: readonly string[]): string =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(16) : cell.padStart(12))).join('');
  console.log(
    [
      line(['strategy', 'rank µs', 'routed µs']),
      ...decisionCosts().map(({ name, rankUs, routedUs }) => line([name, rankUs.toFixed(2), routedUs.toFixed(2)])),
    ].join('\n'),
  );
}
