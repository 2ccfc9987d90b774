import { type BuiltinModule, defineBuiltin } from '../../host/builtin.ts';
import type { OfflineHost } from '../../host/generation/offline.ts';
import type { CatalogKeeper, LoadShipped } from './keeper.ts';

/** Facts and prices of models: what ships with this build, a newer copy when an address is configured, the operator's own entries. */
export const catalogBuiltin = (load?: LoadShipped): BuiltinModule =>
  defineBuiltin({
    name: 'catalog',
    apply: ({ hooks }) => {
      let keeper: CatalogKeeper | undefined;
      const keeperOf = async (host: OfflineHost): Promise<CatalogKeeper> => {
        const { CatalogKeeper } = await import('./keeper.ts'); // loaded late: commands that open nothing do not need it
        return (keeper = new CatalogKeeper(host, load));
      };
      hooks.open.tapPromise('catalog', async (host) => {
        const userAgent = `gw/${host.build.version}`;
        await (await keeperOf(host)).open({ userAgent, onNewCatalog: () => host.applier.refresh() });
      });
      hooks.mount.tap('catalog', (_router, host) => keeper?.listen(host.stores.hints.value)); // by now all stores are open
      hooks.openOffline.tapPromise('catalog', async (host) => (await keeperOf(host)).openOffline());
      hooks.examine.tapPromise('catalog', async ({ host, add }) => {
        const { examineCatalog } = await import('./examine.ts');
        add('Model Catalog', await examineCatalog(host));
      });
      hooks.close.tapPromise('catalog', async () => keeper?.close());
      hooks.models.tap('catalog', (collector) => {
        const { catalogProvider, module } = collector;
        if (keeper && module?.catalogModels !== false)
          collector.add('catalog', keeper.catalog.modelsOf(catalogProvider));
      });
    },
  });

export default catalogBuiltin();
