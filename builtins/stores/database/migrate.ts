import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Log } from '../../../host/contract/index.ts';
import { type Database, type Dialect, exclusively, rowsOf } from './database.ts';
import { type LedgerStep, StepLedgers } from './step-ledgers.ts';

/** One step of a schema. It runs once, in a transaction with its row in a ledger. */
interface Step extends LedgerStep {
  readonly up: (trx: Knex.Transaction, dialect: Dialect) => Promise<void>;
}

/** A step that costs speed alone where it is missing. Tables with rows get it without holding writers up, and a failure puts it off to the next start. */
export interface IndexStep extends Omit<Step, 'up'> {
  /** Columns by the name of the index. */
  readonly indexes: (dialect: Dialect) => Readonly<Record<string, readonly IndexPart[]>>;
}

/** A column, or last which rows the index is of. */
type IndexPart = string | { readonly where: string };

/** What stands behind the name of the table. */
function partsText(parts: readonly IndexPart[]): string {
  const [where] = parts.flatMap((part) => (typeof part === 'string' ? [] : [` WHERE ${part.where}`]));
  return `(${parts.filter((part) => typeof part === 'string').join(', ')})${where ?? ''}`;
}

export type Migration = Step | IndexStep;

export interface Schema {
  /** The table of what has been done, `…_schema_migrations`. Beside it stands one of additions. */
  readonly ledger: string;
  /** Whose table of this name is there already, without a ledger, has the first step behind it. */
  readonly table: string;
  /** In ascending order. */
  readonly migrations: readonly Migration[];
}

const POLL_MS = 250;
const TELL_MS = 5000;
const GIVE_UP_MS = 2 * 60 * 1000;
const STEP_LOCK_MS = 5000;
/** Any number: of all programs on one database, only this one takes it. */
const LOCK = 4_716_023_001;

/** Brings a schema up to date, also when several processes begin at once. Throws when the database is newer than this program. */
export async function migrate(database: Database, schema: Schema, log: Log, now: () => number): Promise<void> {
  const run = (): Promise<void> => migrateAlone(database, schema, log, now);
  try {
    await (database.dialect.name === 'postgres' ? withLock(database, log, run) : run());
  } catch (cause) {
    throw database.file === undefined ? cause : new Error(`the file ${database.file}`, { cause }); // the driver does not name it
  }
}

async function migrateAlone(database: Database, schema: Schema, log: Log, now: () => number): Promise<void> {
  const { knex, dialect } = database;
  const { ledger, table, migrations } = schema;
  const ledgers = new StepLedgers(ledger, migrations, dialect, now);
  await ledgers.create(knex);
  const begun = await doneSteps(database, ledger, ledgers, log);
  if (!begun) return;
  const missing = migrations.filter(({ version }) => !begun.has(version));
  if (begun.size === 0 && !(await dialect.hasTable(knex, table))) return takeSteps(database, schema, ledgers, missing);
  for (const migration of missing) {
    try {
      if ('indexes' in migration && dialect.name === 'postgres') await buildBeside(database, table, migration);
    } catch (error) {
      log.warn('indexes could not be built, the next start tries again', { table, step: migration.name, error });
      continue;
    }
    await takeSteps(database, schema, ledgers, [migration]);
  }
}

/** Takes steps in one transaction, but for those that another process has taken meanwhile: tables that are new get all of theirs at once. */
function takeSteps(
  database: Database,
  { ledger, table }: Schema,
  ledgers: StepLedgers,
  steps: readonly Migration[],
): Promise<void> {
  const { dialect } = database;
  return exclusively(database, ledger, async (trx) => {
    if (dialect.name === 'postgres')
      await trx.raw(`SET LOCAL lock_timeout = ${STEP_LOCK_MS}; SET LOCAL statement_timeout = 0`);
    const { versions } = await ledgers.done(trx);
    let isAdopted = versions.size === 0 && (await dialect.hasTable(trx, table));
    for (const migration of steps) {
      if (versions.has(migration.version)) continue;
      if (!isAdopted)
        await ('up' in migration ? migration.up(trx, dialect) : buildIndexes(trx, table, migration.indexes(dialect)));
      isAdopted = false; // only the first step may be there without a row
      await ledgers.record(trx, migration);
    }
  });
}

