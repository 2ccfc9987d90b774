import type { Knex } from 'knex';
import type { LogFilters, Spread } from '../../../host/stores/log/log-repository.ts';
import type { Row } from '../key-rows.ts';
import type { Asked, Filtered } from './quarters/quarter-sums.ts';
import { IS_TIMED } from './row-sums.ts';

/** Percentiles of more rows than this are those of a sample. */
const MOST_EXACT = 100_000;
/** A sample is of blocks of rows that follow each other, spread evenly over the window. */
const BLOCK = 1000;
const BLOCKS = { least: 50, most: 400 } as const;
const LEAST_SAMPLE = 50_000;

const COLUMNS = { duration: 'duration_ms', ttft: 'ttft_ms' } as const;

export interface SpreadQuestion {
  readonly filtered: Filtered;
  readonly filters: LogFilters;
  /** Count, sum and greatest of all, by their names in `TIMES`. */
  readonly times: Row;
}

/** Percentiles by nearest rank, beside what is known of all. The ranks are known only with the count, so these are two questions. */
export async function spreadOf(
  asked: Asked,
  { filtered, filters, times }: SpreadQuestion,
  what: keyof typeof COLUMNS,
): Promise<Spread | undefined> {
  const count = Number(times[`${what}_n`] ?? 0);
  if (count === 0) return undefined;
  const max = Number(times[`${what}_max`]);
  const mean = Number(times[`${what}_sum`]) / count;
  const column = COLUMNS[what];
  const measured = (rows: Knex.QueryBuilder): Knex.QueryBuilder => rows.whereNotNull(column).whereRaw(IS_TIMED);
  if (count <= MOST_EXACT)
    return { ...(await ranksOf(asked, measured(filtered(filters)), column, { count, max })), max, mean, count };
  const sampled = await sampleOf(asked, filtered, filters, measured);
  return {
    ...(await ranksOf(asked, sampled.rows(), column, { count: sampled.count, max })),
    max,
    mean,
    count,
    sampled: sampled.count,
  };
}

async function ranksOf(
  { knex }: Asked,
  rows: Knex.QueryBuilder,
  column: string,
  { count, max }: Pick<Spread, 'count' | 'max'>,
): Promise<Pick<Spread, 'p50' | 'p95' | 'p99'>> {
  const ranks = [0.5, 0.95, 0.99].map((share) => Math.max(1, Math.ceil(share * count)));
  const ranked = rows
    .select({ value: column })
    .select(knex.raw(`row_number() OVER (ORDER BY ${column}) AS place`))
    .as('ranked');
  const found = (await knex
    .from(ranked)
    .whereIn('place', [...new Set(ranks)])
    .select('value', 'place')) as Row[];
  const byRank = new Map(found.map(({ value, place }) => [Number(place), Number(value)]));
  const [p50 = 0, p95 = 0, p99 = 0] = ranks.map((rank) => byRank.get(rank) ?? max);
  return { p50, p95, p99 };
}

interface Sample {
  readonly rows: () => Knex.QueryBuilder;
  readonly count: number;
}

/** Where a filter leaves few rows of a block, more blocks are looked at. */
async function sampleOf(
  { knex, dialect }: Asked,
  filtered: Filtered,
  filters: LogFilters,
  measured: (rows: Knex.QueryBuilder) => Knex.QueryBuilder,
): Promise<Sample> {
  const edge = async (order: 'asc' | 'desc'): Promise<number> => {
    const { since, before } = filters;
    const row = (await filtered({ stages: [], since, before })
      .orderBy([
        { column: 'created_at', order },
        { column: 'id', order },
      ])
      .select('id')
      .first()) as Row | undefined;
    return Number(row?.['id'] ?? 0);
  };
  const [oldest, newest] = [await edge('asc'), await edge('desc')];
  const [first, last] = [Math.min(oldest, newest), Math.max(oldest, newest)];
  const table = dialect.name === 'sqlite' ? 'request_logs NOT INDEXED' : undefined;
  const sample = (blocks: number): Knex.QueryBuilder => {
    const step = Math.max(BLOCK, Math.floor((last - first + 1 - BLOCK) / (blocks - 1)));
    const begins = Array.from({ length: blocks }, (_each, at) => first + at * step).filter((begin) => begin <= last);
    return measured(filtered(filters, table)).where((any) => {
      for (const begin of begins) void any.orWhereBetween('id', [begin, begin + BLOCK - 1]);
    });
  };
  const countOf = async (blocks: number): Promise<number> =>
    Number(((await knex.from(sample(blocks).select('id').as('sample')).count({ count: '*' }).first()) as Row)['count']);
  const count = await countOf(BLOCKS.least);
  if (count >= LEAST_SAMPLE) return { rows: () => sample(BLOCKS.least), count };
  const blocks = count === 0 ? BLOCKS.most : Math.min(BLOCKS.most, Math.ceil((BLOCKS.least * LEAST_SAMPLE) / count));
  return { rows: () => sample(blocks), count: await countOf(blocks) };
}
