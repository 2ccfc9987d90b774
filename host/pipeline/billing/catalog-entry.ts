import type { Catalog, CatalogEntry } from '../../common/catalog.ts';
import type { ProviderModule } from '../../contract/index.ts';
import type { Target } from '../target.ts';

/** What the catalog says of a model of a target, by its own id or by the one that describes it. */
export function catalogEntryOf(
  { catalogProvider, provider }: Pick<Target, 'catalogProvider' | 'provider'>,
  model: string,
  catalog: Catalog,
): CatalogEntry | undefined {
  return catalog.entry(catalogProvider, model) ?? (provider && describedEntry(provider.module, model, catalog));
}

/** The entry of the model that the provider names as describing this one. */
export function describedEntry(module: ProviderModule, model: string, catalog: Catalog): CatalogEntry | undefined {
  const name = module.describedAs?.(model);
  if (name === undefined) return undefined;
  const slash = Math.max(name.indexOf('/'), 0);
  return catalog.entry(name.slice(0, slash), name.slice(name.indexOf('/') + 1));
}
