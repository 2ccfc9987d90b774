import { defineBuiltin } from '../../host/builtin.ts';
import type { CatalogKeeper } from './keeper.ts';

/** Serve one deployment each, or what the operator declares: catalog ids would be advertised and not served. */
const NOT_LISTED: ReadonlySet<string> = new Set(['azure-openai']);

/** Facts and prices of models: what ships with this build, a newer copy when an address is configured, the operator's own entries. */
export default defineBuiltin({
  name: 'catalog',
  apply: ({ hooks }) => {
    let keeper: CatalogKeeper | undefined;
    hooks.open.tapPromise('catalog', async (host) => {
      const { CatalogKeeper } = await import('./keeper.ts'); // commands that open nothing do without it
      keeper = new CatalogKeeper(host);
      await keeper.open();
    });
    hooks.close.tapPromise('catalog', async () => keeper?.close());
    hooks.models.tap('catalog', (collector) => {
      if (keeper && !NOT_LISTED.has(collector.provider)) collector.add('catalog', keeper.catalog.modelsOf(collector.provider));
    });
  },
});
