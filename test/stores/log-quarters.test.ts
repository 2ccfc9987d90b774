import { expect } from 'chai';
import type { Database } from '../../builtins/stores/database/database.ts';
import { LOG_SCHEMA } from '../../builtins/stores/log/log-schema.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { SqlLogs } from '../../builtins/stores/log/sql-logs.ts';
import { SHARED_SCHEMA } from '../../builtins/stores/replicas/replica-schema.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import type { RequestLogRow } from '../../host/contract/index.ts';
import {
  type LogFilters,
  type LogGroup,
  type LogSplit,
  LOG_SPLITS,
  TERMINAL_STAGES,
} from '../../host/stores/log/log-repository.ts';
import { VALUE_FIELDS } from '../../host/stores/log/log-values.ts';
import { storedRow } from '../../host/stores/log/log-row.ts';
import { atEnd, cases, Dice, forSuite, startPostgres } from '../kit/index.ts';
import { SILENT } from './backends.ts';

const SLOT_MS = 900_000;
/** Long past, so that the sums of a new database begin behind it. */
const BEGIN = Date.parse('2026-03-01T00:00:00Z');
const SLOTS = 12;

type Kept = Readonly<Record<string, any>>;

async function opened(open: () => Promise<Database>): Promise<{ database: Database; logs: SqlLogs }> {
  const database = await open();
  atEnd(() => database.close());
  await migrate(database, SHARED_SCHEMA, SILENT, Date.now);
  await migrate(database, LOG_SCHEMA, SILENT, Date.now);
  await database.knex('request_log_summed').update({ from_slot: BEGIN / SLOT_MS, to_slot: BEGIN / SLOT_MS });
  return { database, logs: new SqlLogs(database) };
}

function someRow(
  dice: Dice,
  at: number,
  now: number,
): RequestLogRow & { readonly metadata?: undefined; readonly decision?: undefined; readonly tags?: undefined } {
  const outcome = dice.pick([undefined, 'ok', 'ok', 'client', 'rate', 'provider'] as const);
  const failed = dice.below(4) === 0;
  return {
    trace_id: `t${at}`,
    stage: dice.pick(['before_request', 'after_request', 'after_request', 'on_error'] as const),
    model: dice.pick(['', 'a', 'b']),
    provider: dice.pick([undefined, 'p', 'q']),
    target: dice.pick([undefined, 'x', 'y']),
    surface: dice.pick([undefined, 'chat', 'embeddings']),
    api_key_id: dice.pick([undefined, 'k1', 'k2', 'k3']),
    created_at: now - dice.pick([0, 0, 0, dice.below(3 * SLOT_MS), dice.below(SLOTS * SLOT_MS), SLOT_MS]),
    error_message: failed ? dice.pick(['boom', 'bang']) : undefined,
    status: dice.pick([undefined, 200, 429, 500, 503]),
    outcome,
    code:
      outcome === undefined || outcome === 'ok'
        ? undefined
        : dice.pick([undefined, 'invalid_request', 'upstream_error']),
    reason: dice.pick([undefined, undefined, 'key_rpm', 'upstream_down']),
    attempts: dice.pick([undefined, 1, 2]),
    repeats: dice.pick([undefined, undefined, undefined, 5]),
    prompt_tokens: dice.below(100),
    completion_tokens: dice.below(100),
    total_tokens: dice.below(200),
    cost_usd: dice.pick([null, 0, 0.25, 1.5, Number.MAX_VALUE]),
    duration_ms: dice.pick([null, dice.below(1000)]),
    ttft_ms: dice.pick([null, null, dice.below(500)]),
  };
}

// What the statistics should say, from all rows, one after another.

const isEnd = ({ stage }: Kept): boolean => TERMINAL_STAGES.includes(stage);
const outcomeOf = (row: Kept): string =>
  row['outcome'] ?? (row['stage'] === 'on_error' || (row['error_message'] ?? '') !== '' ? 'unknown' : 'ok');
