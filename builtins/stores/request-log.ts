import { defineBuiltin } from '../../host/builtin.ts';
import type { StoreSettings } from '../../host/environment/store-settings.ts';
import type { Host } from '../../host/host.ts';
import { RequestLogStore } from '../../host/stores/request-log-store.ts';
import { cannotOpen } from './cannot-open.ts';
import { LOG_SCHEMA } from './log-schema.ts';
import { openMigrated } from './open-migrated.ts';
import { SqlLogs } from './sql-logs.ts';

/** Who asks for a store and writes no configuration gets the rows that end a request. */
const LOGGING = ['after_request', 'on_error'].map((stage) => ({ name: 'request-logger', stage, enabled: true, config: { persist: true } }));

/** The request log on SQLite or Postgres. Nothing of either is loaded while none is kept. */
export default defineBuiltin({
  name: 'request-log-store',
  apply: ({ hooks }) => {
    let close: (() => Promise<void>) | undefined;
    hooks.open.tapPromise('request-log-store', async (host) => {
      const { logStore } = host.settings;
      if (!logStore) return;
      try {
        close = await open(host, logStore);
      } catch (error) {
        throw cannotOpen(host, logStore, { what: 'the request log store', without: 'to keep no request log' }, error);
      }
    });
    hooks.defaults.tap('request-log-store', (document, { settings: { logStore } }) => {
      if (logStore) document.plugins = [...document.plugins, ...LOGGING];
    });
    hooks.close.tapPromise('request-log-store', async () => close?.());
  },
});

async function open(host: Host, settings: StoreSettings): Promise<() => Promise<void>> {
  const { log, redactor, counters, services: { clock }, settings: { logRetention }, stores: { requestLog, logReader } } = host;
  const database = await openMigrated(host, settings, { file: 'gw-requests.db', schema: LOG_SCHEMA });
  const store = new RequestLogStore(new SqlLogs(database), {
    log, redactor, clock, backend: settings.backend, retention: logRetention,
    dropped: (rows) => counters.add('gateway_observability_events_dropped_total', { subject: 'request_log' }, rows),
  });
  requestLog.supply(settings.backend, store);
  logReader.supply(settings.backend, store);
  return async () => {
    await store.close();
    await database.close();
  };
}
