import type { Host } from '../../host/host.ts';
import { closeInTurn } from '../../host/common/close-all.ts';
import type { StoreSettings } from '../../host/environment/store-settings.ts';
import { StoredLedgers } from '../../host/stores/ledgers/stored-ledgers.ts';
import { AUDIT_SCHEMA } from './audit-schema.ts';
import type { Database } from './database/database.ts';
import { KEY_SCHEMA } from './key-schema.ts';
import { LEDGER_SCHEMA } from './ledger-schema.ts';
import type { Schema } from './database/migrate.ts';
import { isExposed, openPostgres } from './database/postgres.ts';
import { SESSION_IDLE_MS } from '../../host/stores/sessions/session-record.ts';
import { leaseSite, type Site } from './replicas/site.ts';
import { SESSION_SCHEMA } from './session-schema.ts';
import { SqlAudit } from './sql-audit.ts';
import { SqlKeys } from './sql-keys.ts';
import { SqlLedgers } from './sql-ledgers.ts';
import { OWNER_SCHEMA, SqlOwners } from './sql-owners.ts';
import { SqlRunningResponses } from './sql-running.ts';
import { SqlSessions } from './sql-sessions.ts';

const BACKEND = 'postgres';

/** Opens a pool of its own for tables, which are brought up to date. */
type Open = (...schemas: readonly Schema[]) => Promise<Database>;

/** One database for all of them, with a pool for each, so that none waits for another's connections. See docs/stores.md#postgres. */
export async function openPostgresStores(
  host: Host,
  { dsn = '', listenDsn, prefix }: StoreSettings,
): Promise<() => Promise<void>> {
  if (isExposed(dsn))
    host.log.warn(`${prefix}_DSN reaches a public address without TLS; add sslmode=require, or use a private network`);
  if (isExposed(listenDsn ?? ''))
    host.log.warn(
      `${prefix}_LISTEN_DSN reaches a public address without TLS; add sslmode=require, or use a private network`,
    );
  const opened: Database[] = [];
  const { site, release } = await leaseSite(host, dsn);
  const open: Open = async (...schemas) => {
    await site.migrate(...schemas);
    const database = await openPostgres(dsn);
    opened.push(database);
    return database;
  };
  const close = (): Promise<void> => closeInTurn([release, ...opened.map((database) => () => database.close())]);
  try {
    await supplyAll(host, open, site);
  } catch (error) {
    await close();
    throw error;
  }
  host.log.info('keys, sessions and the audit trail are kept in Postgres');
  return close;
}

async function supplyAll({ stores, log }: Host, open: Open, site: Site): Promise<void> {
  const { clock, keyChanges } = site;
  const keys = await open(KEY_SCHEMA, LEDGER_SCHEMA, OWNER_SCHEMA);
  stores.keys.supply(BACKEND, new SqlKeys(keys, keyChanges.tell), keyChanges.feed('key'));
  const ledgers = await StoredLedgers.load(new SqlLedgers(keys), { clock, log, backend: BACKEND });
  stores.ledgers.supply(BACKEND, ledgers);
  stores.owners.supply(BACKEND, new SqlOwners(keys, clock.now));
  const running = new SqlRunningResponses(keys, clock.now);
  stores.running.supply(BACKEND, running);
  const sessions = new SqlSessions(await open(SESSION_SCHEMA), keyChanges.tell);
  stores.sessions.supply(BACKEND, sessions, keyChanges.feed('session'));
  stores.audit.supply(BACKEND, new SqlAudit(await open(AUDIT_SCHEMA)));
  site.keepUp([
    { what: 'sessions', slice: (most) => sessions.sweep(clock.now(), SESSION_IDLE_MS, most) },
    { what: 'responses whose usage never came', slice: (most) => running.sweep(most) },
  ]);
}
