import type { Dialect } from '../../database/database.ts';
import type { Migration } from '../../database/migrate.ts';

export const ROWS = 'request_logs';
export const QUARTERS = 'request_log_quarters';
/** Slots whose rows were changed or deleted after they had been summed up. */
export const STALE = 'request_log_stale';
/** Slots that are summed up, from the first one to before the second one, of rows up to an id. */
export const SUMMED = 'request_log_summed';

/** A quarter of an hour: all time zones are multiples of it, so that days and months of each are made of whole ones. */
export const SLOT_MS = 15 * 60 * 1000;
const SLOT_SECONDS = SLOT_MS / 1000;

/** The slot of a moment; of what is not one the first. */
export const slotIn: Readonly<Record<Dialect['name'], (column: string) => string>> = {
  sqlite: (column) => `coalesce(CAST(strftime('%s', ${column}) AS INTEGER) / ${SLOT_SECONDS}, 0)`,
  postgres: (column) =>
    `CASE WHEN isfinite(${column}) THEN floor(extract(epoch FROM ${column}) / ${SLOT_SECONDS})::bigint ELSE 0 END`,
};

/** Who empties a table may let its ids begin again. */
const IS_EMPTY = `NOT EXISTS (SELECT 1 FROM ${ROWS})`;
const EMPTIED = `DELETE FROM ${QUARTERS} WHERE ${IS_EMPTY}; UPDATE ${SUMMED} SET from_slot = to_slot, up_to = 0 WHERE ${IS_EMPTY};`;

/** Every change counts, also of rows that are not summed up yet: what a trigger sees of that may be older than what holds once it is done. */
const TRIGGERS: Readonly<Record<Dialect['name'], readonly string[]>> = {
  sqlite: (['DELETE', 'UPDATE'] as const).flatMap((event) => [
    `DROP TRIGGER IF EXISTS ${ROWS}_stale_${event.toLowerCase()}`,
    `CREATE TRIGGER ${ROWS}_stale_${event.toLowerCase()} AFTER ${event} ON ${ROWS} BEGIN
    INSERT INTO ${STALE} (slot) SELECT ${slotIn.sqlite('OLD.created_at')}
      WHERE NOT EXISTS (SELECT 1 FROM ${STALE} WHERE slot = ${slotIn.sqlite('OLD.created_at')});
    ${event === 'DELETE' ? EMPTIED : ''} END`,
  ]),
  postgres: [
    `CREATE OR REPLACE FUNCTION ${ROWS}_stale() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
      IF TG_OP = 'TRUNCATE' THEN DELETE FROM ${QUARTERS}; DELETE FROM ${STALE}; UPDATE ${SUMMED} SET from_slot = to_slot, up_to = 0;
      ELSE INSERT INTO ${STALE} (slot) SELECT DISTINCT ${slotIn.postgres('created_at')} FROM changed;
      END IF;
      RETURN NULL;
    END $$`,
    ...['DELETE', 'UPDATE', 'TRUNCATE'].flatMap((event) => [
      `DROP TRIGGER IF EXISTS ${ROWS}_stale_${event.toLowerCase()} ON ${ROWS}`,
      `CREATE TRIGGER ${ROWS}_stale_${event.toLowerCase()} AFTER ${event} ON ${ROWS} ${event === 'TRUNCATE' ? '' : 'REFERENCING OLD TABLE AS changed'} FOR EACH STATEMENT EXECUTE FUNCTION ${ROWS}_stale()`,
    ]),
  ],
};

/** SQLite keeps the lines in this order; an index of Postgres takes no texts as long as names of models may be. */
const ENDS: Readonly<Record<Dialect['name'], string>> = {
  sqlite:
    ', PRIMARY KEY (kind, slot, provider, model, target, surface, api_key_id, code, status, outcome, stage)) WITHOUT ROWID',
  postgres: ')',
};

/** Sums are made once a quarter is over, and begin with the one that runs: of those before they are made one after another. */
export const QUARTER_STEPS: readonly Migration[] = [
  {
    version: 16,
    name: 'sums by quarters of an hour',
    readsFrom: 3, // the triggers mark what older programs change
    up: async (trx, { name, integer }) => {
      const sums = ['count', 'errors', 'unpriced', 'duration_n', 'ttft_n'].map((sum) => `${sum} ${integer} NOT NULL`);
      const amounts = ['prompt', 'completion', 'total', 'cost', 'duration_sum', 'duration_max', 'ttft_sum', 'ttft_max'];
      await trx.raw(`CREATE TABLE IF NOT EXISTS ${QUARTERS} (slot ${integer} NOT NULL, kind ${integer} NOT NULL,
        provider TEXT NOT NULL, model TEXT NOT NULL, target TEXT NOT NULL, surface TEXT NOT NULL, api_key_id TEXT NOT NULL,
        code TEXT NOT NULL, status ${integer} NOT NULL, outcome TEXT NOT NULL, stage TEXT NOT NULL,
        ${[...sums, ...amounts.map((amount) => `${amount} DOUBLE PRECISION`)].join(', ')}${ENDS[name]}`);
      if (name === 'postgres') await trx.raw(`CREATE INDEX IF NOT EXISTS ${QUARTERS}_slot ON ${QUARTERS} (kind, slot)`);
      await trx.raw(`CREATE TABLE IF NOT EXISTS ${STALE} (slot ${integer} NOT NULL)`);
      await trx.raw(`CREATE INDEX IF NOT EXISTS ${STALE}_slot ON ${STALE} (slot)`);
      await trx.raw(
        `CREATE TABLE IF NOT EXISTS ${SUMMED} (from_slot ${integer} NOT NULL, to_slot ${integer} NOT NULL, up_to ${integer} NOT NULL)`,
      );
      const now = slotIn[name](name === 'sqlite' ? "'now'" : 'now()');
      for (const table of [SUMMED, QUARTERS, STALE]) await trx.raw(`DELETE FROM ${table}`); // of a table that is adopted
      await trx.raw(`INSERT INTO ${SUMMED} (from_slot, to_slot, up_to) VALUES (${now}, ${now}, 0)`);
      for (const statement of TRIGGERS[name]) await trx.raw(statement);
    },
  },
];
