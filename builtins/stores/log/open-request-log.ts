import type { StoreSettings } from '../../../host/environment/store-settings.ts';
import type { Host } from '../../../host/host.ts';
import { RequestLogStore } from '../../../host/stores/log/request-log-store.ts';
import { LOG_SCHEMA } from './log-schema.ts';
import { openMigrated } from '../database/open-migrated.ts';
import { SqlLogs } from './sql-logs.ts';

/** Rows are long and come many at a time: with twice SQLite's page they are written a fifth faster. */
export const LOG_PAGE_BYTES = 8192;

/** Supplies the request log of a database, and closes both. */
export async function openRequestLog(host: Host, settings: StoreSettings): Promise<() => Promise<void>> {
  const {
    log,
    redactor,
    counters,
    settings: { logRetention, logOmit },
    stores: { requestLog, logReader, leaders, end },
  } = host;
  const { database, clock, site, close } = await openMigrated(host, settings, {
    file: 'gw-requests.db',
    what: 'the request log store',
    schema: LOG_SCHEMA,
    pageBytes: LOG_PAGE_BYTES,
  });
  const store = new RequestLogStore(new SqlLogs(database), {
    log,
    redactor,
    clock,
    end,
    shiftMs: () => site?.clock.shiftMs ?? 0,
    backend: settings.backend,
    retention: logRetention,
    omit: logOmit,
    isLeader: () => leaders.isLeader('log'),
    dropped: (rows) => counters.add('gateway_observability_events_dropped_total', { subject: 'request_log' }, rows),
  });
  requestLog.supply(settings.backend, store);
  logReader.supply(settings.backend, store);
  return async () => {
    await store.close();
    await close();
  };
}