const requestsOf = (row: Kept): number => 1 + Number(row['repeats'] ?? 0);
const DOOR = new Set([
  'key_rpm',
  'key_tpm',
  'key_expired',
  'key_revoked',
  'malformed',
  'too_large',
  'wrong_method',
  'draining',
]);
const isTimed = (row: Kept): boolean =>
  !(row['stage'] === 'on_error' && row['attempts'] === null && DOOR.has(row['reason'] ?? ''));

function matches(row: Kept, { stages, since, before, model, provider, apiKeyId, search = {} }: LogFilters): boolean {
  const at = new Date(row['created_at']).getTime();
  const { equal = {}, outcomes, statuses, codes } = search;
  return (
    (stages.length === 0 || stages.includes(row['stage'])) &&
    (since === undefined || at >= since) &&
    (before === undefined || at < before) &&
    (model === undefined || row['model'] === model) &&
    (provider === undefined || row['provider'] === provider) &&
    (apiKeyId === undefined || (row['api_key_id'] ?? '') === (apiKeyId ?? '')) &&
    Object.entries(equal).every(([name, value]) => value === undefined || row[name] === value) &&
    (!outcomes || outcomes.includes(outcomeOf(row))) &&
    (!codes || codes.includes(row['code'])) &&
    (!statuses ||
      (row['status'] !== null && statuses.some(([a, b]) => Number(row['status']) >= a && Number(row['status']) <= b)))
  );
}

const round = (value: number): number => Math.round(value * 1e6) / 1e6;

function sumsOf(rows: readonly Kept[]): object {
  const sum = (of: (row: Kept) => number): number => rows.reduce((all, row) => all + of(row), 0);
  const isError = (row: Kept): boolean => row['stage'] === 'on_error' || (row['error_message'] ?? '') !== '';
  return {
    count: sum(requestsOf),
    errors: sum((row) => (isError(row) ? requestsOf(row) : 0)),
    promptTokens: sum((row) => Number(row['prompt_tokens'])),
    completionTokens: sum((row) => Number(row['completion_tokens'])),
    totalTokens: sum((row) => Number(row['total_tokens'])),
    costUsd: round(sum((row) => (Math.abs(Number(row['cost_usd'] ?? 0)) < 1e15 ? Number(row['cost_usd'] ?? 0) : 0))),
    unpriced: sum((row) =>
      row['stage'] === 'after_request' && row['cost_usd'] === null && (row['error_message'] ?? '') === ''
        ? requestsOf(row)
        : 0,
    ),
  };
}

/** By a name, without those that have none. */
function grouped(rows: readonly Kept[], nameOf: (row: Kept) => string | undefined): Record<string, object> {
  const groups = Map.groupBy(rows, (row) => nameOf(row) ?? '-');
  groups.delete('-');
  return Object.fromEntries(
    [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => [name, sumsOf(each)]),
  );
}

