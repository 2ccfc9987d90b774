import type { Knex } from 'knex';
import type { LogFilters } from '../../../host/stores/log/log-repository.ts';
import type { Database, Dialect } from '../database/database.ts';
import type { Migration } from '../database/migrate.ts';

const ROWS = 'request_logs';
const COUNTS = 'request_log_counts';

/** The id up to which the counts of SQLite hold; what has a higher one is counted when it is asked for. */
const COUNTED = 'request_log_counted';
/** Rows after which they are counted in. Looking at so many takes a millisecond or two. */
const COUNT_EVERY = 4096;

/**
 * How many rows there are of each stage, so that a page of a million rows tells their number without counting them. They hold for every
 * writer, also a replica of another version. In Postgres triggers keep them, one call for each statement. SQLite would call
 * one for each row, and keep the rows of a statement aside for it, which costs a fifth of writing them: there new rows, those of higher ids,
 * are counted in from time to time, and triggers keep the counts of those that leave. Rows that someone puts back there under ids that are
 * counted are not counted again.
 */
export const COUNT_STEPS: readonly Migration[] = [
  {
    version: 4,
    name: 'counts of the request log',
    readsFrom: 3,
    up: async (trx, { name, integer }) => {
      await trx.raw(`CREATE TABLE IF NOT EXISTS ${COUNTS} (stage TEXT PRIMARY KEY, entries ${integer} NOT NULL)`);
      for (const statement of TRIGGERS[name]) await trx.raw(statement);
    },
  },
  {
    // A step of its own: counting takes a while, and must not hold up those who write.
    version: 5,
    name: 'counts of the rows that were there before',
    readsFrom: 3,
    up: async (trx) => {
      await trx.raw(
        added(
          `SELECT stage, count(*) AS entries FROM ${ROWS} GROUP BY stage UNION ALL SELECT stage, -entries FROM ${COUNTS}`,
        ),
      );
    },
  },
];

export const LATER_COUNT_STEPS: readonly Migration[] = [
  {
    version: 9,
    name: 'new rows of the request log are counted together',
    readsFrom: { sqlite: null, postgres: 3 }, // programs of step 4 expect that the file counts every new row by itself
    up: async (trx, { name, integer }) => {
      if (name !== 'sqlite') return;
      await trx.raw(`CREATE TABLE IF NOT EXISTS ${COUNTED} (up_to ${integer} NOT NULL)`);
      await trx.raw(`DELETE FROM ${COUNTED}`); // of a table that is adopted
      await trx.raw(`INSERT INTO ${COUNTED} (up_to) SELECT coalesce(max(id), 0) FROM ${ROWS}`);
      for (const moment of ['added', 'deleted', 'moved']) await trx.raw(`DROP TRIGGER IF EXISTS ${ROWS}_${moment}`);
      for (const statement of COUNTED_TRIGGERS) await trx.raw(statement);
    },
  },
];

/** Adds up what `source` says of each stage, always in one order: two that write would else wait for each other. */
const added = (
  source: string,
): string => `INSERT INTO ${COUNTS} (stage, entries) SELECT stage, sum(entries) FROM (${source}) AS given GROUP BY stage ORDER BY stage
  ON CONFLICT (stage) DO UPDATE SET entries = ${COUNTS}.entries + excluded.entries`;

/** Row by row, so as short as can be. */
const onSqlite = (
  moment: string,
  event: string,
  ...values: readonly string[]
): string => `CREATE TRIGGER IF NOT EXISTS ${ROWS}_${moment} AFTER ${event} BEGIN
  ${values.map((value) => `INSERT INTO ${COUNTS} (stage, entries) VALUES (${value}) ON CONFLICT (stage) DO UPDATE SET entries = entries + excluded.entries;`).join(' ')} END`;

const onPostgres = (moment: string, event: string, how: string): readonly string[] => [
  `DROP TRIGGER IF EXISTS ${ROWS}_${moment} ON ${ROWS}`,
  `CREATE TRIGGER ${ROWS}_${moment} AFTER ${event} ON ${ROWS} ${how} EXECUTE FUNCTION ${ROWS}_count()`,
];

const TRIGGERS: Readonly<Record<Dialect['name'], readonly string[]>> = {
  sqlite: [
    onSqlite('added', `INSERT ON ${ROWS}`, 'NEW.stage, 1'),
    onSqlite('deleted', `DELETE ON ${ROWS}`, 'OLD.stage, -1'),
    onSqlite('moved', `UPDATE OF stage ON ${ROWS}`, 'OLD.stage, -1', 'NEW.stage, 1'),
  ],
  postgres: [
    `CREATE OR REPLACE FUNCTION ${ROWS}_count() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
      IF TG_OP = 'INSERT' THEN ${added('SELECT stage, 1 AS entries FROM changed')};
      ELSIF TG_OP = 'DELETE' THEN ${added('SELECT stage, -1 AS entries FROM changed')};
      ELSIF TG_OP = 'UPDATE' THEN ${added('SELECT OLD.stage AS stage, -1 AS entries UNION ALL SELECT NEW.stage, 1')};
      ELSE DELETE FROM ${COUNTS};
      END IF;
      RETURN NULL;
    END $$`,
    ...onPostgres('added', 'INSERT', 'REFERENCING NEW TABLE AS changed FOR EACH STATEMENT'),
    ...onPostgres('deleted', 'DELETE', 'REFERENCING OLD TABLE AS changed FOR EACH STATEMENT'),
    ...onPostgres('moved', 'UPDATE OF stage', 'FOR EACH ROW WHEN (OLD.stage <> NEW.stage)'),
    ...onPostgres('emptied', 'TRUNCATE', 'FOR EACH STATEMENT'),
  ],
};

