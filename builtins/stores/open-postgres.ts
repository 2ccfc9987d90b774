import { randomUUID } from 'node:crypto';
import type { Host } from '../../host/host.ts';
import { closeInTurn } from '../../host/common/close-all.ts';
import type { StoreSettings } from '../../host/environment/store-settings.ts';
import { StoredLedgers } from '../../host/stores/ledgers/stored-ledgers.ts';
import { AUDIT_SCHEMA } from './audit-schema.ts';
import type { Database } from './database/database.ts';
import { KEY_SCHEMA } from './key-schema.ts';
import { LEDGER_SCHEMA } from './ledger-schema.ts';
import { Listener } from './database/listen.ts';
import { openMigratedPostgres } from './database/open-migrated.ts';
import { SESSION_SCHEMA } from './session-schema.ts';
import { SqlAudit } from './sql-audit.ts';
import { SqlKeys } from './sql-keys.ts';
import { SqlLedgers } from './sql-ledgers.ts';
import { OWNER_SCHEMA, SqlOwners } from './sql-owners.ts';
import { SqlRunningResponses } from './sql-running.ts';
import { SqlSessions } from './sql-sessions.ts';

const BACKEND = 'postgres';
const SCHEMAS = [KEY_SCHEMA, LEDGER_SCHEMA, OWNER_SCHEMA, SESSION_SCHEMA, AUDIT_SCHEMA];

/** One database for all of them. See docs/stores.md#postgres. */
export async function openPostgresStores(host: Host, settings: StoreSettings): Promise<() => Promise<void>> {
  const database = await openMigratedPostgres(host, settings, SCHEMAS);
  const listener = new Listener(settings.dsn ?? '', randomUUID(), { clock: host.services.clock, log: host.log });
  const close = (): Promise<void> => closeInTurn([() => listener.close(), () => database.close()]);
  try {
    await supplyAll(host, database, listener);
    await listener.open();
  } catch (error) {
    await close();
    throw error;
  }
  host.log.info('keys, sessions and the audit trail are kept in Postgres');
  return close;
}

async function supplyAll(
  { stores, services: { clock }, log }: Host,
  database: Database,
  listener: Listener,
): Promise<void> {
  stores.keys.supply(BACKEND, new SqlKeys(database, listener.tell), listener.feed('key'));
  const ledgers = await StoredLedgers.load(new SqlLedgers(database), { clock, log, end: stores.end, backend: BACKEND });
  stores.ledgers.supply(BACKEND, ledgers);
  stores.owners.supply(BACKEND, new SqlOwners(database, clock.now));
  stores.running.supply(BACKEND, new SqlRunningResponses(database, clock.now));
  stores.sessions.supply(BACKEND, new SqlSessions(database, listener.tell), listener.feed('session'));
  stores.audit.supply(BACKEND, new SqlAudit(database));
}
