import type { Host } from '../../../host/host.ts';
import type { StoreSettings } from '../../../host/environment/store-settings.ts';
import { SHARED_SCHEMA } from '../replicas/replica-schema.ts';
import type { Database } from './database.ts';
import { migrate, type Schema } from './migrate.ts';
import { forgetWriters } from './numbered-writes.ts';
import { openSqliteFile } from './open-file.ts';
import { isExposed, openForMigrations } from './postgres.ts';
import { openSharedPostgres } from '../postgres/shared-pool.ts';

interface MigratedFile {
  readonly file: string;
  /** What is kept there, as messages name it. */
  readonly what: string;
  readonly schema: Schema;
  /** Size of a page in a new file of SQLite, unless the DSN says it. */
  readonly pageBytes?: number;
}

/** Opens a database that has one schema, brought up to date. `file` is SQLite's, unless the DSN names another. */
export async function openMigrated(
  host: Host,
  settings: StoreSettings,
  { file, what, schema, pageBytes }: MigratedFile,
): Promise<Database> {
  if (settings.backend === 'postgres') return openMigratedPostgres(host, settings, [schema]);
  return openSqliteFile(host, settings.dsn ?? file, { what, schemas: [schema], pageBytes });
}

/** Opens a database of Postgres that has these schemas, brought up to date on connections of their own. */
export async function openMigratedPostgres(
  host: Host,
  { dsn = '', prefix }: StoreSettings,
  schemas: readonly Schema[],
): Promise<Database> {
  const { log, services } = host;
  if (isExposed(dsn))
    log.warn(`${prefix}_DSN reaches a public address without TLS; add sslmode=require, or use a private network`);
  const database = await openSharedPostgres(host, dsn);
  try {
    const migrating = await openForMigrations(dsn, database.isPooled);
    try {
      for (const schema of [SHARED_SCHEMA, ...schemas]) await migrate(migrating, schema, log, services.clock.now);
      await forgetWriters(migrating);
    } finally {
      await migrating.close();
    }
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}
