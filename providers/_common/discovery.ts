import type { DiscoveredModel, Discovery } from 'gw/contract';
import { type Fields, isFields } from './fields.ts';

/** `GET {root}/models`, as a bare list or under `data`. See docs/reference/providers.md#live-models. */
export const listedModels: Discovery = {
  path: '/models',
  read: (body) => readModels(isFields(body) ? body['data'] : body),
};

interface ListedModel {
  readonly id: unknown;
  readonly created: unknown;
}

/** The models of a list: ids trimmed, each once; a model without an id is left out, and so is a time that is not a positive number. */
export function readModels(
  list: unknown,
  pick: (model: Fields) => ListedModel = ({ id, created }) => ({ id, created }),
): readonly DiscoveredModel[] {
  if (!Array.isArray(list)) throw new Error('the answer holds no list of models');
  const models = new Map<string, DiscoveredModel>();
  for (const { id, created } of list.filter(isFields).map(pick)) {
    const name = typeof id === 'string' ? id.trim() : '';
    const isTime = typeof created === 'number' && Number.isFinite(created) && created > 0;
    if (name !== '' && !models.has(name))
      models.set(name, { id: name, ...(isTime && { created: Math.floor(created) }) });
  }
  return [...models.values()];
}
