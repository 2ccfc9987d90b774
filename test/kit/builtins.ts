import { catalogBuiltin } from '../../builtins/catalog/catalog.ts';
import { type LoadedCatalog, loadShipped } from '../../builtins/catalog/load.ts';
import { BUILTINS } from '../../builtins/manifest.ts';
import type { BuiltinModule } from '../../host/builtin.ts';

let shared: Promise<LoadedCatalog> | undefined;

const catalog = catalogBuiltin((overlay) => (overlay === undefined ? (shared ??= loadFrozen()) : loadShipped(overlay)));

/** A test that changes it would change it for all others: `services.catalog` can be replaced. */
async function loadFrozen(): Promise<LoadedCatalog> {
  const loaded = await loadShipped(undefined);
  Object.freeze(loaded.catalog);
  return loaded;
}

/** The shipped builtins. The hosts of a test process share one shipped catalog: reading it is a third of what a host costs. */
export const TEST_BUILTINS: readonly BuiltinModule[] = BUILTINS.map((builtin) =>
  builtin.name === catalog.name ? catalog : builtin,
);
