import type { Model } from '../../api/wire.ts';

export type Use = 'chat' | 'embedding' | 'image';

export interface ModelGroup {
  readonly owner: string;
  readonly ids: readonly string[];
}

/**
 * Models to choose from for one use, by the target that serves them. What the catalog does not know may do anything, so it
 * is offered for every use; what is on its way out is not offered.
 */
export function modelGroups(models: readonly Model[], use: Use): ModelGroup[] {
  const seen = new Set<string>();
  const offered = models.filter(({ id, mode, deprecated, status }) => {
    const isOffered =
      !seen.has(id) && deprecated !== true && status !== 'deprecated' && (mode === undefined || mode === use);
    if (isOffered) seen.add(id);
    return isOffered;
  });
  return [...Map.groupBy(offered, ({ owned_by }) => owned_by)].map(([owner, own]) => ({
    owner,
    ids: own.map(({ id }) => id),
  }));
}

/** The model to begin with: the one that was asked for, else the first that is offered. */
export function chosenModel(groups: readonly ModelGroup[], asked: string | null): string {
  return asked || (groups[0]?.ids[0] ?? '');
}