const shown = ({ costUsd, ...sums }: Omit<LogGroup, 'provider' | 'model' | 'isRest'>): object => ({
  ...sums,
  costUsd: round(costUsd),
});
const shownGroups = (groups: readonly LogGroup[]): Record<string, object> => {
  const named = new Map<string, any>();
  for (const { provider, model, isRest: _isRest, ...sums } of groups) {
    const name = `${provider}|${model}`;
    const known = named.get(name);
    const one = shown(sums) as Record<string, number>;
    named.set(
      name,
      known ? Object.fromEntries(Object.entries(one).map(([key, value]) => [key, value + known[key]])) : one,
    );
  }
  return Object.fromEntries([...named].toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

function spread(rows: readonly Kept[], column: string): object | undefined {
  const values = rows
    .filter((row) => row[column] !== null && isTimed(row))
    .map((row) => Number(row[column]))
    .toSorted((a, b) => a - b);
  if (values.length === 0) return undefined;
  const rank = (share: number): number => values[Math.max(1, Math.ceil(share * values.length)) - 1] ?? 0;
  const mean = round(values.reduce((all, value) => all + value, 0) / values.length);
  return { p50: rank(0.5), p95: rank(0.95), p99: rank(0.99), max: values.at(-1), mean, count: values.length };
}

const SPLIT_OF: Readonly<Record<LogSplit, (row: Kept) => string | undefined>> = {
  credential: () => undefined,
  group: () => undefined,
  key: (row) => row['api_key_id'] || 'unknown',
  target: (row) => row['target'] || 'unknown',
  surface: (row) => row['surface'] || 'unknown',
  outcome: outcomeOf,
  status: (row) => String(row['status'] ?? 'unknown'),
  code: (row) => (outcomeOf(row) === 'ok' ? undefined : row['code'] || 'unknown'),
};

const FILTERS: readonly Omit<LogFilters, 'stages'>[] = [
  {},
  { model: 'a' },
  { provider: 'p' },
  { apiKeyId: 'k1' },
  { apiKeyId: null },
  { apiKeyId: 'k2', model: 'b' },
  { search: { outcomes: ['client', 'rate'] } },
  { search: { outcomes: ['unknown'] } },
  { search: { statuses: [[500, 599]] } },
  {
    search: {
      codes: ['upstream_error'],
      statuses: [
        [400, 499],
        [503, 503],
      ],
    },
  },
  { search: { equal: { target: 'x', surface: 'chat' } } },
  { search: { equal: { reason: 'key_rpm' } } },
  { model: 'b', search: { equal: { target: 'y' }, outcomes: ['ok'] } },
];

async function expectEqual(
  { database, logs }: { database: Database; logs: SqlLogs },
  filters: LogFilters,
  what: string,
): Promise<void> {
  const kept = (await database.knex('request_logs').select('*')) as Kept[];
  const rows = kept.filter((row) => matches(row, filters));
  const found = await logs.statistics(filters, undefined);
  const groups = shownGroups(found.groups);
  expect(groups, what).to.deep.equal(grouped(rows, (row) => `${row['provider'] ?? ''}|${row['model'] ?? ''}`));
  const measured = (of: typeof found.latency): object | undefined => of && { ...of, mean: round(of.mean) };
  expect(measured(found.latency), what).to.deep.equal(spread(rows, 'duration_ms'));
  expect(measured(found.ttft), what).to.deep.equal(spread(rows, 'ttft_ms'));
  const stages = kept.filter((row) => matches(row, { ...filters, stages: [] }));
  expect(
    Object.fromEntries(
      found.byStage.toSorted((a, b) => (a.stage < b.stage ? -1 : 1)).map(({ stage, count }) => [stage, count]),
    ),
    what,
  ).to.deep.equal(
    Object.fromEntries(
      Object.entries(grouped(stages, ({ stage }) => stage)).map(([stage, sums]) => [stage, (sums as LogGroup).count]),
    ),
  );
  for (const split of LOG_SPLITS) {
    const shares = await logs.shares(filters, split);
    expect(
      Object.fromEntries(
        shares.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, ...sums }) => [name, shown(without(sums))]),
      ),
      `${what} by ${split}`,
    ).to.deep.equal(grouped(rows, SPLIT_OF[split]));
  }
}

/** What stands in each column, by how often. */
async function expectValues(
  { database, logs }: { database: Database; logs: SqlLogs },
  since: number,
  before: number | undefined,
): Promise<void> {
  const kept = (await database.knex('request_logs').select('*')) as Kept[];
  const [state] = await database.knex('request_log_summed').select('from_slot');
  const from = Number(state.from_slot) * SLOT_MS;
  const rows = kept.filter((row) => matches(row, { stages: TERMINAL_STAGES, since: Math.max(since, from), before }));
  for (const field of VALUE_FIELDS)
    for (const part of [undefined, 'A', '0']) {
      const nameOf = (row: Kept): string => (field === 'outcome' ? outcomeOf(row) : String(row[field] ?? ''));
      const counts = Map.groupBy(rows, nameOf);
      const expected = [...counts]
        .filter(([name]) => name !== '' && (part === undefined || name.toLowerCase().includes(part.toLowerCase())))
        .map(([value, each]) => ({ value, count: each.reduce((all, row) => all + requestsOf(row), 0) }))
        .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
      const { values, isPartial } = await logs.values({ field, part, since, before, most: 50 });
      expect([values, isPartial], `${field} ${part}`).to.deep.equal([expected, from > since]);
    }
}

