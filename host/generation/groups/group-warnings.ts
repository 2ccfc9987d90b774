import type { ProviderWarning } from '../instances/instance-warnings.ts';
import type { ModelIndex } from '../model-index.ts';
import type { BoundGroup } from './bound-group.ts';
import type { GroupIndex } from './model-groups.ts';

/** Groups of models that serve nothing, and fallbacks that nothing serves (`WN21`). */
export function groupWarnings(
  groups: GroupIndex<BoundGroup>,
  models: Pick<ModelIndex, 'isKnown' | 'takers'>,
): readonly ProviderWarning[] {
  const isServed = (name: string): boolean =>
    groups.of(name) !== undefined || models.isKnown(name) || models.takers(name).length > 0;
  return groups.list.flatMap((group) => {
    const own = group.routes.values().some(({ provider }) => provider !== undefined) ? [] : [unserved(group)];
    const behind = group.fallbacks.flatMap((fallback, at) =>
      isServed(groups.afterAlias(fallback)) ? [] : [passedOver(group, fallback, at)],
    );
    return [...own, ...behind];
  });
}

function unserved({ name, index, routes }: BoundGroup): ProviderWarning {
  const targets = [...new Set(routes.values().map(({ virtualKey }) => virtualKey))].join(', ');
  return {
    path: `models[${index}]`,
    rule: 'WN21',
    message: `no target of the group "${name}" is registered: ${targets}`,
    fix: 'give one of them its credential',
    line: 'no target of a group of models is registered',
    attributes: { group: name, targets },
  };
}

function passedOver({ name, index }: BoundGroup, fallback: string, at: number): ProviderWarning {
  return {
    path: `models[${index}].fallbacks[${at}]`,
    rule: 'WN21',
    message: `nothing serves the fallback "${fallback}" of the group "${name}": it is passed over`,
    fix: 'write the name of a group, an alias, or a model that a target serves',
    line: 'a fallback of a group of models is served by nothing',
    attributes: { group: name, fallback },
  };
}
