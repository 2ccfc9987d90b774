import type { StoreSettings } from '../../../host/environment/store-settings.ts';
import type { Host } from '../../../host/host.ts';
import { CONFIG_SCHEMA } from './config-schema.ts';
import { type Migrated, openMigrated } from '../database/open-migrated.ts';
import { SharedConfiguration } from './shared-config.ts';
import { SqlConfiguration } from './sql-config.ts';
import { SqlHints } from './sql-hints.ts';
import { SqlLiveModels } from './sql-live-models.ts';

/** Supplies the configuration and its history from a database, and closes both. */
export async function openConfiguration(host: Host, settings: StoreSettings): Promise<() => Promise<void>> {
  const what = 'the configuration store';
  return supply(host, await openMigrated(host, settings, { file: 'gw-config.db', what, schema: CONFIG_SCHEMA }));
}

/** What supplies it closes it. */
function supply(host: Host, { database, clock, site, close }: Migrated): () => Promise<void> {
  const deps = { clock, log: host.log };
  if (database.dialect.name === 'sqlite') {
    host.stores.configuration.supply('sqlite', new SqlConfiguration(database, deps));
    return close;
  }
  const shared = new SharedConfiguration(database, deps);
  host.stores.configuration.supply('postgres', shared);
  const hints = new SqlHints(database);
  host.stores.hints.supply('postgres', hints);
  const isLeader = (): boolean => host.stores.leaders.isLeader('config');
  host.stores.liveModels.supply('postgres', new SqlLiveModels(database, { ...deps, shared, isLeader }));
  site?.onConfiguration((announced) => {
    shared.heard();
    hints.hear(announced);
  });
  return async () => {
    await shared.close();
    await close();
  };
}
