import { catalogBuiltin } from '../../builtins/catalog/catalog.ts';
import { type LoadedCatalog, loadShipped } from '../../builtins/catalog/load.ts';
import type { Chains } from '../../builtins/catalog/lookup.ts';
import { BUILTINS } from '../../builtins/manifest.ts';
import type { BuiltinModule } from '../../host/builtin.ts';

/** By the prefixes that providers name: a test may bring a provider that names some. */
const shared = new Map<string, Promise<LoadedCatalog>>();

const catalog = catalogBuiltin((overlay, chains) => {
  if (overlay !== undefined) return loadShipped(overlay, chains);
  const key = JSON.stringify([...chains]);
  const known = shared.get(key) ?? loadFrozen(chains);
  shared.set(key, known);
  return known;
});

/** A test that changes it would change it for all others: `services.catalog` can be replaced. */
async function loadFrozen(chains: Chains): Promise<LoadedCatalog> {
  const loaded = await loadShipped(undefined, chains);
  Object.freeze(loaded.catalog);
  return loaded;
}

/** The shipped builtins. The hosts of a test process share one shipped catalog: reading it is a third of what a host costs. */
export const TEST_BUILTINS: readonly BuiltinModule[] = BUILTINS.map((builtin) =>
  builtin.name === catalog.name ? catalog : builtin,
);
