import { defineBuiltin } from '../../host/builtin.ts';
import type { StoreSettings } from '../../host/environment/store-settings.ts';
import type { Host } from '../../host/host.ts';
import { databaseLimitMs } from '../../host/stores/closing.ts';
import { cannotOpen } from './database/cannot-open.ts';

/** Closes what was opened. */
export type CloseStores = () => Promise<void>;

/** Keys, sessions and the audit trail on SQLite or Postgres. Nothing of either is loaded while they are in memory. */
export default defineBuiltin({
  name: 'stores',
  apply: ({ hooks }) => {
    let close: CloseStores | undefined;
    hooks.open.tapPromise('stores', async (host) => {
      const { keyStore } = host.settings;
      if (keyStore.backend === 'memory') return;
      try {
        close = await open(host, keyStore);
      } catch (error) {
        throw cannotOpen(keyStore, { what: 'the key store', without: 'to keep keys in memory' }, error);
      }
    });
    hooks.migrate.tapPromise('stores', async (run) => (await import('./migrate-stores.ts')).migrateStores(run));
    hooks.examine.tapPromise('stores', async ({ host, add }) => {
      const { examineConnections, examineStores } = await import('./database/examine.ts');
      add('Stores', await examineStores(host));
      const connections = await examineConnections(host);
      if (connections.length > 0) add('Database connections', connections);
    });
    hooks.gauges.tap('stores', (gauges, { stores }) => {
      const counts = stores.connections.counts;
      for (const state of counts ? (['used', 'idle', 'waiting'] as const) : [])
        gauges.set('gateway_store_connections', { state }, counts?.[state] ?? 0);
    });
    hooks.close.tapPromise({ name: 'stores', limitMs: databaseLimitMs }, async () => close?.());
  },
});

/** What a backend needs is loaded for it: most gateways use one of them, and a start without waits for neither. */
async function open(host: Host, settings: StoreSettings): Promise<CloseStores> {
  if (settings.backend === 'sqlite') return (await import('./open-sqlite.ts')).openSqliteStores(host, settings);
  return (await import('./open-postgres.ts')).openPostgresStores(host, settings);
}
