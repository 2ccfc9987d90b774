import { type LogColumnName, LOG_COLUMN_LIST, LOG_COLUMNS } from '../../../host/contract/log-columns.ts';
import type { LogRow } from '../../../host/stores/log/log-repository.ts';
import { valuesOf } from '../../../host/stores/log/log-row.ts';
import type { Dialect } from '../database/database.ts';
import type { Bound, Part } from '../database/numbered-writes.ts';

const COLUMNS: readonly LogColumnName[] = LOG_COLUMN_LIST.map(([name]) => name);

/** What the texts of JSON become in Postgres. */
const CASTS = {
  text: 'text',
  json: 'text',
  list: 'text',
  integer: 'bigint',
  boolean: 'bigint',
  real: 'double precision',
  moment: 'timestamptz',
} as const;

export interface Insertion {
  readonly sql: string;
  readonly bindings: readonly Bound[];
}

/** Part of a statement of Postgres that stands before the rows, and what must hold for them to be written. */
export interface Guard {
  readonly before: Part;
  readonly holds: string;
}

/** Every call counts. */
const UNGUARDED: Guard = { before: { sql: '', bindings: [] }, holds: 'TRUE' };

/**
 * One statement that writes all the rows, of which there is at least one, in their order. A column in which all of them agree, as they do in most that
 * a request leaves empty, is one parameter. The others come as one JSON text, a list of the rows, which the database reads: a thousand
 * rows cost this process one text, and the database only what differs.
 */
export function insertion(
  { name, time }: Dialect,
  table: string,
  rows: readonly LogRow[],
  { before, holds }: Guard = UNGUARDED,
): Insertion {
  const timeOf = repeating(time);
  const lists = rows.map((row) => valuesOf(row, timeOf(row.created_at)));
  const [first = []] = lists;
  const places = COLUMNS.keys().toArray();
  const differing = places.filter((at) => lists.some((list) => list[at] !== first[at]));
  const shared = places.filter((at) => !differing.includes(at));
  const namesAt = (at: readonly number[]): LogColumnName[] => COLUMNS.filter((_name, place) => at.includes(place));
  const [sharedNames, differingNames] = [namesAt(shared), namesAt(differing)];
  return {
    sql: `${before.sql} INSERT INTO ${table} (${[...sharedNames, ...differingNames].join(', ')}) SELECT ${name === 'sqlite' ? onSqlite(sharedNames, differingNames) : onPostgres(sharedNames, differingNames, holds)}`,
    bindings: [
      ...before.bindings,
      ...shared.map((at) => first[at] ?? null),
      JSON.stringify(lists.map((list) => differing.map((at) => list[at]))),
    ],
  };
}

/** The binary form: each value is found without reading the text again. Rows come in the order of the list, and to ask for it would sort them. */
const onSqlite = (shared: readonly LogColumnName[], differing: readonly LogColumnName[]): string =>
  `${[...shared.map(() => '?'), ...differing.map((_column, at) => `value ->> ${at}`)].join(', ')} FROM jsonb_each(?)`;

function onPostgres(shared: readonly LogColumnName[], differing: readonly LogColumnName[], holds: string): string {
  const typeOf = (column: LogColumnName): string => CASTS[LOG_COLUMNS[column].kind];
  const values = [
    ...shared.map((column) => `?::${typeOf(column)}`),
    ...differing.map((column, at) => `(line ->> ${at})::${typeOf(column)}`),
  ];
  return `${values.join(', ')} FROM json_array_elements(?::json) WITH ORDINALITY AS given (line, number) WHERE ${holds} ORDER BY number`;
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
