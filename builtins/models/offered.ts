import type { Catalog, CatalogEntry } from '../../host/common/catalog.ts';
import type { Generation } from '../../host/generation/generation.ts';
import type { ModelEntry } from './listing.ts';

/** A model as clients of other wires may pick it: by its id, or by an alias of it. */
export interface OfferedModel {
  readonly id: string;
  /** That of the model behind an alias. */
  readonly entry: ModelEntry;
  readonly facts: CatalogEntry | undefined;
}

/** The listed models, then the aliases of listed models. See docs/reference/ingress.md#lists-of-models. */
export function offeredModels(
  listing: ReadonlyMap<string, ModelEntry>,
  { config: { aliases }, targets }: Pick<Generation, 'config' | 'targets'>,
  catalog: Catalog,
): readonly OfferedModel[] {
  const offered = (id: string, entry: ModelEntry): OfferedModel => ({
    id,
    entry,
    facts: catalog.entry(targets.get(entry.owned_by)?.catalogProvider ?? entry.owned_by, entry.id),
  });
  const behind = Object.entries(aliases).flatMap(([alias, model]) => {
    const entry = listing.get(model);
    return entry && !listing.has(alias) ? [offered(alias, entry)] : [];
  });
  return [...[...listing].map(([id, entry]) => offered(id, entry)), ...behind];
}
