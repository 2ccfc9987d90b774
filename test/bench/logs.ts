/**
 * What a million rows of the request log cost: `node test/bench/logs.ts`, on SQLite and on a Postgres that it starts. `--rows N` takes
 * another number, `--days N` spreads them over another time. Prints the fill, the default listing, the statistics of a day with their
 * series, and the purge of half of the rows beside the writes that wait for it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Database } from '../../builtins/stores/database/database.ts';
import { SHARED_SCHEMA } from '../../builtins/stores/replicas/replica-schema.ts';
import { LOG_SCHEMA } from '../../builtins/stores/log/log-schema.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { SqlLogs } from '../../builtins/stores/log/sql-logs.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { systemClock } from '../../host/common/clock.ts';
import type { Log } from '../../host/contract/index.ts';
import { createRedactor } from '../../host/log/redact.ts';
import { storedRow } from '../../host/stores/log/log-row.ts';
import { type LogRow, TERMINAL_STAGES } from '../../host/stores/log/log-repository.ts';
import { RequestLogStore } from '../../host/stores/log/request-log-store.ts';
import { atEnd, closeAll } from '../kit/cleanup.ts';
import { startPostgres } from '../kit/postgres.ts';
import { Dice } from '../kit/random.ts';

const ROWS = 1_000_000;
const DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
const BATCH = 5000;
const ROUNDS = 5;
const BUCKETS = 48;
const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Milliseconds. */
export interface LogCosts {
  readonly rows: number;
  readonly fillMs: number;
  readonly listMs: number;
  /** Rows of the day that the statistics are of. */
  readonly dayRows: number;
  readonly statisticsMs: number;
  readonly purged: number;
  readonly purgeMs: number;
  /** The longest that a row waited for its write while rows were purged, and how many were written meanwhile. */
  readonly longestWriteMs: number;
  readonly writes: number;
}

/** What log rows cost in a database without a table of them. It is closed by the caller. */
export async function logCosts(database: Database, { rows = ROWS, days = DAYS } = {}): Promise<LogCosts> {
  for (const schema of [SHARED_SCHEMA, LOG_SCHEMA]) await migrate(database, schema, SILENT, Date.now);
  const repository = new SqlLogs(database);
  const store = new RequestLogStore(repository, {
    log: SILENT,
    redactor: createRedactor({}),
    clock: systemClock,
    backend: database.dialect.name,
    retention: { days: undefined, rows: undefined },
    dropped: () => {},
  });
  const now = Date.now();
  const fillMs = await timed(() =>
    fill(repository, { rows, from: now - days * DAY_MS, stepMs: (days * DAY_MS) / rows }),
  );
  if (database.dialect.name === 'postgres') await database.knex.raw('ANALYZE request_logs'); // as its daemon does within a minute
  const listMs = await best(() => store.list({ stages: TERMINAL_STAGES }, 50, 0));
  const day = { since: now - DAY_MS };
  const { total: dayRows } = await store.list({ ...day, stages: TERMINAL_STAGES }, 1, 0);
  const statisticsMs = await best(async () => {
    await store.statistics({
      filters: { ...day, stages: TERMINAL_STAGES },
      stage: undefined,
      by: [],
      series: { filters: { ...day, stages: [] }, window: { start: day.since, end: now, buckets: BUCKETS } },
    });
  });
  const purge = await purgeHalf(store, repository, now - (days * DAY_MS) / 2);
  await store.close();
  return { rows, fillMs, listMs, dayRows, statisticsMs, ...purge };
}

async function fill(
  repository: SqlLogs,
  { rows, from, stepMs }: { rows: number; from: number; stepMs: number },
): Promise<void> {
  const dice = new Dice(17);
  for (let at = 0; at < rows; at += BATCH) {
    await write(
      repository,
      Array.from({ length: Math.min(BATCH, rows - at) }, (_, index) =>
        rowOf(dice, at + index, from + (at + index) * stepMs),
      ),
    );
  }
}

/** As the request log does. */
async function write(repository: SqlLogs, rows: readonly LogRow[]): Promise<void> {
  await repository.append(rows);
  await repository.settle();
}

/** One in twenty fails; ten models of four providers, a hundred keys. */
function rowOf(dice: Dice, number: number, at: number): LogRow {
  const failed = dice.below(20) === 0;
  const [prompt, completion] = [dice.below(4000), dice.below(800)];
  return storedRow({
    trace_id: number.toString(16).padStart(32, '0'),
    stage: failed ? 'on_error' : 'after_request',
    model: `model-${dice.below(10)}`,
    provider: `provider-${dice.below(4)}`,
    api_key_id: `key-${dice.below(100)}`,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    error_message: failed ? `upstream failed in way ${dice.below(12)}` : undefined,
    created_at: Math.floor(at),
    duration_ms: 200 + dice.below(9000),
    ttft_ms: failed ? null : dice.below(1500),
    cost_usd: failed ? null : prompt / 1e6,
    target: 'openai',
    attempts: 1,
    cost_source: failed ? undefined : 'usage',
    catalog_version: '2026-11-22',
    decision:
      '{"strategy":"fallback","order":[{"target":"openai"}],"attempts":[{"target":"openai","status":200,"duration_ms":812}]}',
  });
}

/** While rows are purged, others are written one by one, as a batch of the request log is. */
async function purgeHalf(
  store: RequestLogStore,
  repository: SqlLogs,
  before: number,
): Promise<Pick<LogCosts, 'purged' | 'purgeMs' | 'longestWriteMs' | 'writes'>> {
  const dice = new Dice(18);
  const over = new AbortController();
  let [longestWriteMs, writes] = [0, 0];
  const writing = (async () => {
    while (!over.signal.aborted) {
      longestWriteMs = Math.max(
        longestWriteMs,
        await timed(() => write(repository, [rowOf(dice, writes, Date.now())])),
      );
      writes += 1;
      await sleep(10);
    }
  })();
  let purged = 0;
  const purgeMs = await timed(async () => {
    purged = await store.purge({ stages: [], before });
  });
  over.abort();
  await writing;
  return { purged, purgeMs, longestWriteMs, writes };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function best(work: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) least = Math.min(least, await timed(work));
  return least;
}

function show(
  name: string,
  { rows, fillMs, listMs, dayRows, statisticsMs, purged, purgeMs, longestWriteMs, writes }: LogCosts,
): string {
  return [
    `${rows} rows on ${name}, filled in ${(fillMs / 1000).toFixed(1)} s`,
    `  the default listing                    ${listMs.toFixed(1)} ms`,
    `  statistics and series of a day (${dayRows} rows) ${statisticsMs.toFixed(1)} ms`,
    `  the purge of ${purged} rows          ${(purgeMs / 1000).toFixed(1)} s, the longest of ${writes} writes meanwhile ${longestWriteMs.toFixed(1)} ms`,
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { rows: { type: 'string' }, days: { type: 'string' } } });
  const size = { rows: Number(values.rows ?? ROWS), days: Number(values.days ?? DAYS) };
  const folder = mkdtempSync(join(tmpdir(), 'gw-bench-logs-'));
  try {
    const sqlite = await openSqlite(join(folder, 'requests.db'), folder);
    atEnd(() => sqlite.close());
    console.log(show('SQLite', await logCosts(sqlite, size)));
    const postgres = await openPostgres(await (await startPostgres()).createDatabase());
    atEnd(() => postgres.close());
    console.log(show('Postgres', await logCosts(postgres, size)));
  } finally {
    await closeAll();
    rmSync(folder, { recursive: true });
  }
}
