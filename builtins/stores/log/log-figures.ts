import type { Knex } from 'knex';
import type {
  LogFilters,
  LogGroup,
  LogPoint,
  LogSeries,
  LogShare,
  LogSplit,
  LogStatistics,
  LogWindow,
} from '../../../host/stores/log/log-repository.ts';
import { TERMINAL_STAGES } from '../../../host/stores/log/log-repository.ts';
import type { Row } from '../key-rows.ts';
import { kindOf } from './quarters/quarter-kinds.ts';
import { SLOT_MS } from './quarters/quarter-schema.ts';
import { type Asked, type Filtered, oneState, sumsBy, type SumsQuestion } from './quarters/quarter-sums.ts';
import { COUNT, HAS_ERROR, IS_TERMINAL, rawColumns, sumOf, SUMS } from './row-sums.ts';
import { spreadOf } from './spreads.ts';

const MOST_ERRORS = 8;
/** Rows with errors that are looked at for the most frequent ones, the newest first. */
const MOST_FAILURES = 200_000;
/** SQLite would take an index of all rows of a stage. */
const FAILED_ROWS = 'request_logs INDEXED BY request_logs_failed';
/** Pairs of a provider and a model whose sums are given one by one. */
const MOST_MODELS = 10_000;
/** A shorter window is read from rows, so that each point is exact. */
const EXACT_MS = 6 * 60 * 60 * 1000;

/** Sums of what the filters leave; by stage those of `everyStage`. One question after the other, on one connection. See docs/admin.md#the-request-log. */
export async function statisticsOf(
  asked: Asked,
  filtered: Filtered,
  filters: LogFilters,
  everyStage: LogFilters,
): Promise<LogStatistics> {
  const summed = await oneState(asked, filters);
  const sums = (question: SumsQuestion): Knex.QueryBuilder => sumsBy(asked, filtered, question, summed);
  const groups = await groupsOf(asked, sums({ filters, by: ['provider', 'model'] }));
  const [times = {}] = (await sums({ filters, by: [], hasTimes: true })) as Row[];
  const latency = await spreadOf(asked, { filtered, filters, times }, 'duration');
  const ttft = await spreadOf(asked, { filtered, filters, times }, 'ttft');
  const byStage = (await sums({ filters: everyStage, by: ['stage'] })) as Row[];
  return {
    groups,
    latency,
    ttft,
    byStage: byStage.map(({ stage, count }) => ({ stage: String(stage), count: Number(count) })),
    topErrors: await errorsOf(asked, filtered(filters, asked.dialect.name === 'sqlite' ? FAILED_ROWS : undefined)),
  };
}

/**
 * Names of models are what clients ask for, so there may be as many as there are requests: beyond the most frequent ones they are summed up
 * for each provider.
 */
