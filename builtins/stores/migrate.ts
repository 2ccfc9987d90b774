import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Log } from '../../host/contract/index.ts';
import { type Database, type Dialect, exclusively, rowsOf } from './database.ts';

/** One step of a schema. It runs once, in a transaction with its row in the ledger. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly up: (trx: Knex.Transaction, dialect: Dialect) => Promise<void>;
}

export interface Schema {
  /** The table of what has been done. */
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
  const run = (): Promise<void> => migrateAlone(database, schema, now);
  await (database.dialect.name === 'postgres' ? withLock(database, log, run) : run());
}

async function migrateAlone(database: Database, { ledger, table, migrations }: Schema, now: () => number): Promise<void> {
  const { knex, dialect } = database;
  await knex.raw(`CREATE TABLE IF NOT EXISTS ${ledger} (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at ${dialect.moment} NOT NULL)`);
  const record = (trx: Knex.Transaction, { version, name }: Migration): Promise<unknown> => trx(ledger).insert({ version, name, applied_at: dialect.time(now()) });
  for (const migration of migrations) {
    await exclusively(database, ledger, async (trx) => {
      if (dialect.name === 'postgres') await trx.raw(`SET LOCAL lock_timeout = ${STEP_LOCK_MS}; SET LOCAL statement_timeout = 0`);
      const done = new Set((await trx<{ readonly version: number }>(ledger).select('version')).map(({ version }) => version));
      refuseNewer(done, ledger, migrations);
      if (done.has(migration.version)) return;
      const isAdopted = done.size === 0 && await dialect.hasTable(trx, table);
      if (!isAdopted) await migration.up(trx, dialect);
      await record(trx, migration);
    });
  }
}

function refuseNewer(done: ReadonlySet<number>, ledger: string, migrations: readonly Migration[]): void {
  const unknown = [...done].filter((version) => migrations.every((known) => known.version !== version));
  if (unknown.length === 0) return;
  throw new Error(`${ledger} holds version ${unknown.join(', ')}, and this program knows up to ${migrations.at(-1)?.version ?? 0}: a newer gw has used this database; run that one, or restore a copy made before it`);
}

/** One migration at a time, whatever it is of. Waiting in the server would hold other transactions up, so the lock is tried again and again. */
async function withLock({ knex }: Database, log: Log, run: () => Promise<void>): Promise<void> {
  await knex.transaction(async (trx) => {
    const begun = performance.now();
    let toldAt = begun;
    while (!await isTaken(trx)) {
      const at = performance.now();
      if (at - begun > GIVE_UP_MS) throw new Error(`another process has been migrating this database for ${GIVE_UP_MS / 1000} s; end it, and start again`);
      if (at - toldAt >= TELL_MS) {
        log.info('waiting for another process that migrates the database', { seconds: Math.round((at - begun) / 1000) });
        toldAt = at;
      }
      await sleep(POLL_MS);
    }
    await run();
  });
}

async function isTaken(trx: Knex.Transaction): Promise<boolean> {
  const [row] = rowsOf(await trx.raw('SELECT pg_try_advisory_xact_lock(?) AS taken', [LOCK]));
  return row?.['taken'] === true;
}

/** Adds what is not there: a table that was adopted may have it. */
export async function addColumns(trx: Knex.Transaction, table: string, columns: readonly (readonly [name: string, type: string])[]): Promise<void> {
  for (const [name, type] of columns) {
    if (!await trx.schema.hasColumn(table, name)) await trx.raw(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`);
  }
}
