import { randomUUID } from 'node:crypto';
import type { Host } from '../../host/host.ts';
import { closeInTurn } from '../../host/common/close-all.ts';
import type { StoreSettings } from '../../host/environment/store-settings.ts';
import { StoredLedgers } from '../../host/stores/ledgers/stored-ledgers.ts';
import { AUDIT_SCHEMA } from './audit-schema.ts';
import type { Database } from './database/database.ts';
import { SHARED_SCHEMA } from './replicas/replica-schema.ts';
import { KEY_SCHEMA } from './key-schema.ts';
import { LEDGER_SCHEMA } from './ledger-schema.ts';
import { Listener } from './database/listen.ts';
import { migrate, type Schema } from './database/migrate.ts';
import { forgetWriters } from './database/numbered-writes.ts';
import { isExposed, openPostgres } from './database/postgres.ts';
import { SESSION_SCHEMA } from './session-schema.ts';
import { SqlAudit } from './sql-audit.ts';
import { SqlKeys } from './sql-keys.ts';
import { SqlLedgers } from './sql-ledgers.ts';
import { OWNER_SCHEMA, SqlOwners } from './sql-owners.ts';
import { SqlRunningResponses } from './sql-running.ts';
import { SqlSessions } from './sql-sessions.ts';

const BACKEND = 'postgres';

/** Opens a pool of its own for tables, which it brings up to date. */
type Open = (...schemas: readonly Schema[]) => Promise<Database>;

/** One database for all of them, with a pool for each, so that none waits for another's connections. See docs/stores.md#postgres. */
export async function openPostgresStores(
  host: Host,
  { dsn = '', prefix }: StoreSettings,
): Promise<() => Promise<void>> {
  if (isExposed(dsn))
    host.log.warn(`${prefix}_DSN reaches a public address without TLS; add sslmode=require, or use a private network`);
  const opened: Database[] = [];
  const listener = new Listener(dsn, randomUUID(), { clock: host.services.clock, log: host.log });
  const open: Open = async (...schemas) => {
    const database = await openPostgres(dsn);
    opened.push(database);
    for (const schema of schemas) await migrate(database, schema, host.log, host.services.clock.now);
    return database;
  };
  const close = (): Promise<void> =>
    closeInTurn([() => listener.close(), ...opened.map((database) => () => database.close())]);
  try {
    await supplyAll(host, open, listener);
    await listener.open();
  } catch (error) {
    await close();
    throw error;
  }
  host.log.info('keys, sessions and the audit trail are kept in Postgres');
  return close;
}

async function supplyAll({ stores, services: { clock }, log }: Host, open: Open, listener: Listener): Promise<void> {
  const keys = await open(SHARED_SCHEMA, KEY_SCHEMA, LEDGER_SCHEMA, OWNER_SCHEMA);
  await forgetWriters(keys);
  stores.keys.supply(BACKEND, new SqlKeys(keys, listener.tell), listener.feed('key'));
  const ledgers = await StoredLedgers.load(new SqlLedgers(keys), {
    clock,
    log,
    end: stores.end,
    backend: BACKEND,
  });
  stores.ledgers.supply(BACKEND, ledgers);
  stores.owners.supply(BACKEND, new SqlOwners(keys, clock.now));
  stores.running.supply(BACKEND, new SqlRunningResponses(keys, clock.now));
  const sessions = new SqlSessions(await open(SESSION_SCHEMA), listener.tell);
  stores.sessions.supply(BACKEND, sessions, listener.feed('session'));
  stores.audit.supply(BACKEND, new SqlAudit(await open(AUDIT_SCHEMA)));
}
