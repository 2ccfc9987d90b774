import { isFields } from '../../../../host/contract/json/fields.ts';
import type { Plan } from '../plan/plan.ts';
import type { ConditionRule } from '../plan/planned.ts';
import type { Entry } from '../reading.ts';
import type { PlacedLeaf } from './leaf.ts';

export interface ReadCondition {
  readonly rule: ConditionRule;
  readonly leaf: PlacedLeaf;
}

interface Placing {
  readonly placed: ReadonlyMap<string, PlacedLeaf>;
  readonly plan: Plan;
}

/** Rules of a conditional router; what none of them takes goes to the first target. Source: portkey.ai/docs, "Conditional Routing", 2026-11-22. */
export function readPortkeyConditions(root: Entry, { placed, plan }: Placing): readonly ReadCondition[] {
  const strategy = root.at('strategy');
  const leafNamed = (name: string | undefined): PlacedLeaf | undefined => {
    const leaf = [...placed.values()].find(({ entry }) => name !== undefined && entry.at('name').text === name);
    leaf?.entry.at('name').carry();
    return leaf;
  };
  const conditions = strategy.at('conditions').items.flatMap((condition) => {
    const leaf = leafNamed(condition.at('then').text);
    const rules = rulesOf(condition.at('query'));
    if (leaf === undefined || rules === undefined) {
      condition.leave(
        leaf === undefined
          ? 'it leads to no target that was carried'
          : 'gw compares one value: a model, or an entry of the metadata, by $eq or $in',
      );
      return [];
    }
    condition.carry();
    return rules.map((rule) => ({ rule, leaf }));
  });
  const fallback = strategy.at('default');
  const first = leafNamed(fallback.text);
  if (first) {
    plan.putFirst(first);
    fallback.carry();
  }
  return conditions;
}

/** `undefined` for what gw has no rule for. */
function rulesOf(query: Entry): ConditionRule[] | undefined {
  const [member, ...more] = query.members;
  if (!member || more.length > 0) return undefined;
  const [name, { value }] = member;
  const field = /^metadata\.(.+)$/.exec(name)?.[1];
  if (field === undefined && name !== 'params.model') return undefined;
  const values =
    isFields(value) && Object.keys(value).length === 1
      ? value['$eq'] !== undefined
        ? [value['$eq']]
        : value['$in']
      : [value];
  if (!Array.isArray(values) || values.length === 0 || !values.every((one) => typeof one === 'string' && one !== ''))
    return undefined;
  return values.map((one: string) =>
    field === undefined ? { key: 'model', value: one } : { key: 'metadata', field, value: one },
  );
}
