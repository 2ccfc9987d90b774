import type { Knex } from 'knex';
import type { LogSearch } from '../../../host/stores/log/log-search.ts';
import type { Dialect } from '../database/database.ts';

const IS_FAILED = "(stage = 'on_error' OR coalesce(error_message, '') <> '')";
/** The outcome of a row; those of before there were outcomes say it by their error. */
export const OUTCOME = `coalesce(outcome, CASE WHEN ${IS_FAILED} THEN 'unknown' ELSE 'ok' END)`;

/** How the two databases find a text in another one, and fold the case of the letters A to Z alone. */
const DIALECTS: Readonly<Record<Dialect['name'], { readonly find: string; readonly fold: (text: string) => string }>> =
  {
    sqlite: { find: 'instr', fold: (text) => `lower(${text})` },
    postgres: { find: 'strpos', fold: (text) => `lower(${text} COLLATE "C")` },
  };

/** Leaves the rows that a search asks for; by their trace they are found elsewhere (`rowsOfTrace`). */
export function searched(query: Knex.QueryBuilder, search: LogSearch, dialect: Dialect['name']): Knex.QueryBuilder {
  const { statuses, codes, outcomes, equal = {}, metadata = {}, minDurationMs, minCostUsd, text } = search;
  const { find, fold } = DIALECTS[dialect];
  if (statuses)
    void query.where((any) => {
      for (const range of statuses) void any.orWhereBetween('status', range);
    });
  if (codes) void query.whereIn('code', codes);
  if (outcomes) void query.whereRaw(`${OUTCOME} IN (${outcomes.map(() => '?').join(', ')})`, outcomes);
  for (const [column, value] of Object.entries(equal)) if (value !== undefined) void query.where({ [column]: value });
  for (const [name, value] of Object.entries(metadata)) {
    // The text of an entry stands nowhere else in JSON without blanks: inside of a text its quotes would be escaped.
    const entry = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
    void query.whereRaw(`(${find}(metadata, ?) > 0 OR ${find}(metadata, ?) > 0)`, [`{${entry}`, `,${entry}`]);
  }
  if (minDurationMs !== undefined) void query.where('duration_ms', '>=', minDurationMs);
  if (minCostUsd !== undefined) void query.where('cost_usd', '>=', minCostUsd);
  if (text !== undefined) {
    const part = text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
    const isIn = (column: string): string => `${find}(${fold(column)}, ?) > 0`;
    void query.whereRaw(`(${isIn('error_message')} OR ${isIn('upstream_message')})`, [part, part]);
  }
  return query;
}
