import type { Catalog, CatalogEntry } from '../../common/catalog.ts';
import type { Target } from '../target.ts';

/** What the catalog says of a model of a target: by its own id, or by the one that describes it, by the word of the configuration or of the provider. */
export function catalogEntryOf(
  target: Pick<Target, 'catalogProvider' | 'provider' | 'describedAs'>,
  model: string,
  catalog: Catalog,
): CatalogEntry | undefined {
  return catalog.entry(target.catalogProvider, model) ?? describedEntry(target, model, catalog);
}

/** The entry of the model that is said to describe this one. */
export function describedEntry(
  { provider, describedAs }: Pick<Target, 'provider' | 'describedAs'>,
  model: string,
  catalog: Catalog,
): CatalogEntry | undefined {
  const name = describedAs(model) ?? provider?.module.describedAs?.(model);
  if (name === undefined) return undefined;
  const slash = Math.max(name.indexOf('/'), 0);
  return catalog.entry(name.slice(0, slash), name.slice(name.indexOf('/') + 1));
}