const without = ({ provider: _provider, model: _model, isRest: _isRest, ...sums }: any): any => sums;

async function expectSeries(
  { database, logs }: { database: Database; logs: SqlLogs },
  filters: LogFilters,
  window: { start: number; end: number; buckets: number },
  what: string,
): Promise<void> {
  const kept = (await database.knex('request_logs').select('*')) as Kept[];
  const rows = kept.filter((row) => matches(row, filters) && isEnd(row));
  const { points, truncated } = await logs.series({ ...filters, stages: [] }, window);
  expect([truncated, points.length], what).to.deep.equal([false, window.buckets]);
  const total = sumsOf(rows) as LogGroup;
  const sum = (of: (point: (typeof points)[number]) => number): number =>
    points.reduce((all, point) => all + of(point), 0);
  expect([sum(({ requests }) => requests), sum(({ errors }) => errors)], what).to.deep.equal([
    total.count,
    total.errors,
  ]);
  if (window.start % SLOT_MS !== 0 || (window.end - window.start) % (window.buckets * SLOT_MS) !== 0) return;
  const width = (window.end - window.start) / window.buckets;
  const each = points.map((_point, at) =>
    rows
      .filter((row) => Math.floor((new Date(row['created_at']).getTime() - window.start) / width) === at)
      .reduce((all, row) => all + requestsOf(row), 0),
  );
  expect(
    points.map(({ requests }) => requests),
    `${what}: parts on quarters are exact`,
  ).to.deep.equal(each);
}

