import type { Knex } from 'knex';
import { MOST_SUM } from '../../../host/common/bounded-sum.ts';
import type {
  LogFilters,
  LogGroup,
  LogPoint,
  LogSeries,
  LogShare,
  LogSplit,
  LogStatistics,
  LogWindow,
  Spread,
} from '../../../host/stores/log/log-repository.ts';
import { type Database, timeOf } from '../database/database.ts';
import type { Row } from '../key-rows.ts';
import { OUTCOME } from './searched.ts';

/** What is asked: one connection of a database, where it has several. */
type Asked = Pick<Database, 'knex' | 'dialect'>;

/** Rows of the request log that filters leave: those of the question unless others are given. */
type Filtered = (filters?: LogFilters) => Knex.QueryBuilder;

const MOST_ERRORS = 8;
/** Pairs of a provider and a model whose sums are given one by one. */
const MOST_MODELS = 10_000;
/** Rows that a series looks at, the newest first. */
const MOST_SCANNED = 20_000;

const HAS_ERROR = "coalesce(error_message, '') <> ''";
/** Rows that end a request, which stand for it as a whole. */
const IS_TERMINAL = "stage IN ('after_request', 'on_error')";
const IS_ERROR = `(stage = 'on_error' OR ${HAS_ERROR})`;
const IS_UNPRICED = `(stage = 'after_request' AND cost_usd IS NULL AND coalesce(error_message, '') = '')`;
const counted = (condition: string): string => `sum(CASE WHEN ${condition} THEN 1 ELSE 0 END)`;
/** As fractions: whole numbers, of which a few absurd ones make a sum that the type does not hold, would fail. Up to 2^53 they are the same. */
const tokens = (column: string): string => `sum(CAST(${column} AS DOUBLE PRECISION))`;
/** Without costs that are beyond all sense, which would make the sum fail, or infinite. */
const COST = `sum(CASE WHEN abs(cost_usd) <= ${MOST_SUM} THEN cost_usd END)`;

/** Sums of the rows that `filtered` leaves; by stage those of `everyStage`. One question after the other, on one connection. See docs/admin.md#the-request-log. */
export async function statisticsOf(
  database: Asked,
  filtered: Filtered,
  everyStage: LogFilters,
): Promise<LogStatistics> {
  const groups = await groupsOf(database, filtered);
  const latency = await spreadOf(database, filtered, 'duration_ms');
  const ttft = await spreadOf(database, filtered, 'ttft_ms');
  const byStage = (await filtered(everyStage).select('stage').count({ count: '*' }).groupBy('stage')) as Row[];
  const topErrors = await errorsOf(database, filtered);
  return {
    groups,
    latency,
    ttft,
    byStage: byStage.map(({ stage, count }) => ({ stage: String(stage), count: Number(count) })),
    topErrors,
  };
}

/**
 * Names of models are what clients ask for, so there may be as many as there are requests: beyond the most frequent ones they are summed up
 * for each provider.
 */
async function groupsOf({ knex }: Asked, filtered: Filtered): Promise<LogGroup[]> {
  const named = filtered()
    .select('provider', 'model', ...rawColumns(knex, SUMS))
    .groupBy('provider', 'model');
  const ranked = knex
    .from(named.as('named'))
    .select(
      'provider',
      'model',
      ...Object.keys(SUMS),
      knex.raw('row_number() OVER (ORDER BY count DESC, provider, model) AS place'),
    );
  const summed = Object.fromEntries(Object.keys(SUMS).map((name) => [name, `sum(${name})`]));
  const rows = (await knex
    .from(ranked.as('ranked'))
    .select(
      'provider',
      knex.raw(`CASE WHEN place <= ${MOST_MODELS} THEN model END AS model`),
      knex.raw(`CASE WHEN place <= ${MOST_MODELS} THEN 0 ELSE 1 END AS is_rest`),
      ...rawColumns(knex, summed),
    )
    .groupByRaw('1, 2, 3')) as Row[];
  return rows.map(groupOf);
}

const SUMS = {
  count: 'count(*)',
  errors: counted(IS_ERROR),
  prompt: tokens('prompt_tokens'),
  completion: tokens('completion_tokens'),
  total: tokens('total_tokens'),
  cost: COST,
  unpriced: counted(IS_UNPRICED),
};

const rawColumns = (knex: Knex, columns: Readonly<Record<string, string>>): Knex.Raw[] =>
  Object.entries(columns).map(([name, sql]) => knex.raw(`${sql} AS ${name}`));

function groupOf(row: Row): LogGroup {
  const number = (name: string): number => Number(row[name] ?? 0);
  const text = (name: string): string => (typeof row[name] === 'string' ? row[name] : '');
  return {
    provider: text('provider'),
    model: text('model'),
    isRest: number('is_rest') === 1,
    count: number('count'),
    errors: number('errors'),
    promptTokens: number('prompt'),
    completionTokens: number('completion'),
    totalTokens: number('total'),
    costUsd: number('cost'),
    unpriced: number('unpriced'),
  };
}

/** Instances have 256 names, credentials 1,024 in all, and groups 1,000: more are of earlier configurations. */
const MOST_SHARES = 1000;

const named = (column: string): string => `coalesce(nullif(${column}, ''), 'unknown')`;

