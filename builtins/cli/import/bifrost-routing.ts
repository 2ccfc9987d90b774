import type { Draft } from './draft.ts';
import type { Entry } from './reading.ts';

/** `model == "gpt-4o"`: the one condition that gw can ask of every request by the way it is routed. */
const ONE_MODEL = /^\s*model\s*==\s*(?:"([^"]+)"|'([^']+)')\s*$/;

/**
 * Weights and fallbacks. Those between providers stand at virtual keys; where there are none, the weights of the keys count.
 * Source: docs.getbifrost.ai, "Governance" and "Routing", 2026-11-22.
 */
export function readBifrostRouting(root: Entry, called: ReadonlyMap<string, string>, draft: Draft): void {
  const governance = root.at('governance');
  for (const rule of governance.at('routing_rules').items) readRule(rule, called, draft);
  for (const key of governance.at('virtual_keys').items) readVirtualKey(key, called, draft);
  readKeyWeights(root, called, draft);
  const isWeighted =
    draft.targets.size > 1 && [...draft.targets.values()].some(({ settings }) => settings.has('weight'));
  draft.strategy['mode'] = isWeighted ? 'loadbalance' : draft.targets.size > 1 ? 'fallback' : 'single';
  if (isWeighted)
    for (const { settings } of draft.targets.values()) if (!settings.has('weight')) settings.set('weight', 1);
  draft.placeFallbacks(isWeighted ? 'weighted' : 'ordered');
}

function readVirtualKey(key: Entry, called: ReadonlyMap<string, string>, draft: Draft): void {
  for (const config of key.at('provider_configs').items) {
    const provider = called.get(config.at('provider').text ?? '');
    const weight = config.at('weight');
    if (provider === undefined || weight.number === undefined || weight.number < 0) continue;
    config.at('provider').carry();
    draft.set(provider, 'weight', weight.number, weight, 'it holds for every client, not for one key');
  }
}

/** The keys of one provider share its traffic there; gw has one key for each provider. */
function readKeyWeights(root: Entry, called: ReadonlyMap<string, string>, draft: Draft): void {
  for (const [name, provider] of called) {
    const weights = root
      .at('providers')
      .at(name)
      .at('keys')
      .items.map((key) => key.at('weight'))
      .filter(({ number }) => number !== undefined && number >= 0);
    const sum = weights.reduce((total, { number = 0 }) => total + number, 0);
    const isStated = draft.target(provider).settings.has('weight');
    if (!isStated && weights.length > 0) draft.target(provider).settings.set('weight', Math.round(sum * 1e6) / 1e6);
    for (const weight of weights) {
      if (isStated) weight.leave('a virtual key states the weight of the provider');
      else weight.carry(weights.length > 1 ? 'the weight of the target is the sum of those of its keys' : undefined);
    }
  }
}

/** Reads a rule that asks for one model by its name, with one target; any other is reported. */
function readRule(rule: Entry, called: ReadonlyMap<string, string>, draft: Draft): void {
  const expression = rule.at('cel_expression');
  const [, double, single] = ONE_MODEL.exec(expression.text ?? '') ?? [];
  const model = double ?? single;
  const [target, ...more] = rule.at('targets').items;
  const provider = called.get(target?.at('provider').text ?? '');
  if (
    model === undefined ||
    !target ||
    provider === undefined ||
    more.length > 0 ||
    rule.at('enabled').value === false
  ) {
    return rule.leave('gw has rules for one model by its name, with one target');
  }
  if (!draft.route(provider, model, target.at('model').text ?? model))
    return rule.leave(`gw sends "${model}" to one model of each provider, and another one comes first`);
  for (const entry of [expression, target.at('provider'), target.at('model')]) entry.carry();
  for (const entry of rule.at('fallbacks').items) {
    const [name = '', ...rest] = (entry.text ?? '').split('/');
    const follower = called.get(name);
    if (follower === undefined) entry.leave('it names no provider that was carried');
    else draft.fallback({ model, provider: follower, upstream: rest.length > 0 ? rest.join('/') : model, entry });
  }
}
