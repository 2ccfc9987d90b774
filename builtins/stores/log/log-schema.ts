import type { LogColumnKind } from '../../../host/contract/log-column.ts';
import { LOG_COLUMN_LIST, LOG_COLUMN_STEPS } from '../../../host/contract/log-columns.ts';
import type { Dialect } from '../database/database.ts';
import { addColumns, type Migration, type Schema } from '../database/migrate.ts';
import { COUNT_STEPS, LATER_COUNT_STEPS } from './log-counts.ts';
import { QUARTER_STEPS } from './quarters/quarter-schema.ts';
import { TRACE_STEPS } from './log-traces.ts';

const TABLE = 'request_logs';

function typeOf(kind: LogColumnKind, { moment, integer }: Dialect): string {
  const types = {
    text: 'TEXT',
    json: 'TEXT',
    list: 'TEXT',
    integer,
    boolean: integer,
    real: 'DOUBLE PRECISION',
    moment,
  } as const;
  return types[kind];
}

const columnsSince = (version: number): typeof LOG_COLUMN_LIST =>
  LOG_COLUMN_LIST.filter(([, { since }]) => since === version);

const FIRST: Migration = {
  version: 1,
  name: 'request log',
  readsFrom: null,
  up: async (trx, dialect) => {
    const columns = columnsSince(1).map(
      ([name, { kind, isRequired }]) => `${name} ${typeOf(kind, dialect)}${isRequired ? ' NOT NULL' : ''}`,
    );
    await trx.raw(`CREATE TABLE ${TABLE} (id ${dialect.serial}, ${columns.join(', ')})`);
  },
};

const INDEXES: Migration = {
  version: 3,
  name: 'indexes of the request log',
  readsFrom: null, // every program that has this table knows it, and the columns of step 2
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
};

const FAILURES: Migration = {
  version: 17,
  name: 'an index of failures',
  readsFrom: 3,
  indexes: () => ({ request_logs_failed: ['created_at', 'id', { where: "coalesce(error_message, '') <> ''" }] }),
};

/** The newest step that every program with this table knows. */
const KNOWN = 3;

/** Programs name the columns that they write and read, so that one which does not know a column leaves it null. */
const ADDED: readonly Migration[] = Object.entries(LOG_COLUMN_STEPS).map(([version, name]) => ({
  version: Number(version),
  name,
  readsFrom: Number(version) <= KNOWN ? null : KNOWN,
  up: (trx, dialect) =>
    addColumns(
      trx,
      TABLE,
      columnsSince(Number(version)).map(([name, { kind }]) => [name, typeOf(kind, dialect)]),
    ),
}));

/** The table of log rows (docs/reference/admin.md#tables). What a step adds to the table stands in `host/contract/log-columns.ts`. */
export const LOG_SCHEMA: Schema = {
  ledger: 'request_log_schema_migrations',
  table: TABLE,
  migrations: [
    FIRST,
    INDEXES,
    ...ADDED,
    ...COUNT_STEPS,
    ...TRACE_STEPS,
    ...LATER_COUNT_STEPS,
    ...QUARTER_STEPS,
    FAILURES,
  ].toSorted((a, b) => a.version - b.version),
};
