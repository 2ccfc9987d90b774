import { join } from 'node:path';
import { SHARED_SCHEMA } from '../../builtins/stores/replicas/replica-schema.ts';
import { LEDGER_SCHEMA } from '../../builtins/stores/ledger-schema.ts';
import type { Database } from '../../builtins/stores/database/database.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { SPEND_SCHEMA } from '../../builtins/stores/spend/spend-schema.ts';
import { SqlSpend } from '../../builtins/stores/spend/sql-spend.ts';
import { SqlLedgers } from '../../builtins/stores/sql-ledgers.ts';
import type { LedgerRepository } from '../../host/stores/ledgers/ledger-repository.ts';
import { MemoryLedgers } from '../../host/stores/ledgers/ledgers.ts';
import { StoredLedgers } from '../../host/stores/ledgers/stored-ledgers.ts';
import { MemorySpend } from '../../host/stores/spend/memory-spend.ts';
import type { SpendLedger, SpendRepository } from '../../host/stores/spend/spend-ledger.ts';
import { StoredSpend } from '../../host/stores/spend/stored-spend.ts';
import { StoresEnd } from '../../host/stores/stores-end.ts';
import { systemClock } from '../../host/common/clock.ts';
import { atEnd, forSuite, startPostgres, temporaryFolder } from '../kit/index.ts';
import { SILENT, widen } from '../stores/backends.ts';

/** An empty place for spend, and what is behind it where it is stored. */
export interface SpendScene {
  readonly spend: SpendLedger;
  readonly stored?: {
    readonly table: SpendRepository;
    readonly ledgers: LedgerRepository;
    readonly store: StoredLedgers;
  };
}

export type OpenSpendScene = () => Promise<SpendScene>;

async function migrated(open: () => Promise<Database>): Promise<Database> {
  const database = await open();
  atEnd(() => database.close());
  for (const schema of [SHARED_SCHEMA, LEDGER_SCHEMA, SPEND_SCHEMA]) await migrate(database, schema, SILENT, Date.now);
  await widen(database, SPEND_SCHEMA.table);
  return database;
}

async function storedOn(database: Database, backend: string): Promise<SpendScene> {
  const ledgers = new SqlLedgers(database);
  const store = await StoredLedgers.load(ledgers, {
    clock: systemClock,
    log: SILENT,
    end: new StoresEnd(systemClock),
    backend,
  });
  atEnd(() => store.close());
  const table = new SqlSpend(database);
  return { spend: new StoredSpend(store, table), stored: { table, ledgers, store } };
}

/** Declares the same tests for every backend, each with an empty table. */
export function onEverySpend(declare: (open: OpenSpendScene) => void): void {
  describe('in memory', () =>
    declare(async () => {
      const ledgers = new MemoryLedgers({ log: SILENT, clock: systemClock });
      return {
        spend: new MemorySpend(
          () => 0,
          () => {},
          () => ledgers,
        ),
      };
    }));
  describe('on SQLite', () =>
    declare(async () => {
      const folder = await temporaryFolder();
      return storedOn(await migrated(() => openSqlite(join(folder, 'spend.db'), folder)), 'sqlite');
    }));
  describe('on Postgres', function onPostgres() {
    this.timeout(60_000);
    const database = forSuite(async () => {
      const dsn = await (await startPostgres()).createDatabase();
      return migrated(() => openPostgres(dsn));
    });
    declare(async () => {
      await database().knex.raw('TRUNCATE spend, ledger_accounts');
      return storedOn(database(), 'postgres');
    });
  });
}
