import type { Host } from '../../host/host.ts';
import { closeInTurn } from '../../host/common/close-all.ts';
import type { StoreSettings } from '../../host/environment/store-settings.ts';
import { SlicedLedgers } from '../../host/stores/ledgers/sliced-ledger.ts';
import { KEPT_MS } from '../../host/stores/ledgers/ledger-sweep.ts';
import { StoredLedgers } from '../../host/stores/ledgers/stored-ledgers.ts';
import { foldedSpend } from '../../host/stores/spend/folded-spend.ts';
import { StoredSpend } from '../../host/stores/spend/stored-spend.ts';
import { SESSION_IDLE_MS } from '../../host/stores/sessions/session-record.ts';
import { ACCOUNT_SCHEMA } from './accounts/account-schema.ts';
import { SqlAccounts } from './accounts/sql-accounts.ts';
import { AUDIT_SCHEMA } from './audit-schema.ts';
import type { Database } from './database/database.ts';
import { IDENTITY_SCHEMA } from './identities/identity-schema.ts';
import { SqlIdentities } from './identities/sql-identities.ts';
import { KEY_SCHEMA } from './key-schema.ts';
import { SLICE_SCHEMA, sliceSweeps } from './ledger-slices.ts';
import { LEDGER_SCHEMA } from './ledger-schema.ts';
import { openMigratedPostgres } from './database/open-migrated.ts';
import type { Site } from './replicas/site.ts';
import { SESSION_SCHEMA } from './session-schema.ts';
import { SqlAudit } from './sql-audit.ts';
import { SqlKeys } from './sql-keys.ts';
import { SqlLedgers } from './sql-ledgers.ts';
import { OWNER_SCHEMA, SqlOwners } from './sql-owners.ts';
import { SqlRunningResponses } from './sql-running.ts';
import { SqlSessions } from './sql-sessions.ts';
import { spendSweeps } from './spend/keep-spend.ts';
import { SPEND_SCHEMA } from './spend/spend-schema.ts';
import { SqlSpend } from './spend/sql-spend.ts';

const BACKEND = 'postgres';
/** Tables of keys and of what stands beside them. */
export const KEY_SCHEMAS = [
  KEY_SCHEMA,
  LEDGER_SCHEMA,
  SLICE_SCHEMA,
  OWNER_SCHEMA,
  SESSION_SCHEMA,
  AUDIT_SCHEMA,
  SPEND_SCHEMA,
  ACCOUNT_SCHEMA,
  IDENTITY_SCHEMA,
];

/** One database for all of them. See docs/stores.md#postgres. */
export async function openPostgresStores(host: Host, settings: StoreSettings): Promise<() => Promise<void>> {
  const { database, site, close: closeDatabase } = await openMigratedPostgres(host, settings, KEY_SCHEMAS);
  const close = (): Promise<void> => closeInTurn([async () => host.stores.accounts.close(), closeDatabase]);
  try {
    await supplyAll(host, database, site);
  } catch (error) {
    await close();
    throw error;
  }
  host.log.info('keys, sessions and the audit trail are kept in Postgres');
  return close;
}

async function supplyAll(
  { stores, log, settings, services }: Host,
  database: Database,
  { clock, keyChanges, keepUp }: Site,
): Promise<void> {
  stores.keys.supply(BACKEND, new SqlKeys(database, keyChanges.tell), keyChanges.feed('key'));
  await stores.accounts.supply(BACKEND, new SqlAccounts(database, keyChanges.tell), keyChanges.feed('account'));
  stores.identities.supply(BACKEND, new SqlIdentities(database, keyChanges.tell), keyChanges.feed('identity'));
  const table = new SqlLedgers(database);
  const ledgers = await StoredLedgers.load(table, {
    clock,
    log,
    end: stores.end,
    backend: BACKEND,
    foldedSpend: foldedSpend(services.counters),
    failure: settings.stateFailure,
  });
  stores.ledgers.supply(BACKEND, ledgers.slices ? new SlicedLedgers(ledgers, ledgers.slices) : ledgers);
  const spend = new SqlSpend(database);
  if (settings.spend.isKept) stores.spend.supply(BACKEND, new StoredSpend(ledgers, spend));
  stores.owners.supply(BACKEND, new SqlOwners(database, clock.now));
  const running = new SqlRunningResponses(database, clock.now);
  stores.running.supply(BACKEND, running);
  const sessions = new SqlSessions(database, keyChanges.tell);
  stores.sessions.supply(BACKEND, sessions, keyChanges.feed('session'));
  stores.audit.supply(BACKEND, new SqlAudit(database));
  keepUp([
    { what: 'sessions', slice: (most) => sessions.sweep(clock.now(), SESSION_IDLE_MS, most) },
    { what: 'what was spent in windows that ended', slice: (most) => table.sweep(clock.now() - KEPT_MS, most) },
    { what: 'responses whose usage never came', slice: (most) => running.sweep(most) },
    ...sliceSweeps(database),
    ...spendSweeps(spend, settings.spend, clock.now),
  ]);
}
