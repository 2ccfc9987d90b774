import type { LogFilters } from '../../host/stores/log-repository.ts';
import type { Database, Dialect } from './database.ts';
import type { Migration } from './migrate.ts';

const ROWS = 'request_logs';
const COUNTS = 'request_log_counts';

/**
 * How many rows there are of each stage, so that a page of a million rows tells their number without counting them. Triggers keep
 * the counts, in the transaction of the rows: so they hold for every writer, also a replica of another version.
 */
export const COUNT_STEPS: readonly Migration[] = [
  {
    version: 4,
    name: 'counts of the request log',
    up: async (trx, { name, integer }) => {
      await trx.raw(`CREATE TABLE IF NOT EXISTS ${COUNTS} (stage TEXT PRIMARY KEY, entries ${integer} NOT NULL)`);
      for (const statement of TRIGGERS[name]) await trx.raw(statement);
    },
  },
  {
    // A step of its own: counting takes a while, and must not hold up those who write.
    version: 5,
    name: 'counts of the rows that were there before',
    up: async (trx) => { await trx.raw(added(`SELECT stage, count(*) AS entries FROM ${ROWS} GROUP BY stage UNION ALL SELECT stage, -entries FROM ${COUNTS}`)); },
  },
];

/** Adds up what `source` says of each stage, always in one order: two that write would else wait for each other. */
const added = (source: string): string => `INSERT INTO ${COUNTS} (stage, entries) SELECT stage, sum(entries) FROM (${source}) AS given GROUP BY stage ORDER BY stage
  ON CONFLICT (stage) DO UPDATE SET entries = ${COUNTS}.entries + excluded.entries`;

/** Row by row, so as short as can be. */
const onSqlite = (moment: string, event: string, ...values: readonly string[]): string => `CREATE TRIGGER IF NOT EXISTS ${ROWS}_${moment} AFTER ${event} ON ${ROWS} BEGIN
  ${values.map((value) => `INSERT INTO ${COUNTS} (stage, entries) VALUES (${value}) ON CONFLICT (stage) DO UPDATE SET entries = entries + excluded.entries;`).join(' ')} END`;

const onPostgres = (moment: string, event: string, how: string): readonly string[] => [
  `DROP TRIGGER IF EXISTS ${ROWS}_${moment} ON ${ROWS}`,
  `CREATE TRIGGER ${ROWS}_${moment} AFTER ${event} ON ${ROWS} ${how} EXECUTE FUNCTION ${ROWS}_count()`,
];

const TRIGGERS: Readonly<Record<Dialect['name'], readonly string[]>> = {
  sqlite: [
    onSqlite('added', 'INSERT', 'NEW.stage, 1'),
    onSqlite('deleted', 'DELETE', 'OLD.stage, -1'),
    onSqlite('moved', 'UPDATE OF stage', 'OLD.stage, -1', 'NEW.stage, 1'),
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

/** Whether the counts answer how many rows these filters leave. */
export function areCounted({ model, provider, apiKeyId, since, before }: LogFilters): boolean {
  return model === undefined && provider === undefined && apiKeyId === undefined && since === undefined && before === undefined;
}

/** All rows of some stages; without any, of every one. It fails where the rows are gone, as counting them would. */
export async function countedRows({ knex }: Database, stages: readonly string[]): Promise<number> {
  const counts = knex(COUNTS);
  if (stages.length > 0) void counts.whereIn('stage', stages);
  const { total } = await counts.first(knex.raw(`sum(entries) AS total, EXISTS (SELECT 1 FROM ${ROWS}) AS has_rows`)) as { readonly total: unknown };
  return Number(total ?? 0);
}
