import type { BoundGroup } from './bound-group.ts';
import type { Generation } from '../generation.ts';
import type { ModelIndex } from '../model-index.ts';

/** The names that a group with a star stands for, as far as its targets tell of models; some more than once. */
export function* namesOffered(group: BoundGroup, models: Pick<ModelIndex, 'advertised'>): Generator<string> {
  const prefix = group.name.slice(0, -1);
  for (const [key, route] of group.routes) {
    const model = group.writtenModel(key) ?? group.name;
    if (!model.endsWith('*')) continue;
    const head = model.slice(0, -1);
    for (const id of models.advertised(route.virtualKey))
      if (id.length > head.length && id.startsWith(head)) yield prefix + id.slice(head.length);
  }
}

type Names = Pick<Generation, 'models' | 'groups'>;

/** Whether a name that a group serves is one of those that can be listed: its own, or one that stands for a model that a target tells of. */
export function isOffered(name: string, group: BoundGroup, { models }: Names): boolean {
  if (group.matched === 'exact' || models.isKnown(name)) return true;
  return group.routes.entries().some(([key, route]) => {
    const model = group.writtenModel(key);
    if (model === undefined) return models.advertises(route.virtualKey, name);
    return model.endsWith('*') && models.advertises(route.virtualKey, route.upstreamModel(name));
  });
}

/** Whether a name that was asked for, after aliases, may be the value of a label: others are invented by clients, as many as they like. */
export function isLabel(name: string, { models, groups }: Names): boolean {
  const group = groups?.of(name);
  return group ? isOffered(name, group, { models, groups }) : models.isKnown(name);
}
