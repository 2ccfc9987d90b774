import { join } from 'node:path';
import { AUDIT_SCHEMA } from '../../builtins/stores/audit-schema.ts';
import type { Database } from '../../builtins/stores/database/database.ts';
import { KEY_SCHEMA } from '../../builtins/stores/key-schema.ts';
import { tellNobody } from '../../builtins/stores/database/listen.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { SESSION_SCHEMA } from '../../builtins/stores/session-schema.ts';
import { SqlAudit } from '../../builtins/stores/sql-audit.ts';
import { SqlKeys } from '../../builtins/stores/sql-keys.ts';
import { SqlSessions } from '../../builtins/stores/sql-sessions.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import type { Log } from '../../host/contract/index.ts';
import type { AuditRepository } from '../../host/stores/audit/audit-entry.ts';
import type { KeyFilters, KeyPage, KeyRepository } from '../../host/stores/keys/key-repository.ts';
import { MemoryAudit } from '../../host/stores/audit/memory-audit.ts';
import { MemoryKeys } from '../../host/stores/keys/memory-keys.ts';
import { MemorySessions } from '../../host/stores/sessions/memory-sessions.ts';
import type { SessionPage, SessionRepository } from '../../host/stores/sessions/session-record.ts';
import { atEnd, forSuite, startPostgres, temporaryFolder } from '../kit/index.ts';

export interface Repositories {
  readonly keys: KeyRepository;
  readonly sessions: SessionRepository;
  readonly audit: AuditRepository;
}

export const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Empty repositories for one test. */
export type OpenRepositories = () => Promise<Repositories>;

async function migrated(open: () => Promise<Database>): Promise<Database> {
  const database = await open();
  atEnd(() => database.close());
  for (const schema of [KEY_SCHEMA, SESSION_SCHEMA, AUDIT_SCHEMA]) {
    await migrate(database, schema, SILENT, Date.now);
    await widen(database, schema.table);
  }
  return database;
}

/** Adds what a newer program might: columns that this one neither writes nor knows. */
export async function widen({ knex }: Database, table: string): Promise<void> {
  if (await knex.schema.hasColumn(table, 'from_a_newer_program')) return;
  await knex.raw(`ALTER TABLE ${table} ADD COLUMN from_a_newer_program TEXT`);
  await knex.raw(`ALTER TABLE ${table} ADD COLUMN another_of_it INTEGER NOT NULL DEFAULT 7`);
}

function repositoriesOn(database: Database): Repositories {
  return {
    keys: new SqlKeys(database, tellNobody),
    sessions: new SqlSessions(database, tellNobody),
    audit: new SqlAudit(database),
  };
}

/** Declares the same tests for every backend, each with empty repositories. */
export function onEveryBackend(declare: (open: OpenRepositories) => void): void {
  describe('in memory', () =>
    declare(async () => ({ keys: new MemoryKeys(), sessions: new MemorySessions(), audit: new MemoryAudit() })));
  describe('on SQLite', () =>
    declare(async () => {
      const folder = await temporaryFolder();
      return repositoriesOn(await migrated(() => openSqlite(join(folder, 'all.db'), folder)));
    }));
  describe('on Postgres', function onPostgres() {
    this.timeout(60_000);
    const database = forSuite(async () => {
      const dsn = await (await startPostgres()).createDatabase();
      return migrated(() => openPostgres(dsn));
    });
    declare(async () => {
      await database().knex.raw('TRUNCATE api_keys, sessions, audit_log');
      return repositoriesOn(database());
    });
  });
}

/** All keys of a repository or a store, as lists have them. */
export async function allKeys<K>(keys: {
  page(filters: KeyFilters, limit: number): Promise<KeyPage<K>>;
}): Promise<readonly K[]> {
  return (await keys.page({}, 100_000)).keys;
}

/** All sessions likewise. */
export async function allSessions<S>(sessions: {
  page(limit: number): Promise<SessionPage<S>>;
}): Promise<readonly S[]> {
  return (await sessions.page(100_000)).sessions;
}
