import type { Knex } from 'knex';
import type { LogFilters } from '../../../../host/stores/log/log-repository.ts';
import type { Database } from '../../database/database.ts';
import type { Row } from '../../key-rows.ts';
import { rawColumns, sumOf, SUMS, TIMES } from '../row-sums.ts';
import { DIMENSIONS, type Dimension, kindOf } from './quarter-kinds.ts';
import { QUARTERS, SLOT_MS, slotIn, STALE, SUMMED } from './quarter-schema.ts';

/** What is asked: one connection of a database, where it has several. */
export type Asked = Pick<Database, 'knex' | 'dialect'>;

/** Rows of the request log that filters leave. */
export type Filtered = (filters: LogFilters, table?: string) => Knex.QueryBuilder;

/** More parts of a window that must be read from rows are not worth it. */
const MOST_STALE = 400;

/** Slots from the first to before the second, that are summed up but for some; of rows up to an id. */
export interface SummedSlots {
  readonly from: number;
  readonly to: number;
  readonly upTo: number;
  readonly stale: readonly number[];
}

/** What a window has of sums. One state for all questions of a reading. `undefined` where it has none. */
async function summedIn({ knex }: Asked, { since, before }: LogFilters): Promise<SummedSlots | undefined> {
  const state = (await knex(SUMMED).select('from_slot', 'to_slot', 'up_to').first()) as Row | undefined;
  if (!state) return undefined;
  const from = Math.max(Number(state['from_slot']), since === undefined ? 0 : Math.ceil(since / SLOT_MS));
  const to = Math.min(Number(state['to_slot']), before === undefined ? Infinity : Math.floor(before / SLOT_MS));
  if (from >= to) return undefined;
  const marked = (await knex(STALE)
    .distinct('slot')
    .where('slot', '>=', from)
    .where('slot', '<', to)
    .orderBy('slot')
    .limit(MOST_STALE + 1)) as Row[];
  if (marked.length > MOST_STALE) return undefined;
  return { from, to, upTo: Number(state['up_to']), stale: marked.map(({ slot }) => Number(slot)) };
}

/** All of a reading sees the database as it is now: what is summed up, and what is not, belong together. */
export async function oneState(asked: Asked, filters: LogFilters): Promise<SummedSlots | undefined> {
  if (asked.dialect.name === 'postgres') await asked.knex.raw('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
  return summedIn(asked, filters);
}

export interface SumsQuestion {
  readonly filters: LogFilters;
  readonly by: readonly Dimension[];
  /** Also by slots, under the name `slot`. */
  readonly hasSlots?: boolean;
  /** Also what is known of times: `TIMES`. */
  readonly hasTimes?: boolean;
}

/**
 * Sums of rows: from those of quarters where a kind of them has what is asked, and from rows where not: at the edges of the window, of the
 * quarter that runs, of what came late or was changed. The query has the columns of `by` and of `SUMS`, one line for each group.
 */
export function sumsBy(
  asked: Asked,
  filtered: Filtered,
  { filters, by, hasSlots = false, hasTimes = false }: SumsQuestion,
  summed: SummedSlots | undefined,
): Knex.QueryBuilder {
  const { knex } = asked;
  const question = summed && kindOf(filters, by);
  const sums: Readonly<Record<string, string>> = hasTimes ? { ...SUMS, ...TIMES } : SUMS;
  const added = Object.fromEntries(Object.keys(sums).map((name) => [name, sumOf(name)]));
  const names: readonly string[] = hasSlots ? [...by, 'slot'] : by;
  const slot: Readonly<Record<string, string>> = hasSlots ? { slot: slotIn[asked.dialect.name]('created_at') } : {};
  const ofRows = (query: Knex.QueryBuilder): Knex.QueryBuilder => {
    const groups = { ...Object.fromEntries(by.map((name) => [name, DIMENSIONS[name]])), ...slot };
    void query.select(...rawColumns(knex, { ...groups, ...sums }));
    return names.length === 0 ? query : query.groupByRaw(names.map((_name, at) => at + 1).join(', '));
  };
  if (!question || !summed) return ofRows(filtered(filters));
  const ofQuarters = question
    .leave(knex(QUARTERS).where('slot', '>=', summed.from).where('slot', '<', summed.to))
    .whereNotIn('slot', [...summed.stale])
    .select(...names, ...rawColumns(knex, added));
  if (names.length > 0) void ofQuarters.groupBy([...names]);
  const parts = [ofQuarters, ...otherRows(asked, filtered, filters, summed).map(ofRows)];
  const all = knex.from(knex.unionAll(parts).as('parts')).select(...names, ...rawColumns(knex, added));
  return names.length === 0 ? all : all.groupBy([...names]);
}

/** Rows of the window that the sums do not hold, each once. A moment has one bound on each side: of two, SQLite may read an index from the wrong one. */
function otherRows(
  { dialect: { name, time } }: Asked,
  filtered: Filtered,
  filters: LogFilters,
  { from, to, upTo, stale }: SummedSlots,
): Knex.QueryBuilder[] {
  const [begin, end] = [from * SLOT_MS, to * SLOT_MS];
  const late = filtered(
    { ...filters, since: begin, before: end },
    name === 'sqlite' ? 'request_logs NOT INDEXED' : undefined,
  ).where('id', '>', upTo);
  const ofStale = (): Knex.QueryBuilder =>
    filtered({ ...filters, since: undefined, before: undefined })
      .where('id', '<=', upTo)
      .where((any) => {
        for (const [first, behind] of stretches(stale))
          void any.orWhere(
            (one) =>
              void one
                .where('created_at', '>=', time(first * SLOT_MS))
                .where('created_at', '<', time(behind * SLOT_MS)),
          );
      });
  return [
    filtered({ ...filters, before: begin }),
    filtered({ ...filters, since: end }),
    late,
    ...(stale.length === 0 ? [] : [ofStale()]),
  ];
}

/** Slots that follow each other, as one stretch. */
function stretches(slots: readonly number[]): readonly (readonly [first: number, behind: number])[] {
  const found: [number, number][] = [];
  for (const slot of slots) {
    const last = found.at(-1);
    if (last?.[1] === slot) last[1] = slot + 1;
    else found.push([slot, slot + 1]);
  }
  return found;
}
