import type { Host } from '../../host/host.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import { errorMessage } from '../../host/common/error-message.ts';
import type { StoreSettings } from '../../host/environment/store-settings.ts';
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
        throw cannotOpen(host, keyStore, error);
      }
    });
    hooks.close.tapPromise('stores', async () => close?.());
  },
});

/** Names the variables and the way out; of the DSN nothing, which may hold a password. */
function cannotOpen({ redactor }: Host, { backend, prefix, dsn }: StoreSettings, cause: unknown): Error {
  const variable = dsn === undefined ? `${prefix}_BACKEND=${backend}` : `${prefix}_DSN`;
  return new Error(`${variable}: the key store cannot be opened: ${redactor.redact(errorMessage(cause))}. Correct ${prefix}_DSN, or unset ${prefix}_BACKEND to keep keys in memory`, { cause });
}
