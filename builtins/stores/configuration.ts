import type { Host } from '../../host/host.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import type { StoreSettings } from '../../host/environment/store-settings.ts';
import { cannotOpen } from './cannot-open.ts';
import { CONFIG_SCHEMA } from './config-schema.ts';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';
import { isExposed, openPostgres } from './postgres.ts';
import { SharedConfiguration } from './shared-config.ts';
import { SqlConfiguration } from './sql-config.ts';
import { openSqlite } from './sqlite.ts';

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
        throw cannotOpen(host, configurationStore, { what: 'the configuration store', kept: 'the configuration' }, error);
      }
    });
    hooks.close.tapPromise('configuration-store', async () => close?.());
  },
});

async function open(host: Host, { backend, dsn, prefix }: StoreSettings): Promise<() => Promise<void>> {
  const { log, services: { clock } } = host;
  if (backend === 'postgres' && isExposed(dsn ?? '')) log.warn(`${prefix}_DSN reaches a public address without TLS; add sslmode=require, or use a private network`);
  const database = await (backend === 'postgres' ? openPostgres(dsn ?? '') : openSqlite(dsn ?? 'gw-config.db', host.workingDirectory));
  try {
    await migrate(database, CONFIG_SCHEMA, log, clock.now);
  } catch (error) {
    await database.close();
    throw error;
  }
  return supply(host, database);
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
