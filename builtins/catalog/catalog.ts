import { defineBuiltin } from '../../host/builtin.ts';
import type { ProviderModule } from '../../host/contract/index.ts';
import type { Host } from '../../host/host.ts';
import type { CatalogKeeper } from './keeper.ts';

/** Facts and prices of models: what ships with this build, a newer copy when an address is configured, the operator's own entries. */
export default defineBuiltin({
  name: 'catalog',
  apply: ({ hooks }) => {
    let keeper: CatalogKeeper | undefined;
    let providers: ReadonlyMap<string, ProviderModule> = new Map();
    const keeperOf = async (host: Host): Promise<CatalogKeeper> => {
      const { CatalogKeeper } = await import('./keeper.ts'); // commands that open nothing do without it
      ({ providers } = host.registry);
      return (keeper = new CatalogKeeper(host));
    };
    hooks.open.tapPromise('catalog', async (host) => (await keeperOf(host)).open());
    hooks.openOffline.tapPromise('catalog', async (host) => (await keeperOf(host)).openOffline());
    hooks.close.tapPromise('catalog', async () => keeper?.close());
    hooks.models.tap('catalog', (collector) => {
      if (keeper && providers.get(collector.provider)?.catalogModels !== false) collector.add('catalog', keeper.catalog.modelsOf(collector.provider));
    });
  },
});
