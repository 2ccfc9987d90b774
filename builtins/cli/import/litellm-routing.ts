import { memberOf } from '../../../host/contract/json/members.ts';
import type { Draft, FallbackStyle } from './draft.ts';
import { durationText } from './order.ts';
import type { Entry } from './reading.ts';

/** Strategies of the router, and what comes nearest here. Source: docs.litellm.ai, "Proxy - Load Balancing", 2026-10-14. */
const STRATEGIES: Readonly<Record<string, readonly [mode: string, difference?: string]>> = {
  'simple-shuffle': ['loadbalance'],
  'latency-based-routing': ['least-latency'],
  'cost-based-routing': ['cost-optimized'],
  'least-busy': ['loadbalance', 'gw draws by weight, not by calls in flight'],
  'usage-based-routing': ['loadbalance', 'gw draws by weight, not by what was used'],
  'usage-based-routing-v2': ['loadbalance', 'gw draws by weight, not by what was used'],
};

/** What the router does between deployments: aliases, strategy, weights, fallbacks, retries, timeouts, cooldowns. */
export function readLitellmRouting(root: Entry, draft: Draft): void {
  const [router, settings] = [root.at('router_settings'), root.at('litellm_settings')];
  for (const [name, entry] of router.at('model_group_alias').members) readAlias(name, entry, draft);
  const style = readStrategy(router, draft);
  readWeights(root, style === 'weighted', draft);
  for (const from of [router, settings]) readFallbacks(from, draft);
  draft.placeFallbacks(style);
  if (style === 'ordered') draft.strategy['mode'] = draft.targets.size > 1 ? 'fallback' : 'single';
  for (const from of [router, settings]) readReliability(from, draft);
}

function readAlias(name: string, entry: Entry, draft: Draft): void {
  const model = entry.text === undefined ? entry.at('model') : entry;
  if (model.text === undefined) return entry.leave('it names no model');
  draft.alias(name, model.text, model);
  if (entry.at('hidden').value === true) entry.at('hidden').carry();
  else entry.at('hidden').leave('gw lists no aliases');
}

function readStrategy(router: Entry, draft: Draft): FallbackStyle {
  const entry = router.at('routing_strategy');
  const [mode, difference] = memberOf(STRATEGIES, entry.text ?? 'simple-shuffle') ?? [];
  if (mode === undefined || !draft.isShared) {
    entry.leave(
      mode === undefined
        ? 'gw has no strategy like it'
        : 'no model has deployments at several providers, between which gw could choose',
    );
    return 'ordered';
  }
  draft.strategy['mode'] = mode;
  entry.carry(difference);
  return mode === 'loadbalance' ? 'weighted' : 'none';
}

/** Weights stand at deployments, and count within one model; here they stand at targets, and count for every model. */
function readWeights(root: Entry, isBalanced: boolean, draft: Draft): void {
  for (const item of root.at('model_list').items) {
    const params = item.at('litellm_params');
    const weight = params.at('weight');
    if (!weight.isThere) continue;
    const provider = draft.providerAt(params.at('model'));
    if (provider === undefined || weight.number === undefined || weight.number < 0)
      weight.leave('its deployment is not carried, or it is not a number of 0 or more');
    else
      draft.set(
        provider,
        'weight',
        weight.number,
        weight,
        isBalanced ? undefined : 'no strategy reads it: set strategy.mode to loadbalance to use it',
      );
  }
  if (!isBalanced) return;
  for (const { settings } of draft.targets.values()) if (!settings.has('weight')) settings.set('weight', 1);
}

/** Lists of maps from a model to those that follow it. Source: docs.litellm.ai, "Fallbacks (Provider Failover)", 2026-10-03. */
function readFallbacks(from: Entry, draft: Draft): void {
  const reasons = [
    ['fallbacks', undefined],
    ['context_window_fallbacks', 'context_length'],
    ['content_policy_fallbacks', 'content_policy'],
  ] as const;
  for (const [member, reason] of reasons) {
    const lists = from.at(member).items.flatMap((map) => map.members);
    for (const [model, followers] of lists)
      for (const entry of followers.items) readFallback(model === '*' ? allModels(draft) : [model], entry, draft);
    if (reason !== undefined && lists.length > 0) draft.advanceOn(reason);
  }
  for (const entry of from.at('default_fallbacks').items) readFallback(allModels(draft), entry, draft);
}

const allModels = (draft: Draft): string[] => [
  ...new Set([...draft.targets.values()].flatMap(({ routes }) => [...routes.keys()])),
];

function readFallback(models: readonly string[], entry: Entry, draft: Draft): void {
  const follower = entry.text;
  if (follower === undefined) return entry.leave('only the name of a model can follow');
  const servers = draft.servers(follower);
  if (servers.length === 0) return entry.leave(`no target serves "${follower}"`);
  for (const model of models) {
    if (model === follower) continue;
    for (const provider of servers)
      draft.fallback({ model, provider, upstream: draft.target(provider).routes.get(follower) ?? follower, entry });
  }
}

function readReliability(from: Entry, draft: Draft): void {
  const retries = from.at('num_retries');
  if (Number.isInteger(retries.number)) draft.setAll('retry', { attempts: (retries.number ?? 0) + 1 }, retries);
  const timeout = from.at('timeout', 'request_timeout');
  const duration = durationText((timeout.number ?? 0) * 1000);
  if (duration !== undefined) draft.setAll('request_timeout', duration, timeout);
  const [fails, cooldown] = [from.at('allowed_fails'), from.at('cooldown_time')];
  const threshold = Number.isInteger(fails.number) ? (fails.number ?? 0) + 1 : undefined;
  const pause = durationText((cooldown.number ?? 0) * 1000);
  if (threshold === undefined && pause === undefined) return;
  const breaker = {
    ...(threshold !== undefined && { failure_threshold: threshold }),
    ...(pause !== undefined && { timeout: pause }),
  };
  if (threshold !== undefined)
    draft.setAll('circuit_breaker', breaker, fails, 'gw counts failures in a row, not within a minute');
  if (pause !== undefined) draft.setAll('circuit_breaker', breaker, cooldown);
}