const IS_COUNTED = `OLD.id <= (SELECT up_to FROM ${COUNTED})`;

/** For rows that are counted. Who empties a table may let its ids begin again. */
const COUNTED_TRIGGERS: readonly string[] = [
  `CREATE TRIGGER ${ROWS}_deleted AFTER DELETE ON ${ROWS} BEGIN
    INSERT INTO ${COUNTS} (stage, entries) SELECT OLD.stage, -1 WHERE ${IS_COUNTED} ON CONFLICT (stage) DO UPDATE SET entries = entries - 1;
    UPDATE ${COUNTED} SET up_to = 0 WHERE NOT EXISTS (SELECT 1 FROM ${ROWS}); END`,
  onSqlite('moved', `UPDATE OF stage ON ${ROWS} WHEN ${IS_COUNTED}`, 'OLD.stage, -1', 'NEW.stage, 1'),
];

/** By their ids: of several stages SQLite would else look through the index of all rows of each. */
const NEW_ROWS_OF = `${ROWS} NOT INDEXED`;

/** Whether the counts answer how many rows these filters leave. */
export function areCounted({ stages: _any, ...others }: LogFilters): boolean {
  return Object.values(others).every((value) => value === undefined);
}

/** All rows of some stages; without any, of every one. It fails where the rows are gone, as counting them would. */
export async function countedRows(
  { knex, dialect: { name } }: Pick<Database, 'knex' | 'dialect'>,
  stages: readonly string[],
): Promise<number> {
  const ofStages = (query: Knex.QueryBuilder): Knex.QueryBuilder =>
    stages.length > 0 ? query.whereIn('stage', stages) : query;
  const counted = ofStages(knex(COUNTS)).select(knex.raw('sum(entries)'));
  const others =
    name === 'sqlite'
      ? ofStages(knex(knex.raw(NEW_ROWS_OF)))
          .where('id', '>', knex(COUNTED).select('up_to'))
          .select(knex.raw('count(*)'))
      : knex.raw('0');
  const { counted: known, others: more } = (await knex.first({
    counted,
    others,
    has_rows: knex.raw(`(SELECT EXISTS (SELECT 1 FROM ${ROWS}))`),
  })) as Readonly<Record<string, unknown>>;
  return Number(known ?? 0) + Number(more);
}

/**
 * Whether an id is among the oldest: of those beyond as many as are kept, the second value, so many at most, the first one. They are counted by
 * the statement that deletes them, so that two processes that do so at the same time delete no more than one. Postgres does not know how
 * many they will be, and would read the whole table for a plain `IN`.
 */
export function isOldestBeyond({ dialect: { name } }: Pick<Database, 'dialect'>): string {
  const kept = `SELECT coalesce(sum(entries), 0) FROM ${COUNTS}`;
  const oldest = (surplus: string): string => `(SELECT id FROM ${ROWS} ORDER BY id LIMIT ${surplus})`;
  return name === 'postgres'
    ? `= ANY (ARRAY${oldest(`CAST(greatest(0, least(?, (${kept}) - ?)) AS BIGINT)`)})`
    : `IN ${oldest(`max(0, min(?, (${kept}) + (SELECT count(*) FROM ${NEW_ROWS_OF} WHERE id > (SELECT up_to FROM ${COUNTED})) - ?))`)}`;
}

/** Counts in what SQLite has got, after every so many rows. Where that fails it is done the next time: until then more is counted when it is asked for. */
export class NewRows {
  readonly #database: Database;
  #uncounted = COUNT_EVERY; // those that an earlier process left

  constructor(database: Database) {
    this.#database = database;
  }

  wrote(rows: number): void {
    this.#uncounted += rows;
  }

  async settle(): Promise<void> {
    if (this.#uncounted < COUNT_EVERY || this.#database.dialect.name !== 'sqlite') return;
    try {
      await this.#countIn();
      this.#uncounted = 0;
    } catch {
      // a busy file, or none any more: the rows are written
    }
  }

  async #countIn(): Promise<void> {
    await this.#database.knex.transaction(async (trx) => {
      await trx.raw(
        added(
          `SELECT stage, count(*) AS entries FROM ${NEW_ROWS_OF} WHERE id > (SELECT up_to FROM ${COUNTED}) GROUP BY stage`,
        ),
      );
      await trx.raw(`UPDATE ${COUNTED} SET up_to = max(up_to, (SELECT coalesce(max(id), 0) FROM ${ROWS}))`);
    });
  }
}
