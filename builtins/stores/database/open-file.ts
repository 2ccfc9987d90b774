import { realpath } from 'node:fs/promises';
import { closeInTurn } from '../../../host/common/close-all.ts';
import type { Host } from '../../../host/host.ts';
import type { ChangeFeed } from '../../../host/stores/change-feed.ts';
import { bringUp } from './bring-up.ts';
import type { Database } from './database.ts';
import { FileGuard } from './file-guard.ts';
import { identityOf } from './file-identity.ts';
import type { Schema } from './migrate.ts';
import { OwnerLock } from './owner-lock.ts';
import { openSqlite } from './sqlite.ts';

interface FileOptions {
  /** What is kept there, as messages name it: `the key store`. */
  readonly what: string;
  readonly schemas: readonly Schema[];
  /** Size of a page in a new file, unless the DSN says it. */
  readonly pageBytes?: number | undefined;
  /** Whether tables are brought up to date; as `GW_MIGRATE` says unless given. */
  readonly migrates?: boolean;
}

/** A database of SQLite that this process alone has. */
export interface OwnedDatabase extends Database {
  /** No other process changes what is in the file, and memory goes by what it read, until the file is another one. */
  readonly feed: ChangeFeed;
}

/** Opens a file, or a database in memory, for this process alone, brings its tables up to date, and looks after the file from then on. Stores that share a file share its lock. */
export async function openSqliteFile(
  host: Host,
  dsn: string,
  { what, schemas, pageBytes, migrates = host.settings.migrates }: FileOptions,
): Promise<OwnedDatabase> {
  const {
    log,
    workingDirectory,
    services: { clock },
  } = host;
  let guard: FileGuard | undefined;
  const database = await openSqlite(dsn, workingDirectory, { pageBytes, clock, refusal: () => guard?.fault });
  const { file } = database;
  const closing = [() => database.close()];
  const close = (): Promise<void> => closeInTurn(closing);
  try {
    if (file !== undefined) {
      const path = await realpath(file);
      await refuseSecondName(path);
      const lock = await host.stores.shared.lease(`owner of ${path}`, () =>
        OwnerLock.take(path, { clock, log, isStopped: () => host.isDraining }),
      );
      closing.push(() => lock.close());
      const guarding = new FileGuard(
        { file, journal: `${path}-wal` },
        { clock, log, what, verifyLock: () => lock.value.verify() },
      );
      guard = guarding;
      closing.unshift(() => guarding.close());
    }
    await bringUp(database, schemas, { log, now: clock.now, migrates });
    await guard?.begin();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...database,
    feed: { freshSince: () => (guard?.fault ? Infinity : -Infinity), onChange: () => {} },
    verify: async () => guard?.verify(),
    close,
  };
}

/** The journal has the name of the file: programs that open it by two names each keep one of their own, and destroy it (sqlite.org/howtocorrupt.html, section 2.4). */
async function refuseSecondName(path: string): Promise<void> {
  const links = (await identityOf(path))?.links ?? 1n;
  if (links > 1n)
    throw new Error(
      `${path} has ${links} names (hard links), by each of which a program would keep a journal of its own; remove the others, or copy the file`,
    );
}
