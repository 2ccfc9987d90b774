import type { Host } from '../../../host/host.ts';
import type { StoreSettings } from '../../../host/environment/store-settings.ts';
import { SHARED_SCHEMA } from '../replicas/replica-schema.ts';
import type { Database } from './database.ts';
import { migrate, type Schema } from './migrate.ts';
import { forgetWriters } from './numbered-writes.ts';
import { isExposed, openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

interface MigratedFile {
  readonly file: string;
  readonly schema: Schema;
  /** Size of a page in a new file of SQLite, unless the DSN says it. */
  readonly pageBytes?: number;
}

/** Opens a database that has one schema, brought up to date. `file` is SQLite's, unless the DSN names another. */
export async function openMigrated(
  { log, workingDirectory, services: { clock } }: Host,
  { backend, dsn, prefix }: StoreSettings,
  { file, schema, pageBytes }: MigratedFile,
): Promise<Database> {
  if (backend === 'postgres' && isExposed(dsn ?? ''))
    log.warn(`${prefix}_DSN reaches a public address without TLS; add sslmode=require, or use a private network`);
  const database = await (backend === 'postgres'
    ? openPostgres(dsn ?? '')
    : openSqlite(dsn ?? file, workingDirectory, pageBytes));
  try {
    if (backend === 'postgres') {
      await migrate(database, SHARED_SCHEMA, log, clock.now);
      await forgetWriters(database);
    }
    await migrate(database, schema, log, clock.now);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}
