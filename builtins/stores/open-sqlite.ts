import type { Host } from '../../host/host.ts';
import { closeAll, closeInTurn } from '../../host/common/close-all.ts';
import type { StoreSettings } from '../../host/environment/store-settings.ts';
import { StoredLedgers } from '../../host/stores/ledgers/stored-ledgers.ts';
import { foldedSpend } from '../../host/stores/spend/folded-spend.ts';
import { StoredSpend } from '../../host/stores/spend/stored-spend.ts';
import { ACCOUNT_SCHEMA } from './accounts/account-schema.ts';
import { SqlAccounts } from './accounts/sql-accounts.ts';
import { AUDIT_SCHEMA } from './audit-schema.ts';
import { IDENTITY_SCHEMA } from './identities/identity-schema.ts';
import { SqlIdentities } from './identities/sql-identities.ts';
import { KEY_SCHEMA } from './key-schema.ts';
import { LEDGER_SCHEMA } from './ledger-schema.ts';
import { tellNobody } from './database/listen.ts';
import type { Schema } from './database/migrate.ts';
import { type OwnedDatabase, openSqliteFile } from './database/open-file.ts';
import { SESSION_SCHEMA } from './session-schema.ts';
import { SqlAudit } from './sql-audit.ts';
import { SqlKeys } from './sql-keys.ts';
import { SqlLedgers } from './sql-ledgers.ts';
import { OWNER_SCHEMA, SqlOwners } from './sql-owners.ts';
import { SqlRunningResponses } from './sql-running.ts';
import { SqlSessions } from './sql-sessions.ts';
import { derivedDsn } from './database/sqlite-dsn.ts';
import { keepSpend } from './spend/keep-spend.ts';
import { SPEND_SCHEMA } from './spend/spend-schema.ts';
import { SqlSpend } from './spend/sql-spend.ts';

/** A file of SQLite, and the tables in it. */
interface KeyFile {
  readonly dsn: string;
  readonly schemas: readonly Schema[];
}

/** The files of keys, sessions and the audit trail, in this order. Throws for an address that cannot be read. */
export function keyFiles(dsn: string | undefined): readonly [keys: KeyFile, sessions: KeyFile, audit: KeyFile] {
  const [keys, sessions, audit] =
    dsn === undefined
      ? ['gw-keys.db', 'gw-sessions.db', 'gw-audit.db']
      : [dsn, derivedDsn(dsn, 'sessions'), derivedDsn(dsn, 'audit')];
  return [
    { dsn: keys, schemas: [KEY_SCHEMA, LEDGER_SCHEMA, OWNER_SCHEMA, SPEND_SCHEMA, ACCOUNT_SCHEMA, IDENTITY_SCHEMA] },
    { dsn: sessions, schemas: [SESSION_SCHEMA] },
    { dsn: audit, schemas: [AUDIT_SCHEMA] },
  ];
}

/** Files of their own for each store, in the working directory unless said. See docs/reference/admin.md#sqlite-addresses. */
export async function openSqliteStores(host: Host, { dsn }: StoreSettings): Promise<() => Promise<void>> {
  const [keyFile, sessionFile, auditFile] = keyFiles(dsn);
  const opened: OwnedDatabase[] = [];
  const open = async (file: KeyFile, what: string): Promise<OwnedDatabase> => {
    const database = await openSqliteFile(host, file.dsn, { what, schemas: file.schemas });
    opened.push(database);
    return database;
  };
  let endUpkeep = async (): Promise<void> => {};
  const close = (): Promise<void> =>
    closeInTurn([
      async () => host.stores.accounts.close(),
      () => endUpkeep(),
      () => closeAll(opened.map((database) => () => database.close())),
    ]);
  try {
    const keys = await open(keyFile, 'the key store');
    host.stores.keys.supply('sqlite', new SqlKeys(keys, tellNobody), keys.feed);
    await host.stores.accounts.supply('sqlite', new SqlAccounts(keys, tellNobody));
    host.stores.identities.supply('sqlite', new SqlIdentities(keys, tellNobody), keys.feed);
    const ledgers = await StoredLedgers.load(new SqlLedgers(keys), {
      clock: host.services.clock,
      log: host.log,
      end: host.stores.end,
      backend: 'sqlite',
      foldedSpend: foldedSpend(host.services.counters),
    });
    host.stores.ledgers.supply('sqlite', ledgers);
    const spend = new SqlSpend(keys);
    if (host.settings.spend.isKept) host.stores.spend.supply('sqlite', new StoredSpend(ledgers, spend));
    endUpkeep = keepSpend(host, spend);
    host.stores.owners.supply('sqlite', new SqlOwners(keys, host.stores.clock.now));
    host.stores.running.supply('sqlite', new SqlRunningResponses(keys, host.stores.clock.now));
    const sessions = await open(sessionFile, 'the session store');
    host.stores.sessions.supply('sqlite', new SqlSessions(sessions, tellNobody), sessions.feed);
    host.stores.audit.supply('sqlite', new SqlAudit(await open(auditFile, 'the audit store')));
  } catch (error) {
    await close();
    throw error;
  }
  host.log.info('keys, sessions and the audit trail are kept in SQLite', {
    keys: keyFile.dsn,
    sessions: sessionFile.dsn,
    audit: auditFile.dsn,
  });
  return close;
}
