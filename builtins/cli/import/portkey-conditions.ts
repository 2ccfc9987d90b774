import { isFields } from '../../../host/contract/json/fields.ts';
import type { Draft } from './draft.ts';
import type { Entry } from './reading.ts';

interface Rule {
  readonly key: 'metadata' | 'model';
  readonly field?: string;
  readonly value: string;
}

/** Rules of a conditional router. Source: portkey.ai/docs, "Conditional Routing", 2026-11-22. */
export function readPortkeyConditions(strategy: Entry, targets: readonly Entry[], draft: Draft): void {
  const providerOf = (name: string | undefined): string | undefined => {
    const target = targets.find((entry) => name !== undefined && entry.at('name').text === name);
    target?.at('name').carry();
    return target && draft.providerAt(target);
  };
  const conditions = strategy.at('conditions').items.flatMap((condition) => {
    const provider = providerOf(condition.at('then').text);
    const rules = rulesOf(condition.at('query'));
    if (provider === undefined || rules === undefined) {
      condition.leave(
        provider === undefined
          ? 'it leads to no target that was carried'
          : 'gw compares one value: a model, or an entry of the metadata, by $eq or $in',
      );
      return [];
    }
    condition.carry();
    return rules.map((rule) => ({ ...rule, target_key: provider }));
  });
  const fallback = strategy.at('default');
  const first = providerOf(fallback.text);
  if (first !== undefined) {
    for (const other of draft.targets.keys()) if (other !== first) draft.precedence.push({ first, then: other });
    fallback.carry();
  }
  if (conditions.length > 0) draft.strategy['conditions'] = conditions;
  else draft.strategy['mode'] = 'single';
}

/** `undefined` for what gw has no rule for. */
function rulesOf(query: Entry): Rule[] | undefined {
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
