import type { Knex } from 'knex';
import { LOG_COLUMN_LIST } from '../../../host/contract/log-columns.ts';
import type {
  CountBounds,
  CountedPart,
  LogPosition,
  LogSearch,
  LogSort,
  SearchBounds,
} from '../../../host/stores/log/log-search.ts';
import { type Dialect, timeOf } from '../database/database.ts';
import type { Row } from '../key-rows.ts';
import { searched } from './searched.ts';

/** Rows of what indexes leave that one statement looks at, and those that one call does. */
const SLICE = 20_000;
const MOST_SEARCHED = 200_000;

/** How a row was routed is long, and no list shows it. */
const COLUMNS: readonly string[] = LOG_COLUMN_LIST.map(([name]) => name).filter((name) => name !== 'decision');

const SORTS: Readonly<Record<LogSort, string>> = {
  duration: 'duration_ms',
  cost: 'cost_usd',
  tokens: 'total_tokens',
};

/** Rows in a search, of one connection. */
export interface SearchedRows {
  readonly dialect: Dialect;
  /** Those that the filters leave that have an index; made anew for each statement. */
  readonly indexed: () => Knex.QueryBuilder;
  readonly search: LogSearch;
}

interface FoundRows {
  readonly rows: readonly Row[];
  readonly next: LogPosition | undefined;
  readonly searched: number;
  readonly searchedTo: number | undefined;
}

/**
 * Looks through the rows, the newest first, slice by slice, until the page is full, nothing is left, or a bound is
 * reached: so no filter needs an index of its own, and none can hold the store.
 */
export async function searchRows(of: SearchedRows, bounds: SearchBounds): Promise<FoundRows> {
  const { limit, sort, mayGoOn } = bounds;
  let { from } = bounds;
  let rows: readonly Row[] = [];
  let looked = 0;
  for (;;) {
    const to = await positionBehind(of, from);
    const found = await foundIn(of, { from, to, sort, limit: sort ? limit : limit + 1 - rows.length });
    rows = sort ? largest([...rows, ...found], sort, limit) : [...rows, ...found];
    const last = rows[limit - 1];
    if (!sort && rows.length > limit && last) {
      const next = positionOf(last);
      const { count } = await between(of, from, next);
      return { rows: rows.slice(0, limit), next, searched: looked + count, searchedTo: next.at };
    }
    if (!to) {
      const { count, oldest } = await between(of, from, undefined);
      return { rows, next: undefined, searched: looked + count, searchedTo: oldest ?? from?.at };
    }
    looked += SLICE;
    from = to;
    const isFull = !sort && rows.length === limit; // what matches next is older than the slice
    if (isFull || looked >= MOST_SEARCHED || !mayGoOn())
      return { rows, next: sort ? undefined : to, searched: looked, searchedTo: to.at };
  }
}

/** Counts what a search would find, in the slices that it looks at. */
export async function countFound(of: SearchedRows, { most, from: begin, mayGoOn }: CountBounds): Promise<CountedPart> {
  let from = begin;
  let count = 0;
  for (let looked = SLICE; ; looked += SLICE) {
    const to = await positionBehind(of, from);
    const row = (await searched(inside(of, from, to), of.search, of.dialect.name)
      .count({ count: '*' })
      .first()) as Row;
    count += Number(row['count']);
    if (!to || count >= most) return { count, next: undefined };
    from = to;
    if (looked >= MOST_SEARCHED || !mayGoOn()) return { count, next: to };
  }
}

const positionOf = (row: Row): LogPosition => ({ at: timeOf(row['created_at']) ?? 0, id: Number(row['id']) });

const newestFirst = (query: Knex.QueryBuilder): Knex.QueryBuilder =>
  query.orderBy([
    { column: 'created_at', order: 'desc' },
    { column: 'id', order: 'desc' },
  ]);

/** Older than one position, and not older than the other. */
function inside(
  { dialect: { time }, indexed }: SearchedRows,
  from: LogPosition | undefined,
  to: LogPosition | undefined,
): Knex.QueryBuilder {
  const query = indexed();
  // The moment by itself is what an index is read from.
  if (from)
    void query.where('created_at', '<=', time(from.at)).whereRaw('(created_at, id) < (?, ?)', [time(from.at), from.id]);
  if (to)
    void query.where('created_at', '>=', time(to.at)).whereRaw('(created_at, id) >= (?, ?)', [time(to.at), to.id]);
  return query;
}

/** The last row of a slice; `undefined` where fewer rows are left. */
async function positionBehind(of: SearchedRows, from: LogPosition | undefined): Promise<LogPosition | undefined> {
  const rows = (await newestFirst(inside(of, from, undefined))
    .select('created_at', 'id')
    .offset(SLICE - 1)
    .limit(1)) as Row[];
  return rows[0] && positionOf(rows[0]);
}

interface Part {
  readonly from: LogPosition | undefined;
  readonly to: LogPosition | undefined;
  readonly sort: LogSort | undefined;
  readonly limit: number;
}

async function foundIn(of: SearchedRows, { from, to, sort, limit }: Part): Promise<readonly Row[]> {
  const query = searched(inside(of, from, to), of.search, of.dialect.name).select(...COLUMNS, 'id');
  if (sort) void query.orderByRaw(`coalesce(${SORTS[sort]}, -1) DESC`);
  return (await newestFirst(query).limit(limit)) as Row[];
}

function largest(rows: readonly Row[], sort: LogSort, limit: number): readonly Row[] {
  const size = (row: Row): number => Number(row[SORTS[sort]] ?? -1);
  return rows.toSorted((a, b) => size(b) - size(a)).slice(0, limit); // of as large ones the newer stays in front
}

async function between(
  of: SearchedRows,
  from: LogPosition | undefined,
  to: LogPosition | undefined,
): Promise<{ readonly count: number; readonly oldest: number | undefined }> {
  const row = (await inside(of, from, to).count({ count: '*' }).min({ oldest: 'created_at' }).first()) as Row;
  return { count: Number(row['count']), oldest: timeOf(row['oldest']) };
}
