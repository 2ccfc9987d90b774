import type { Host } from '../../host/host.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import type { StoreSettings } from '../../host/environment/store-settings.ts';
import { cannotOpen } from './cannot-open.ts';
import { CONFIG_SCHEMA } from './config-schema.ts';
import type { Database } from './database.ts';
import { openMigrated } from './open-migrated.ts';
import { SharedConfiguration } from './shared-config.ts';
import { SqlConfiguration } from './sql-config.ts';

/** The configuration and its history on SQLite or Postgres. Nothing of either is loaded while they are in memory. */
export default defineBuiltin({
  name: 'configuration-store',
  apply: ({ hooks }) => {
    let close: (() => Promise<void>) | undefined;
    hooks.open.tapPromise('configuration-store', async (host) => {
      const { configurationStore } = host.settings;
      if (configurationStore.backend === 'memory') return;
      try {
        close = await open(host, configurationStore);
      } catch (error) {
        throw cannotOpen(host, configurationStore, { what: 'the configuration store', without: 'to keep the configuration in memory' }, error);
      }
    });
    hooks.close.tapPromise('configuration-store', async () => close?.());
  },
});

async function open(host: Host, settings: StoreSettings): Promise<() => Promise<void>> {
  return supply(host, await openMigrated(host, settings, { file: 'gw-config.db', schema: CONFIG_SCHEMA }));
}

/** What supplies it closes it. */
function supply(host: Host, database: Database): () => Promise<void> {
  const deps = { clock: host.services.clock, log: host.log };
  if (database.dialect.name === 'sqlite') {
    host.stores.configuration.supply('sqlite', new SqlConfiguration(database, deps));
    return () => database.close();
  }
  const shared = new SharedConfiguration(database, deps);
  host.stores.configuration.supply('postgres', shared);
  return async () => {
    await shared.close();
    await database.close();
  };
}
