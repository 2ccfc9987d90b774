import type { Host } from '../../../host/host.ts';
import { closeInTurn } from '../../../host/common/close-all.ts';
import type { Clock } from '../../../host/common/clock.ts';
import type { StoreSettings } from '../../../host/environment/store-settings.ts';
import { leaseSite, type Site } from '../replicas/site.ts';
import type { Database } from './database.ts';
import { migrate, type Schema } from './migrate.ts';
import { isExposed, openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

interface MigratedFile {
  readonly file: string;
  readonly schema: Schema;
  /** Size of a page in a new file of SQLite, unless the DSN says it. */
  readonly pageBytes?: number;
}

export interface Migrated {
  readonly database: Database;
  /** The time that moments in it are of. */
  readonly clock: Clock;
  /** What is shared with other processes; a file belongs to one. */
  readonly site: Site | undefined;
  readonly close: () => Promise<void>;
}

/** Opens a database that has one schema, brought up to date. `file` is SQLite's, unless the DSN names another. */
export async function openMigrated(
  host: Host,
  { backend, dsn, prefix }: StoreSettings,
  { file, schema, pageBytes }: MigratedFile,
): Promise<Migrated> {
  if (backend === 'postgres') return openShared(host, dsn ?? '', prefix, schema);
  const {
    log,
    workingDirectory,
    services: { clock },
  } = host;
  const database = await openSqlite(dsn ?? file, workingDirectory, pageBytes);
  try {
    await migrate(database, schema, log, clock.now);
  } catch (error) {
    await database.close();
    throw error;
  }
  return { database, clock, site: undefined, close: () => database.close() };
}

async function openShared(host: Host, dsn: string, prefix: string, schema: Schema): Promise<Migrated> {
  if (isExposed(dsn))
    host.log.warn(`${prefix}_DSN reaches a public address without TLS; add sslmode=require, or use a private network`);
  const { site, release } = await leaseSite(host, dsn);
  try {
    await site.migrate(schema);
    const database = await openPostgres(dsn);
    return { database, clock: site.clock, site, close: () => closeInTurn([() => database.close(), release]) };
  } catch (error) {
    await release();
    throw error;
  }
}