async function groupsOf({ knex }: Asked, named: Knex.QueryBuilder): Promise<LogGroup[]> {
  const ranked = knex
    .from(named.as('named'))
    .select(
      'provider',
      'model',
      ...Object.keys(SUMS),
      knex.raw('row_number() OVER (ORDER BY count DESC, provider, model) AS place'),
    );
  const summed = Object.fromEntries(Object.keys(SUMS).map((name) => [name, sumOf(name)]));
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

/** How sums are split that no quarter has: the name of a part, and which rows have one. */
const ROW_SPLITS = {
  credential: { name: "coalesce(target, '') || '/' || credential", among: 'credential IS NOT NULL' },
  group: { name: 'model_group', among: 'model_group IS NOT NULL' },
} as const;

/** How the others are split; what a row does not say is `unknown`. */
const SPLITS = {
  key: { by: ['api_key_id'], name: "coalesce(nullif(api_key_id, ''), 'unknown')" },
  target: { by: ['target'], name: "coalesce(nullif(target, ''), 'unknown')" },
  surface: { by: ['surface'], name: "coalesce(nullif(surface, ''), 'unknown')" },
  outcome: { by: ['outcome'], name: 'outcome' },
  status: { by: ['status'], name: "CASE WHEN status = 0 THEN 'unknown' ELSE CAST(status AS TEXT) END" },
  code: { by: ['code', 'outcome'], name: "coalesce(nullif(code, ''), 'unknown')", among: "outcome <> 'ok'" },
} as const satisfies Readonly<
  Record<
    Exclude<LogSplit, keyof typeof ROW_SPLITS>,
    { readonly by: SumsQuestion['by']; readonly name: string; readonly among?: string }
  >
>;

/** Sums by a part of the rows, a thousand of the most frequent. */
export async function sharesOf(
  asked: Asked,
  filtered: Filtered,
  filters: LogFilters,
  by: LogSplit,
): Promise<readonly LogShare[]> {
  const { knex } = asked;
  const rows = (await (
    by === 'credential' || by === 'group'
      ? filtered(filters)
          .whereRaw(ROW_SPLITS[by].among)
          .select(...rawColumns(knex, { name: ROW_SPLITS[by].name, ...SUMS }))
      : splitSums(asked, sumsBy(asked, filtered, { filters, by: SPLITS[by].by }, await oneState(asked, filters)), by)
  )
    .groupByRaw('1')
    .orderByRaw('2 DESC, 1')
    .limit(MOST_SHARES)) as Row[];
  return rows.map((row) => ({ ...groupOf(row), name: String(row['name']) }));
}

function splitSums({ knex }: Asked, sums: Knex.QueryBuilder, by: keyof typeof SPLITS): Knex.QueryBuilder {
  const split: { readonly name: string; readonly among?: string } = SPLITS[by];
  const added = Object.fromEntries(Object.keys(SUMS).map((name) => [name, sumOf(name)]));
  return knex
    .from(sums.as('sums'))
    .whereRaw(split.among ?? '1 = 1')
    .select(...rawColumns(knex, { name: split.name, ...added }));
}

async function errorsOf({ knex, dialect }: Asked, rows: Knex.QueryBuilder): Promise<LogStatistics['topErrors']> {
  const order = dialect.name === 'postgres' ? 'error_message COLLATE "C"' : 'error_message';
  const failures = rows
    .whereRaw(HAS_ERROR)
    .select('error_message', 'repeats')
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(MOST_FAILURES);
  const found = (await knex
    .from(failures.as('failures'))
    .select('error_message', knex.raw(`${COUNT} AS count`))
    .groupBy('error_message')
    .orderBy([{ column: 'count', order: 'desc' }])
    .orderByRaw(order)
    .limit(MOST_ERRORS)) as Row[];
  return found.map(({ error_message: message, count }) => ({ message: String(message), count: Number(count) }));
}

/** In a long window each quarter counts in the part in which it begins, of a short one each row where it is. */
export async function seriesOf(
  asked: Asked,
  filtered: Filtered,
  filters: LogFilters,
  window: LogWindow,
): Promise<LogSeries> {
  const { start, end, buckets, edges } = window;
  const terminal = filters.stages.length === 0 ? { ...filters, stages: TERMINAL_STAGES } : filters;
  const isLong = edges !== undefined || (end - start > EXACT_MS && kindOf(terminal, []) !== undefined);
  const rows = isLong
    ? await slotRows(asked, filtered, terminal, window)
    : await exactRows(asked, filtered(filters), window);
  return { start, end, buckets, edges, points: pointsOf(rows, buckets), truncated: false };
}

async function slotRows(
  asked: Asked,
  filtered: Filtered,
  filters: LogFilters,
  { start, end, buckets, edges }: LogWindow,
): Promise<readonly Row[]> {
  const summed = await oneState(asked, filters);
  const rows = (await sumsBy(asked, filtered, { filters, by: [], hasSlots: true }, summed)) as Row[];
  const width = Math.max(1, end - start);
  return rows.map(({ slot, ...row }) => ({
    ...row,
    bucket: edges
      ? edges.findLastIndex((edge) => edge <= Number(slot) * SLOT_MS)
      : Math.floor(((Number(slot) * SLOT_MS - start) * buckets) / width),
  }));
}

async function exactRows(
  { knex, dialect }: Asked,
  rows: Knex.QueryBuilder,
  { start, end, buckets }: LogWindow,
): Promise<readonly Row[]> {
  const width = Math.max(1, end - start);
  const terminal = (sum: string): string => sum.replace('CASE WHEN ', `CASE WHEN ${IS_TERMINAL} AND `);
  return (await rows
    .select(
      ...rawColumns(knex, {
        bucket: `(${dialect.milliseconds('created_at')} - ${start}) * ${buckets} / ${width}`,
        count: `sum(CASE WHEN ${IS_TERMINAL} THEN 1 + coalesce(repeats, 0) ELSE 0 END)`,
        errors: terminal(SUMS.errors),
        prompt: SUMS.prompt,
        completion: SUMS.completion,
      }),
    )
    .groupByRaw('1')) as Row[];
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
    point.requests += Number(row['count']);
    point.errors += Number(row['errors']);
    point.promptTokens += Number(row['prompt'] ?? 0);
    point.completionTokens += Number(row['completion'] ?? 0);
  }
  return points;
}
