import { isAbsolute, resolve } from 'node:path';
import type { Knex } from 'knex';
import { MOST_SUM } from '../../../host/common/bounded-sum.ts';
import { type Clock, systemClock } from '../../../host/common/clock.ts';
import { type Database, type Dialect, SILENT } from './database.ts';
import { OneConnection } from './one-connection.ts';
import { createOwned } from './owned-file.ts';
import { type ConnectionDeps, type Driver, SqliteConnection } from './sqlite-connection.ts';
import { isMemory, readSqliteDsn, type SqliteSource } from './sqlite-dsn.ts';

/** Milliseconds for which a statement that meets another connection's write is tried again. */
const BUSY_MS = 5000;
/** SQLite's own default. A file keeps the size that it was made with. */
const PAGE_BYTES = 4096;
/** Milliseconds that a statement waits for those before it, and that a reading waits: longer than any reading takes. */
const WAIT_MS = 9000;
const READING_WAIT_MS = 60_000;

const DAY_MS = 24 * 60 * 60 * 1000;
/** The Unix epoch in milliseconds of the Julian day count, by which SQLite counts time to the millisecond. */
const JULIAN_EPOCH_MS = 210_866_760_000_000;

export const SQLITE: Dialect = {
  name: 'sqlite',
  moment: 'DATETIME',
  serial: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  integer: 'INTEGER',
  time: (ms) => new Date(ms).toISOString(),
  ago: (ms, now) => `'${new Date(now - ms).toISOString()}'`,
  down: (column) => `${column} DESC`,
  // A transaction that begins with a read cannot wait for its turn to write.
  lock: async (trx, table) => {
    await trx.raw(`UPDATE ${table} SET rowid = rowid WHERE rowid = -1`);
  },
  hasTable: (db, table) => db.schema.hasTable(table),
  position: 'instr',
  holds: (column) => `instr(lower(${column}), lower(?)) > 0`,
  // Columns hold whatever was written: also fractions, infinity and texts. What is not a number counts as the most, as where it is read.
  plus: (column, more) =>
    `CAST(max(min(max(CASE WHEN typeof(${column}) IN ('integer', 'real') THEN ${column} ELSE ${MOST_SUM} END, 0) + ${more}, ${MOST_SUM}), 0) AS INTEGER)`,
  milliseconds: (column) => `(CAST(round(julianday(${column}) * ${DAY_MS}) AS INTEGER) - ${JULIAN_EPOCH_MS})`,
};

/** The driver waits for no lock: that is done outside of it. */
const UNWAITING = [['busy_timeout', '0']] as const;

export interface SqliteOptions {
  /** Size of a page in a new file. */
  readonly pageBytes?: number | undefined;
  readonly clock?: Clock;
  /** Why no statement may run any more. */
  readonly refusal?: ConnectionDeps['refusal'];
}

/**
 * Opens a file, which is made for its owner alone, or a database in memory. A file has two connections: one of them reads pages and statistics only,
 * so that those who write wait for neither.
 */
export async function openSqlite(
  dsn: string,
  workingDirectory: string,
  { pageBytes = PAGE_BYTES, clock = systemClock, refusal = () => undefined }: SqliteOptions = {},
): Promise<Database> {
  const source = readSqliteDsn(dsn);
  const file = isMemory(source) || isAbsolute(source.file) ? source.file : resolve(workingDirectory, source.file);
  if (!isMemory(source)) await createOwned(file);
  const given = new Map(source.pragmas);
  const deps = { clock, refusal, busyMs: busyMsOf(given) };
  const pragmas = new Map([
    ...UNWAITING, // first, so that the others do not wait either
    ['page_size', String(pageBytes)],
    ['journal_mode', 'WAL'],
    ...given,
    ...UNWAITING,
  ]);
  const { default: knex } = await import('knex');
  const open = (of: ReadonlyMap<string, string>, waitMs: number, isReader: boolean): Connected => {
    const pool = new OneConnection({
      clock,
      waitMs,
      open: () => connect(db.client.driver, file, { ...deps, pragmas: of, isReader }),
    });
    const db = knex({ client: 'sqlite3', useNullAsDefault: true, log: SILENT, connectionPool: pool });
    return { knex: db, pool, reading: undefined };
  };
  const writer = open(pragmas, WAIT_MS, false);
  const reader = isAlone(source, given) ? writer : open(readingPragmas(pragmas), READING_WAIT_MS, true);
  return {
    knex: writer.knex,
    on: (lane) => (lane === 'reads' ? reader : writer).knex,
    isPooled: false,
    dialect: SQLITE,
    ...(!isMemory(source) && { file }),
    read: (work, signal) => reading(reader, work, signal),
    close: async () => {
      reader.reading?.abort(new Error('the database is being closed'));
      await Promise.all([...new Set([reader, writer])].map(({ pool }) => pool.destroy()));
    },
  };
}

