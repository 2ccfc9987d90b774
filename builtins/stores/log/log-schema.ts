import { COUNT_STEPS, LATER_COUNT_STEPS } from './log-counts.ts';
import { TRACE_STEPS } from './log-traces.ts';
import { addColumns, type Schema } from '../database/migrate.ts';

const TABLE = 'request_logs';

/** The table of log rows (docs/reference/admin.md#tables). The column `decision` holds JSON: how the request was routed. */
export const LOG_SCHEMA: Schema = {
  ledger: 'request_log_schema_migrations',
  table: TABLE,
  migrations: [
    {
      version: 1,
      name: 'request log',
      up: async (trx, { moment, serial, integer }) => {
        await trx.raw(`CREATE TABLE ${TABLE} (
          id ${serial}, trace_id TEXT, stage TEXT NOT NULL, model TEXT, provider TEXT,
          prompt_tokens ${integer} NOT NULL, completion_tokens ${integer} NOT NULL, total_tokens ${integer} NOT NULL,
          error_message TEXT, created_at ${moment} NOT NULL)`);
      },
    },
    {
      version: 2,
      name: 'times, cost, credential and route of a request',
      up: (trx, { integer }) =>
        addColumns(trx, TABLE, [
          ['duration_ms', 'DOUBLE PRECISION'],
          ['ttft_ms', 'DOUBLE PRECISION'],
          ['cost_usd', 'DOUBLE PRECISION'],
          ['api_key_id', 'TEXT'],
          ['ab_label', 'TEXT'],
          ['target', 'TEXT'],
          ['cache', 'TEXT'],
          ['catalog_version', 'TEXT'],
          ['attempts', integer],
          ['bytes_up', integer],
          ['bytes_down', integer],
          ['decision', 'TEXT'],
        ]),
    },
    {
      version: 3,
      name: 'indexes of the request log',
      indexes: () => ({
        request_logs_created: ['created_at', 'id'],
        request_logs_trace: ['trace_id', 'stage'],
        ...Object.fromEntries(
          ['stage', 'model', 'provider', 'api_key_id'].map((column) => [
            `request_logs_${column}`,
            [column, 'created_at', 'id'],
          ]),
        ),
      }),
    },
    ...COUNT_STEPS,
    {
      version: 6,
      name: 'clients that speak a wire of their own',
      up: (trx, { integer }) =>
        addColumns(trx, TABLE, [
          ['surface', 'TEXT'],
          ['client_wire', 'TEXT'],
          ['same_wire', integer],
          ['upstream_request_id', 'TEXT'],
          ['session_id', 'TEXT'],
        ]),
    },
    ...TRACE_STEPS,
    ...LATER_COUNT_STEPS,
    { version: 10, name: 'source of a cost', up: (trx) => addColumns(trx, TABLE, [['cost_source', 'TEXT']]) },
  ],
};
