import type { Host } from '../../../host/host.ts';
import type { StoreSettings } from '../../../host/environment/store-settings.ts';
import type { Database } from './database.ts';
import { migrate, type Schema } from './migrate.ts';
import { openSqliteFile } from './open-file.ts';
import { isExposed, openPostgres } from './postgres.ts';

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
  { backend, dsn, prefix }: StoreSettings,
  { file, what, schema, pageBytes }: MigratedFile,
): Promise<Database> {
  if (backend === 'sqlite') return openSqliteFile(host, dsn ?? file, { what, schemas: [schema], pageBytes });
  const {
    log,
    services: { clock },
  } = host;
  if (isExposed(dsn ?? ''))
    log.warn(`${prefix}_DSN reaches a public address without TLS; add sslmode=require, or use a private network`);
  const database = await openPostgres(dsn ?? '');
  try {
    await migrate(database, schema, log, clock.now);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}
