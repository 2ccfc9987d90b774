import { chmod, open, stat } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { MOST_SUM } from '../../../host/common/bounded-sum.ts';
import { type Database, type Dialect, SILENT } from './database.ts';
import { isMemory, readSqliteDsn } from './sqlite-dsn.ts';

const MODE = 0o600;
/** Milliseconds that a statement waits for another connection's write. */
const BUSY_MS = 5000;
/** Milliseconds after which settings of a connection that met another's are tried again. */
const AGAIN_MS = 10;
/** SQLite's own default. A file keeps the size that it was made with. */
const PAGE_BYTES = 4096;
/** Milliseconds that a statement waits for the one connection. */
const ACQUIRE_MS = 9000;

const DAY_MS = 24 * 60 * 60 * 1000;
/** The Unix epoch in milliseconds of the Julian day count, by which SQLite counts time to the millisecond. */
const JULIAN_EPOCH_MS = 210_866_760_000_000;

export const SQLITE: Dialect = {
  name: 'sqlite',
  moment: 'DATETIME',
  serial: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  integer: 'INTEGER',
  time: (ms) => new Date(ms).toISOString(),
  down: (column) => `${column} DESC`,
  // A transaction that begins with a read cannot wait for its turn to write.
  lock: async (trx, table) => {
    await trx.raw(`UPDATE ${table} SET rowid = rowid WHERE rowid = -1`);
  },
  hasTable: (db, table) => db.schema.hasTable(table),
  position: 'instr',
  // Columns hold whatever was written: also fractions, infinity and texts. What is not a number counts as the most, as where it is read.
  plus: (column, more) =>
    `CAST(max(min(max(CASE WHEN typeof(${column}) IN ('integer', 'real') THEN ${column} ELSE ${MOST_SUM} END, 0) + ${more}, ${MOST_SUM}), 0) AS INTEGER)`,
  milliseconds: (column) => `(CAST(round(julianday(${column}) * ${DAY_MS}) AS INTEGER) - ${JULIAN_EPOCH_MS})`,
};

/** Opens a file with pages of a size, if it is new, which only its owner may read from its first byte on, or a database in memory. */
export async function openSqlite(dsn: string, workingDirectory: string, pageBytes = PAGE_BYTES): Promise<Database> {
  const source = readSqliteDsn(dsn);
  const file = isMemory(source) || isAbsolute(source.file) ? source.file : resolve(workingDirectory, source.file);
  if (!isMemory(source)) await createOwned(file);
  const pragmas = new Map([
    ['page_size', String(pageBytes)],
    ['busy_timeout', String(BUSY_MS)],
    ['journal_mode', 'WAL'],
    ...source.pragmas,
  ]);
  const { default: knex } = await import('knex');
  const db = knex({
    client: 'sqlite3',
    connection: { filename: file },
    useNullAsDefault: true,
    log: SILENT,
    acquireConnectionTimeout: ACQUIRE_MS,
    pool: {
      min: 0,
      max: 1,
      idleTimeoutMillis: 2 ** 31 - 1,
      afterCreate: (connection: Driver, done: (error: unknown) => void) => setAll(connection, pragmas, done),
    },
  });
  return { knex: db, on: () => db, dialect: SQLITE, isPooled: false, file, close: () => db.destroy() };
}

interface Driver {
  exec(sql: string, done: (error: unknown) => void): void;
}

/** Who turns a new file to another journal mode does not wait for others who do so at the same time (sqlite.org/pragma.html#pragma_busy_timeout is not asked then), so it is tried again. */
function setAll(
  connection: Driver,
  pragmas: ReadonlyMap<string, string>,
  done: (error: unknown) => void,
  begun = performance.now(),
): void {
  connection.exec(Array.from(pragmas, ([name, value]) => `PRAGMA ${name} = ${value};`).join('\n'), (error) => {
    const isBusy = (error as { readonly code?: unknown } | null)?.code === 'SQLITE_BUSY';
    if (isBusy && performance.now() - begun < BUSY_MS)
      setTimeout(() => setAll(connection, pragmas, done, begun), AGAIN_MS);
    else done(error);
  });
}

/** Journals inherit the mode of the file. */
async function createOwned(file: string): Promise<void> {
  const folder = await stat(dirname(file)).catch(() => undefined);
  if (!folder?.isDirectory())
    throw new Error(`the folder ${dirname(file)} does not exist; make it, or name another file`);
  const there = await stat(file).catch(() => undefined);
  if (there && !there.isFile())
    throw new Error(`${file} is not a file, but a folder, a pipe or a device; name another file`);
  const handle = await open(file, 'a', MODE);
  await handle.close();
  await chmod(file, MODE);
}
