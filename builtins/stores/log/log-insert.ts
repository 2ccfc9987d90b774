import type { LogRow } from '../../../host/stores/log/log-repository.ts';
import type { Dialect } from '../database/database.ts';

const WHOLE = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'attempts',
  'bytes_up',
  'bytes_down',
  'same_wire',
] as const;
const AMOUNTS = ['duration_ms', 'ttft_ms', 'cost_usd'] as const;
const TEXTS = [
  'trace_id',
  'stage',
  'model',
  'provider',
  'api_key_id',
  'error_message',
  'ab_label',
  'target',
  'cache',
  'cost_source',
  'catalog_version',
  'surface',
  'client_wire',
  'upstream_request_id',
  'session_id',
  'decision',
] as const;
const COLUMNS = ['created_at', ...TEXTS, ...WHOLE, ...AMOUNTS] as const;

/** In the order of the columns. Written out: to read members by a name that changes costs several times as much. */
const valuesOf = (row: LogRow, createdAt: string): Value[] => [
  createdAt,
  row.trace_id,
  row.stage,
  row.model,
  row.provider,
  row.api_key_id,
  row.error_message,
  row.ab_label,
  row.target,
  row.cache,
  row.cost_source,
  row.catalog_version,
  row.surface,
  row.client_wire,
  row.upstream_request_id,
  row.session_id,
  row.decision,
  row.prompt_tokens,
  row.completion_tokens,
  row.total_tokens,
  row.attempts,
  row.bytes_up,
  row.bytes_down,
  row.same_wire,
  row.duration_ms,
  row.ttft_ms,
  row.cost_usd,
];

type Value = string | number | null;
type Column = (typeof COLUMNS)[number];

/** What the texts of JSON become in Postgres; all others stay texts. */
const TYPES: Readonly<Partial<Record<Column, string>>> = {
  ...typed(WHOLE, 'bigint'),
  ...typed(AMOUNTS, 'double precision'),
  created_at: 'timestamptz',
};

export interface Insertion {
  readonly sql: string;
  readonly bindings: readonly Value[];
}

/**
 * One statement that writes all the rows, of which there is at least one, in their order. A column in which all of them agree, as they do in most that
 * a request leaves empty, is one parameter. The others come as one JSON text, a list of the rows, which the database reads: a thousand
 * rows cost this process one text, and the database only what differs.
 */
export function insertion({ name, time }: Dialect, table: string, rows: readonly LogRow[]): Insertion {
  const timeOf = repeating(time);
  const lists = rows.map((row) => valuesOf(row, timeOf(row.created_at)));
  const [first = []] = lists;
  const places = COLUMNS.keys().toArray();
  const differing = places.filter((at) => lists.some((list) => list[at] !== first[at]));
  const shared = places.filter((at) => !differing.includes(at));
  const namesAt = (at: readonly number[]): Column[] => COLUMNS.filter((_name, place) => at.includes(place));
  const [sharedNames, differingNames] = [namesAt(shared), namesAt(differing)];
  return {
    sql: `INSERT INTO ${table} (${[...sharedNames, ...differingNames].join(', ')}) SELECT ${name === 'sqlite' ? onSqlite(sharedNames, differingNames) : onPostgres(sharedNames, differingNames)}`,
    bindings: [
      ...shared.map((at) => first[at] ?? null),
      JSON.stringify(lists.map((list) => differing.map((at) => list[at]))),
    ],
  };
}

/** The binary form: each value is found without reading the text again. Rows come in the order of the list, and to ask for it would sort them. */
const onSqlite = (shared: readonly Column[], differing: readonly Column[]): string =>
  `${[...shared.map(() => '?'), ...differing.map((_column, at) => `value ->> ${at}`)].join(', ')} FROM jsonb_each(?)`;

function onPostgres(shared: readonly Column[], differing: readonly Column[]): string {
  const typeOf = (column: Column): string => TYPES[column] ?? 'text';
  const values = [
    ...shared.map((column) => `?::${typeOf(column)}`),
    ...differing.map((column, at) => `(line ->> ${at})::${typeOf(column)}`),
  ];
  return `${values.join(', ')} FROM json_array_elements(?::json) WITH ORDINALITY AS given (line, number) ORDER BY number`;
}

/** Many rows come in one millisecond: a moment that is that of the row before is not written again. */
function repeating(time: Dialect['time']): (moment: number) => string {
  let last = NaN;
  let text = '';
  return (moment) => {
    if (moment !== last) {
      last = moment;
      text = time(moment);
    }
    return text;
  };
}

function typed(columns: readonly Column[], type: string): Partial<Record<Column, string>> {
  return Object.fromEntries(columns.map((column) => [column, type]));
}