/** The operator's word, where it is a number. */
function busyMsOf(pragmas: ReadonlyMap<string, string>): number {
  const ms = Number(pragmas.get('busy_timeout') ?? BUSY_MS);
  return Number.isFinite(ms) ? ms : BUSY_MS;
}

/** A second connection would see nothing of a database in memory, and nothing gets into a file that the first one keeps locked. */
function isAlone(source: SqliteSource, pragmas: ReadonlyMap<string, string>): boolean {
  return isMemory(source) || pragmas.get('locking_mode')?.toLowerCase() === 'exclusive';
}

/** What is a property of the file is set by who writes it. */
function readingPragmas(pragmas: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...pragmas].filter(([name]) => name !== 'page_size' && name !== 'journal_mode'));
}

/** One connection, and what asks it. */
interface Connected {
  readonly knex: Knex;
  readonly pool: OneConnection;
  /** Ends what is being read in a transaction of its own. */
  reading: AbortController | undefined;
}

interface ConnectOptions extends ConnectionDeps {
  readonly pragmas: ReadonlyMap<string, string>;
  readonly isReader: boolean;
}

/** What the driver's package holds. */
interface DriverPackage {
  readonly Database: new (file: string, mode: number, done: (error: unknown) => void) => Driver;
  readonly OPEN_READONLY: number;
  readonly OPEN_READWRITE: number;
  readonly OPEN_CREATE: number;
}

function connect(
  { Database: Opened, OPEN_READONLY, OPEN_READWRITE, OPEN_CREATE }: DriverPackage,
  file: string,
  { pragmas, isReader, ...deps }: ConnectOptions,
): Promise<SqliteConnection> {
  const { promise, resolve, reject } = Promise.withResolvers<SqliteConnection>();
  const set = Array.from(pragmas, ([name, value]) => `PRAGMA ${name} = ${value};`).join('\n');
  const driver = new Opened(file, isReader ? OPEN_READONLY : OPEN_READWRITE | OPEN_CREATE, (failure) => {
    if (failure) return reject(failure);
    const connection = new SqliteConnection(driver, deps);
    connection.exec(set, (error) => (error ? driver.close(() => reject(error)) : resolve(connection)));
  });
  return promise;
}

/**
 * One at a time, in a transaction: all of its statements see one state of the file. At the signal it fails at once, the statement that runs is interrupted, and
 * one that waits for its turn does not begin.
 */
async function reading<T>(
  connected: Connected,
  work: (db: Knex) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  signal?.throwIfAborted();
  const ended = new AbortController();
  const { promise: given, reject } = Promise.withResolvers<never>();
  ended.signal.addEventListener('abort', () => reject(ended.signal.reason));
  const giveUp = (): void => ended.abort(signal?.reason);
  signal?.addEventListener('abort', giveUp);
  const found = connected.knex.transaction(async (trx) => {
    ended.signal.throwIfAborted();
    connected.reading = ended;
    const end = connected.pool.connection?.under(ended.signal);
    try {
      return await work(trx);
    } finally {
      end?.();
      connected.reading = undefined;
    }
  });
  try {
    return await Promise.race([found, given]);
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}
