import type { Knex } from 'knex';
import type { Migration } from '../database/migrate.ts';

const ROWS = 'request_logs';

/**
 * By what SQLite finds the rows of a trace: the end of its id, the part of it that is random where a part is not (W3C Trace Context
 * level 2, section 3.2.2.3), in each block of 4096 rows. A random id falls anywhere into an index, so that a batch of rows would write most
 * of its pages again; of this one it writes the newest block.
 */
const BLOCK = '(id >> 12)';
const END = 'substr(trace_id, -8)';
const INDEX = 'request_logs_trace_block';

export const TRACE_STEPS: readonly Migration[] = [
  {
    version: 7,
    name: 'a shorter index of traces',
    readsFrom: 3,
    up: async (trx, { name }) => {
      if (name !== 'sqlite') return;
      await trx.raw('DROP INDEX IF EXISTS request_logs_trace');
      await trx.raw(`CREATE INDEX IF NOT EXISTS request_logs_trace_end ON ${ROWS} (${END})`);
    },
  },
  {
    version: 8,
    name: 'an index of traces in blocks of rows',
    readsFrom: { sqlite: null, postgres: 3 }, // programs of step 7 name the index that goes
    up: async (trx, { name }) => {
      if (name !== 'sqlite') return;
      await trx.raw('DROP INDEX IF EXISTS request_logs_trace_end');
      await trx.raw(`CREATE INDEX IF NOT EXISTS ${INDEX} ON ${ROWS} (${BLOCK}, ${END})`);
    },
  },
];

/** All blocks that hold rows, the newest first. */
const BLOCKS = `WITH RECURSIVE block (number) AS (
  SELECT max(id) >> 12 FROM ${ROWS} UNION ALL SELECT number - 1 FROM block WHERE number > (SELECT min(id) >> 12 FROM ${ROWS})
) SELECT number FROM block`;

/** The rows of a trace. The query names the index to SQLite, which would else look through all rows of a stage where one is asked for too. */
export function rowsOfTrace(knex: Knex, traceId: string, isSqlite: boolean): Knex.QueryBuilder {
  if (!isSqlite) return knex(ROWS).where({ trace_id: traceId });
  return knex(knex.raw(`${ROWS} INDEXED BY ${INDEX}`))
    .where({ trace_id: traceId })
    .whereRaw(`${BLOCK} IN (${BLOCKS}) AND ${END} = substr(?, -8)`, [traceId]);
}
