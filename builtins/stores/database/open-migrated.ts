import type { Host } from '../../../host/host.ts';
import { closeInTurn } from '../../../host/common/close-all.ts';
import type { Clock } from '../../../host/common/clock.ts';
import type { StoreSettings } from '../../../host/environment/store-settings.ts';
import { openSharedPostgres } from '../postgres/shared-pool.ts';
import { leaseSite, type Site } from '../replicas/site.ts';
import type { Database } from './database.ts';
import { type Schema } from './migrate.ts';
import { openSqliteFile } from './open-file.ts';
import { isExposed } from './postgres.ts';

interface MigratedFile {
  readonly file: string;
  /** What is kept there, as messages name it. */
  readonly what: string;
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
  settings: StoreSettings,
  { file, what, schema, pageBytes }: MigratedFile,
): Promise<Migrated> {
  if (settings.backend === 'postgres') return openMigratedPostgres(host, settings, [schema]);
  const database = await openSqliteFile(host, settings.dsn ?? file, { what, schemas: [schema], pageBytes });
  return { database, clock: host.services.clock, site: undefined, close: () => database.close() };
}

/** Opens a database of Postgres that has these schemas, brought up to date. */
export async function openMigratedPostgres(
  host: Host,
  { dsn = '', listenDsn, prefix }: StoreSettings,
  schemas: readonly Schema[],
): Promise<Migrated & { readonly site: Site }> {
  for (const [variable, address = ''] of [
    ['DSN', dsn],
    ['LISTEN_DSN', listenDsn],
  ])
    if (isExposed(address))
      host.log.warn(
        `${prefix}_${variable} reaches a public address without TLS; add sslmode=require, or use a private network`,
      );
  const { site, release } = await leaseSite(host, dsn);
  try {
    await site.migrate(...schemas);
    const database = await openSharedPostgres(host, dsn);
    return { database, clock: site.clock, site, close: () => closeInTurn([release, () => database.close()]) };
  } catch (error) {
    await release();
    throw error;
  }
}