/** Which steps are behind it. `undefined` where a newer program has added something: what of this one's steps is missing is left to that one. */
function doneSteps(
  database: Database,
  ledger: string,
  ledgers: StepLedgers,
  log: Log,
): Promise<ReadonlySet<number> | undefined> {
  return exclusively(database, ledger, async (trx) => {
    const { versions, unknown } = await ledgers.done(trx);
    if (unknown.length === 0) {
      await ledgers.require(trx);
      return versions;
    }
    log.info('the database is newer', { ledger, steps: unknown.join(', ') });
    return undefined;
  });
}

async function buildIndexes(
  trx: Knex.Transaction,
  table: string,
  indexes: ReturnType<IndexStep['indexes']>,
): Promise<void> {
  for (const [name, columns] of Object.entries(indexes))
    await trx.raw(`CREATE INDEX IF NOT EXISTS ${name} ON ${table} ${partsText(columns)}`);
}

/**
 * Builds the indexes that a table with rows lacks while others read and write, which no transaction may do, on one connection without the
 * bound of statements. An index that a build has left unusable is built again.
 */
async function buildBeside(
  { knex, dialect, isPooled }: Database,
  table: string,
  { indexes }: IndexStep,
): Promise<void> {
  if (!(await dialect.hasTable(knex, table)) || !(await knex(table).select(knex.raw('1')).first())) return;
  await onConnection(knex, async (run) => {
    const set = isPooled ? [] : [`SET lock_timeout = ${STEP_LOCK_MS}`, 'SET statement_timeout = 0'];
    for (const setting of set) await run(setting);
    try {
      for (const [name, columns] of Object.entries(indexes(dialect))) {
        const [built] = await run('SELECT indisvalid AS usable FROM pg_index WHERE indexrelid = to_regclass(?)', name);
        if (built?.['usable'] === false) await run(`DROP INDEX CONCURRENTLY ${name}`);
        if (built?.['usable'] !== true)
          await run(`CREATE INDEX CONCURRENTLY ${name} ON ${table} ${partsText(columns)}`);
      }
    } finally {
      if (!isPooled) await run('RESET ALL');
    }
  });
}

/** One statement on a connection that is kept. */
type Run = (sql: string, ...bound: readonly (string | number)[]) => Promise<readonly Record<string, unknown>[]>;

/** Does several things on one connection, outside of any transaction. */
async function onConnection<T>(knex: Knex, work: (run: Run) => Promise<T>): Promise<T> {
  const connection: unknown = await knex.client.acquireConnection();
  try {
    return await work(async (sql, ...bound) => rowsOf(await knex.raw(sql, [...bound]).connection(connection)));
  } finally {
    await knex.client.releaseConnection(connection);
  }
}

/**
 * One migration at a time, whatever it is of. Waiting in the server would hold other transactions up, so the lock is tried again and again. It
 * is that of a transaction that stays open and reads nothing, so that it is gone with its connection, behind a pooler too, and keeps no index from being built.
 */
function withLock({ knex }: Database, log: Log, work: () => Promise<void>): Promise<void> {
  return knex.transaction(async (trx) => {
    await trx.raw('SET LOCAL idle_in_transaction_session_timeout = 0');
    const isTaken = async (): Promise<boolean> =>
      rowsOf(await trx.raw(`SELECT pg_try_advisory_xact_lock(${LOCK}) AS taken`))[0]?.['taken'] === true; // without values: with some, a portal stays open, and sees its rows as they were
    const begun = performance.now();
    let toldAt = begun;
    while (!(await isTaken())) {
      const at = performance.now();
      if (at - begun > GIVE_UP_MS)
        throw new Error(
          `another process has been migrating this database for ${GIVE_UP_MS / 1000} s; end it, and start again`,
        );
      if (at - toldAt >= TELL_MS) {
        log.info('waiting for another process that migrates the database', {
          seconds: Math.round((at - begun) / 1000),
        });
        toldAt = at;
      }
      await sleep(POLL_MS);
    }
    await work();
  });
}

/** Adds what is not there: a table that was adopted may have it. */
export async function addColumns(
  trx: Knex.Transaction,
  table: string,
  columns: readonly (readonly [name: string, type: string])[],
): Promise<void> {
  for (const [name, type] of columns) {
    if (!(await trx.schema.hasColumn(table, name))) await trx.raw(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`);
  }
}