/** How rows are split: the name of a part, and which of them have one. */
const SPLITS: Readonly<Record<LogSplit, { readonly name: string; readonly among: string }>> = {
  credential: { name: "coalesce(target, '') || '/' || credential", among: 'credential IS NOT NULL' },
  group: { name: 'model_group', among: 'model_group IS NOT NULL' },
  key: { name: named('api_key_id'), among: '1 = 1' },
  target: { name: named('target'), among: '1 = 1' },
  surface: { name: named('surface'), among: '1 = 1' },
  outcome: { name: OUTCOME, among: '1 = 1' },
  status: { name: "coalesce(CAST(status AS TEXT), 'unknown')", among: '1 = 1' },
  code: { name: named('code'), among: `${OUTCOME} <> 'ok'` },
};

/** Sums by a part of the rows, a thousand of the most frequent. */
export async function sharesOf({ knex }: Asked, filtered: Filtered, by: LogSplit): Promise<readonly LogShare[]> {
  const { name, among } = SPLITS[by];
  const rows = (await filtered()
    .whereRaw(among)
    .select(...rawColumns(knex, { name, ...SUMS }))
    .groupByRaw('1')
    .orderByRaw('2 DESC, 1')
    .limit(MOST_SHARES)) as Row[];
  return rows.map((row) => ({ ...groupOf(row), name: String(row['name']) }));
}

/** The ranks are known only with the count, so these are two questions. */
async function spreadOf(
  { knex }: Asked,
  filtered: Filtered,
  column: 'duration_ms' | 'ttft_ms',
): Promise<Spread | undefined> {
  const measured = (): Knex.QueryBuilder => filtered().whereNotNull(column);
  const {
    count: counts,
    max,
    mean,
  } = (await measured().count({ count: '*' }).max({ max: column }).avg({ mean: column }).first()) as Row;
  const count = Number(counts);
  if (count === 0) return undefined;
  const ranks = [0.5, 0.95, 0.99].map((share) => Math.max(1, Math.ceil(share * count)));
  const ranked = measured()
    .select({ value: column })
    .select(knex.raw(`row_number() OVER (ORDER BY ${column}) AS place`))
    .as('ranked');
  const rows = (await knex
    .from(ranked)
    .whereIn('place', [...new Set(ranks)])
    .select('value', 'place')) as Row[];
  const byRank = new Map(rows.map(({ value, place }) => [Number(place), Number(value)]));
  const [p50 = 0, p95 = 0, p99 = 0] = ranks.map((rank) => byRank.get(rank) ?? Number(max));
  return { p50, p95, p99, max: Number(max), mean: Number(mean), count };
}

async function errorsOf({ dialect }: Asked, filtered: Filtered): Promise<LogStatistics['topErrors']> {
  const order = dialect.name === 'postgres' ? 'error_message COLLATE "C"' : 'error_message';
  const rows = (await filtered()
    .whereRaw(HAS_ERROR)
    .select('error_message')
    .count({ count: '*' })
    .groupBy('error_message')
    .orderBy([{ column: 'count', order: 'desc' }])
    .orderByRaw(order)
    .limit(MOST_ERRORS)) as Row[];
  return rows.map(({ error_message: message, count }) => ({ message: String(message), count: Number(count) }));
}

/** Where more rows match than are looked at, the window begins with the oldest that was. */
export async function seriesOf({ knex, dialect }: Asked, filtered: Filtered, window: LogWindow): Promise<LogSeries> {
  const { end, buckets } = window;
  const recent = (): Knex.QueryBuilder =>
    filtered().orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ]);
  const unseen = (await recent().select('created_at').offset(MOST_SCANNED).first()) as Row | undefined;
  const oldest =
    unseen &&
    ((await recent()
      .select('created_at')
      .offset(MOST_SCANNED - 1)
      .first()) as Row | undefined);
  const start = oldest ? Math.max(window.start, timeOf(oldest['created_at']) ?? 0) : window.start;
  const scanned = recent()
    .select('stage', 'error_message', 'prompt_tokens', 'completion_tokens', 'created_at')
    .limit(MOST_SCANNED)
    .as('scanned');
  const width = Math.max(1, end - start);
  const rows = (await knex
    .from(scanned)
    .select(
      knex.raw(`(${dialect.milliseconds('created_at')} - ${start}) * ${buckets} / ${width} AS bucket`),
      knex.raw(`${counted(IS_TERMINAL)} AS requests`),
      knex.raw(`${counted(`${IS_TERMINAL} AND ${IS_ERROR}`)} AS errors`),
      knex.raw(`${tokens('prompt_tokens')} AS prompt`),
      knex.raw(`${tokens('completion_tokens')} AS completion`),
    )
    .groupByRaw('1')) as Row[];
  return { start, end, buckets, points: pointsOf(rows, buckets), truncated: oldest !== undefined };
}

/** What stands at the edges of the window, or came while it was asked for, belongs to the nearest part. */
function pointsOf(rows: readonly Row[], buckets: number): LogPoint[] {
  const points = Array.from({ length: buckets }, () => ({
    requests: 0,
    errors: 0,
    promptTokens: 0,
    completionTokens: 0,
  }));
  for (const row of rows) {
    const point = points[Math.min(Math.max(0, Math.floor(Number(row['bucket']))), buckets - 1)];
    if (!point) continue;
    point.requests += Number(row['requests']);
    point.errors += Number(row['errors']);
    point.promptTokens += Number(row['prompt']);
    point.completionTokens += Number(row['completion']);
  }
  return points;
}