function suite(open: () => Promise<Database>): void {
  for (let seed = 1; seed <= cases(60, 60); seed += 1)
    it(`are those of all rows, whatever happens to these (seed ${seed})`, async function test() {
      this.timeout(30_000);
      const dice = new Dice(seed);
      const t = await opened(open);
      let now = BEGIN + SLOT_MS + dice.below(SLOT_MS);
      let written = 0;
      for (let step = 0; step < 14; step += 1) {
        const rows = Array.from({ length: 1 + dice.below(12) }, () => storedRow(someRow(dice, (written += 1), now)));
        await t.logs.append(rows);
        if (dice.below(3) === 0) {
          const noted = storedRow({
            ...someRow(dice, 1 + dice.below(written), now),
            error_message: 'late',
            outcome: 'provider',
          });
          await t.logs.annotate(noted, 'after_request');
        }
        if (dice.below(5) === 0)
          await t.logs.purge(
            { stages: [], before: BEGIN + dice.below(now - BEGIN) },
            Number.MAX_SAFE_INTEGER,
            1 + dice.below(20),
          );
        for (let sums = dice.below(4); sums > 0; sums -= 1) await t.logs.sum(now);
        const edge = (): number | undefined =>
          dice.pick([undefined, BEGIN + dice.below(SLOTS) * SLOT_MS, BEGIN + dice.below(now - BEGIN)]);
        const [a, b] = [edge(), edge()];
        const window = { since: a, before: b !== undefined && a !== undefined && b <= a ? undefined : b };
        const what = `step ${step}`;
        await expectEqual(t, { ...dice.pick(FILTERS), ...window, stages: TERMINAL_STAGES }, what);
        if (step % 3 === 0) {
          const start = window.since ?? BEGIN - SLOTS * SLOT_MS;
          const end = Math.max(window.before ?? now + 1, start + 1000);
          const filters = { ...dice.pick(FILTERS), since: start, before: end, stages: TERMINAL_STAGES };
          await expectSeries(t, filters, { start, end, buckets: 1 + dice.below(7) }, what);
        }
        now += dice.pick([1000, 60_000, SLOT_MS, 2 * SLOT_MS]);
      }
      for (let left = 100; left > 0 && (await t.logs.sum(now)); left -= 1);
      for (const filters of FILTERS)
        await expectEqual(t, { ...filters, stages: TERMINAL_STAGES }, JSON.stringify(filters));
      await expectValues(t, BEGIN, undefined);
      await expectValues(t, BEGIN - 5000, BEGIN + dice.below(10 * SLOT_MS) + 1);
      const day = { start: BEGIN - SLOTS * SLOT_MS, end: BEGIN + 36 * SLOT_MS, buckets: 6 };
      await expectSeries(t, { since: day.start, before: day.end, stages: TERMINAL_STAGES }, day, 'a long series');
    });

  it('are made of rows that were there before, the newest first, and then nothing is left to do', async () => {
    const t = await opened(open);
    const dice = new Dice(99);
    await t.logs.append(
      Array.from({ length: 300 }, (_each, at) => storedRow(someRow(dice, at, BEGIN - dice.below(400) * SLOT_MS))),
    );
    let steps = 0;
    while ((await t.logs.sum(BEGIN)) && steps < 200) steps += 1;
    expect(await t.logs.sum(BEGIN), 'everything is summed up').to.equal(false);
    const [state] = await t.database.knex('request_log_summed').select('from_slot', 'up_to');
    expect([Number(state.from_slot), Number(state.up_to) > 0]).to.deep.equal([0, true]);
    await expectEqual(t, { stages: TERMINAL_STAGES }, 'all');
  });

  it('are what is answered with, and not the rows', async () => {
    const t = await opened(open);
    const row = storedRow({ trace_id: 't', stage: 'after_request', model: 'm', created_at: BEGIN + 1000 });
    await t.logs.append([row, row]);
    const count = async (): Promise<number> =>
      (await t.logs.statistics({ stages: TERMINAL_STAGES }, undefined)).groups[0]?.count ?? 0;
    while (await t.logs.sum(BEGIN + 2 * SLOT_MS));
    expect(await count()).to.equal(2);
    await t.database.knex('request_log_quarters').increment('count', 5);
    expect(await count()).to.equal(7);
    await t.logs.append([storedRow({ trace_id: 't2', stage: 'after_request', model: 'm', created_at: BEGIN + 2000 })]);
    expect(await count(), 'a row that comes late is read').to.equal(8);
    await t.logs.purge({ stages: [], before: BEGIN + 1500 }, Number.MAX_SAFE_INTEGER, 1);
    expect(await count(), 'a slot whose rows have changed is read').to.equal(2);
    while (await t.logs.sum(BEGIN + 4 * SLOT_MS));
    expect(await count()).to.equal(2);
    expect(await t.database.knex('request_log_stale').select('*')).to.deep.equal([]);
  });

  it('begin again where the table was emptied', async () => {
    const t = await opened(open);
    const dice = new Dice(3);
    await t.logs.append(Array.from({ length: 50 }, (_each, at) => storedRow(someRow(dice, at, BEGIN + SLOT_MS))));
    while (await t.logs.sum(BEGIN + 3 * SLOT_MS));
    await (t.database.dialect.name === 'postgres'
      ? t.database.knex.raw('TRUNCATE request_logs RESTART IDENTITY')
      : t.database.knex('request_logs').delete());
    await expectEqual(t, { stages: TERMINAL_STAGES }, 'empty');
    await t.logs.append(Array.from({ length: 20 }, (_each, at) => storedRow(someRow(dice, at, BEGIN + SLOT_MS))));
    await expectEqual(t, { stages: TERMINAL_STAGES }, 'filled again');
    while (await t.logs.sum(BEGIN + 6 * SLOT_MS));
    await expectEqual(t, { stages: TERMINAL_STAGES }, 'summed again');
  });
}

describe('sums of the request log by quarters', () => {
  describe('on SQLite', () => suite(() => openSqlite(':memory:', '.')));
  describe('on Postgres', function postgres() {
    this.timeout(60_000);
    const server = forSuite(() => startPostgres());
    suite(async () => openPostgres(await server().createDatabase()));
  });
});
