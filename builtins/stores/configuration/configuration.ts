import { defineBuiltin } from '../../../host/builtin.ts';
import { databaseLimitMs } from '../../../host/stores/closing.ts';
import { cannotOpen } from '../database/cannot-open.ts';

/** The configuration and its history on SQLite or Postgres. Nothing of either is loaded while they are in memory. */
export default defineBuiltin({
  name: 'configuration-store',
  apply: ({ hooks }) => {
    let close: (() => Promise<void>) | undefined;
    hooks.open.tapPromise('configuration-store', async (host) => {
      const { configurationStore } = host.settings;
      if (configurationStore.backend === 'memory') return;
      try {
        const { openConfiguration } = await import('./open-configuration.ts');
        close = await openConfiguration(host, configurationStore);
      } catch (error) {
        throw cannotOpen(
          configurationStore,
          { what: 'the configuration store', without: 'to keep the configuration in memory' },
          error,
        );
      }
    });
    hooks.close.tapPromise({ name: 'configuration-store', limitMs: databaseLimitMs }, async () => close?.());
  },
});
