import { TERMINAL_STAGES } from '../../../../host/stores/log/log-repository.ts';
import type { LogValues, ValuesQuestion } from '../../../../host/stores/log/log-values.ts';
import type { Row } from '../../key-rows.ts';
import { SLOT_MS, SUMMED } from './quarter-schema.ts';
import { type Asked, type Filtered, oneState, sumsBy } from './quarter-sums.ts';

/**
 * What stands in a column, by how many requests have it. Older rows that are not summed up yet are left out: they would have to be read one by one,
 * for a list of suggestions.
 */
export async function valuesOf(
  asked: Asked,
  filtered: Filtered,
  { field, part, since, before, most }: ValuesQuestion,
): Promise<LogValues> {
  const { knex, dialect } = asked;
  const window = { stages: TERMINAL_STAGES, since, before };
  const summed = await oneState(asked, window);
  const kept = (await knex(SUMMED).select('from_slot').first()) as Row | undefined;
  const from = Number(kept?.['from_slot'] ?? 0) * SLOT_MS;
  const filters = { ...window, since: Math.max(since, from) };
  const sums = sumsBy(asked, filtered, { filters, by: [field] }, summed);
  const value = field === 'status' ? `CAST(${field} AS TEXT)` : field;
  const query = knex
    .from(sums.as('sums'))
    .select(knex.raw(`${value} AS value`), 'count')
    .whereRaw(field === 'status' ? 'status <> 0' : `${field} <> ''`)
    .orderByRaw('2 DESC, 1')
    .limit(most);
  if (part !== undefined) void query.whereRaw(dialect.holds(value), [part]);
  const rows = (await query) as Row[];
  return {
    values: rows.map(({ value: text, count }) => ({ value: String(text), count: Number(count) })),
    isPartial: from > since,
  };
}
