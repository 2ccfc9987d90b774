import { defineBuiltin } from '../../host/builtin.ts';
import { cannotOpen } from './cannot-open.ts';
import { openPostgresStores } from './open-postgres.ts';
import { openSqliteStores } from './open-sqlite.ts';

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
        close = await (keyStore.backend === 'sqlite' ? openSqliteStores(host, keyStore) : openPostgresStores(host, keyStore));
      } catch (error) {
        throw cannotOpen(host, keyStore, { what: 'the key store', without: 'to keep keys in memory' }, error);
      }
    });
    hooks.examine.tapPromise('stores', async ({ host, add }) => {
      const { examineStores } = await import('./examine.ts');
      add('Stores', await examineStores(host));
    });
    hooks.close.tapPromise('stores', async () => close?.());
  },
});
