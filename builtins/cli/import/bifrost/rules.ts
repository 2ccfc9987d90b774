import type { Plan } from '../plan/plan.ts';
import type { PlannedName } from '../plan/planned.ts';
import type { Entry } from '../reading.ts';
import type { ServingKey } from './keys.ts';

/** `model == "gpt-4o"`: the one condition that a name alone can say. */
const ONE_MODEL = /^\s*model\s*==\s*(?:"([^"]+)"|'([^']+)')\s*$/;

/** Rules for one model by its name are groups; others are reported. Source: docs.getbifrost.ai, "Routing Rules", 2026-11-22. */
export function readRules(root: Entry, serving: ReadonlyMap<string, readonly ServingKey[]>, plan: Plan): void {
  for (const rule of root.at('governance').at('routing_rules').items) readRule(rule, serving, plan);
}

function readRule(rule: Entry, serving: ReadonlyMap<string, readonly ServingKey[]>, plan: Plan): void {
  const expression = rule.at('cel_expression');
  const [, double, single] = ONE_MODEL.exec(expression.text ?? '') ?? [];
  const model = double ?? single;
  const [target, ...more] = rule.at('targets').items;
  const keys = serving.get(target?.at('provider').text ?? '');
  const isOn = rule.at('enabled').value !== false;
  if (
    model === undefined ||
    /[*?]/.test(model) ||
    model !== model.trim() ||
    !target ||
    !keys ||
    more.length > 0 ||
    !isOn
  )
    return rule.leave('gw has rules for one model by its name, with one target');
  const name = plan.name(model);
  name.routes = [];
  addTier(
    name,
    {
      keys,
      entry: target.at('model').isThere ? target.at('model') : expression,
      model: target.at('model').text ?? model,
      tier: 0,
    },
    plan,
  );
  for (const entry of [expression, target.at('provider'), target.at('model')]) entry.carry();
  for (const [at, entry] of rule.at('fallbacks').items.entries()) {
    const [provider = '', ...rest] = (entry.text ?? '').split('/');
    const followers = serving.get(provider);
    if (!followers) entry.leave('it names no provider that was carried');
    else {
      addTier(name, { keys: followers, entry, model: rest.length > 0 ? rest.join('/') : model, tier: at + 1 }, plan);
      entry.carry();
    }
  }
}

interface Tier {
  readonly keys: readonly ServingKey[];
  readonly entry: Entry;
  readonly model: string;
  readonly tier: number;
}

function addTier(name: PlannedName, { keys, entry, model, tier }: Tier, plan: Plan): void {
  for (const { instance, credential, renamed, weight } of keys)
    plan.route(name, { instance, credential, model: renamed.get(model)?.upstream ?? model, weight, tier, entry });
}
