import { expect } from 'chai';
import type { RequestLogRow, Stage } from '../../host/contract/index.ts';
import { cases, Dice } from '../kit/index.ts';
import type { AdminHost } from './kit.ts';
import { fill, forLogs, NOON, read } from './logs-kit.ts';

/** The request log as docs/admin.md#the-request-log has it, in a list. */
const ENDING = ['after_request', 'on_error'];
const NAMES = ['', 'm', 'M', 'm-2', "it's", '%', '_', '😀', '\ud800', '10', '__proto__', 'unknown', 'none', 'all'];
const ERRORS = ['', 'late', 'Late', 'é', 'z', '😀', 'a\0b', '\uffee', 'e0', 'e1', 'e2', 'e3', 'e4'];
const MOMENTS = [NOON - 3_600_000, NOON - 60_001, NOON - 60_000, NOON - 1000, NOON - 999.5, NOON - 1, NOON];
const AMOUNTS = [null, 0, 0.1, 1.5, 12, 100];
type Shown = Record<string, any>;

const formed = (text: string | undefined): string => (text ?? '').toWellFormed().replaceAll('\0', '\ufffd');
const iso = (at: number): string => new Date(Math.floor(at)).toISOString().replace('.000Z', 'Z');

function rowBy(dice: Dice, trace: number): RequestLogRow {
  const name = (): string | undefined => dice.pick([undefined, ...NAMES]);
  return {
    trace_id: dice.pick([`${trace}`.padStart(32, '0'), `t${dice.below(4)}`, '']),
    stage: dice.pick<Stage>(['before_request', 'after_request', 'after_request', 'on_error']),
    model: name() ?? '',
    provider: name(),
    api_key_id: name(),
    created_at: dice.pick(MOMENTS),
    error_message: dice.pick([undefined, '', ...ERRORS]),
    prompt_tokens: dice.below(5),
    completion_tokens: dice.below(5),
    total_tokens: dice.below(9),
    duration_ms: dice.pick(AMOUNTS),
    ttft_ms: dice.pick(AMOUNTS),
    cost_usd: dice.pick(AMOUNTS),
  };
}

function shown(row: RequestLogRow): Shown {
  const {
    trace_id,
    stage,
    model,
    provider,
    api_key_id,
    prompt_tokens,
    completion_tokens,
    total_tokens,
    error_message,
    created_at,
    duration_ms,
    ttft_ms,
    cost_usd,
  } = row;
  return {
    trace_id,
    stage,
    model: formed(model),
    api_key_id: formed(api_key_id),
    provider: formed(provider),
    prompt_tokens,
    completion_tokens,
    total_tokens,
    error_message: formed(error_message),
    created_at: iso(created_at),
    duration_ms,
    ttft_ms,
    cost_usd,
  };
}

interface Asked {
  readonly stage?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly api_key_id?: string;
  readonly since?: string;
  readonly before?: string;
}

const matching = (rows: readonly Shown[], { stage, model, provider, api_key_id: key, since, before }: Asked): Shown[] =>
  rows.filter(
    (row) =>
      (!stage || stage === 'all' || row['stage'] === stage) &&
      (!model || row['model'] === formed(model)) &&
      (!provider || row['provider'] === formed(provider)) &&
      (!key || (key === 'none' ? row['api_key_id'] === '' : row['api_key_id'] === formed(key))) &&
      (!since || Date.parse(row['created_at']) >= Date.parse(since)) &&
      (!before || Date.parse(row['created_at']) < Date.parse(before)),
  );
const isEnding = ({ stage }: Shown): boolean => ENDING.includes(stage);
const isError = (row: Shown): boolean => row['stage'] === 'on_error' || row['error_message'] !== '';
const sum = (rows: readonly Shown[], of: (row: Shown) => number): number =>
  rows.reduce((total, row) => total + of(row), 0);
const isUnpriced = (row: Shown): boolean =>
  row['stage'] === 'after_request' && !isError(row) && row['cost_usd'] === null;
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

function spread(rows: readonly Shown[], name: string): object | null {
  const values = rows
    .map((row) => row[name] as number | null)
    .filter((value) => value !== null)
    .sort((a, b) => a - b);
  if (values.length === 0) return null;
  const rank = (share: number): number => values[Math.ceil(share * values.length) - 1]!;
  return {
    p50: rank(0.5),
    p95: rank(0.95),
    p99: rank(0.99),
    max: values.at(-1),
    mean: values.reduce((a, b) => a + b) / values.length,
    count: values.length,
  };
}

function named(rows: readonly Shown[], name: string, limit: number): object {
  const groups = Map.groupBy(rows, (row) => row[name] || 'unknown');
  const sorted = [...groups].sort(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1));
  return Object.fromEntries(
    sorted.slice(0, limit || undefined).map(([key, of]) => [
      key,
      {
        count: of.length,
        errors: of.filter(isError).length,
        tokens: sum(of, (row) => row['total_tokens']),
        cost_usd: sum(of, (row) => row['cost_usd'] ?? 0),
        unpriced: of.filter(isUnpriced).length,
      },
    ]),
  );
}

function statistics(
  rows: readonly Shown[],
  asked: Asked & { readonly limit?: string; readonly buckets?: string },
): Shown {
  const all = matching(rows, asked);
  const summed = asked.stage && asked.stage !== 'all' ? all : all.filter(isEnding);
  const errors = Map.groupBy(
    summed.filter(({ error_message: text }) => text !== ''),
    ({ error_message: text }) => text as string,
  );
  return {
    summary: {
      total_entries: summed.length,
      error_entries: summed.filter(isError).length,
      total_tokens: sum(summed, (row) => row['total_tokens']),
      prompt_tokens: sum(summed, (row) => row['prompt_tokens']),
      completion_tokens: sum(summed, (row) => row['completion_tokens']),
      cost_usd: sum(summed, (row) => row['cost_usd'] ?? 0),
      unpriced_requests: summed.filter(isUnpriced).length,
    },
    latency_ms: spread(summed, 'duration_ms'),
    ttft_ms: spread(summed, 'ttft_ms'),
    by_stage: Object.fromEntries(
      [...Map.groupBy(all, ({ stage }) => stage as string)].map(([stage, of]) => [stage, of.length]),
    ),
    by_provider: named(summed, 'provider', Number(asked.limit ?? 0)),
    by_model: named(summed, 'model', Number(asked.limit ?? 0)),
    top_errors: [...errors]
      .map(([message, of]) => ({ message, count: of.length }))
      .sort((a, b) => b.count - a.count || byBytes(a.message, b.message))
      .slice(0, 8),
    series: series(all, asked.since, Number(asked.buckets ?? 0)),
    filters: {
      limit: Number(asked.limit ?? 0),
      buckets: Number(asked.buckets ?? 0),
      stage: asked.stage ?? '',
      model: formedQuery(asked.model),
      provider: formedQuery(asked.provider),
      since: asked.since ?? '',
    },
  };
}

function series(rows: readonly Shown[], since: string | undefined, buckets: number): object {
  if (!since || buckets === 0) return { points: [], truncated: false };
  const start = Date.parse(since);
  const end = Math.max(NOON, start + 1000);
  const at = (row: Shown): number =>
    Math.min(buckets - 1, Math.floor(((Date.parse(row['created_at']) - start) * buckets) / (end - start)));
  const points = Array.from({ length: buckets }, (_, bucket) => {
    const of = rows.filter((row) => at(row) === bucket);
    const ending = of.filter(isEnding);
    return {
      start: iso(Math.floor((start + bucket * ((end - start) / buckets)) / 1000) * 1000),
      requests: ending.length,
      errors: ending.filter(isError).length,
      prompt_tokens: sum(of, (row) => row['prompt_tokens']),
      completion_tokens: sum(of, (row) => row['completion_tokens']),
    };
  });
  return { points, truncated: false, start: iso(start), end: iso(end) };
}

/** A query cannot say half a surrogate pair. */
const formedQuery = (text: string | undefined): string => (text ?? '').toWellFormed();
const queryOf = (asked: object): string =>
  `?${new URLSearchParams(Object.entries(asked) as [string, string][]).toString()}`;

function askedBy(dice: Dice): Asked {
  const some = (values: readonly string[]): string | undefined => (dice.below(3) === 0 ? dice.pick(values) : undefined);
  const given = {
    stage: some([...ENDING, 'before_request', 'all', 'none such']),
    model: some(NAMES),
    provider: some(NAMES),
    since: some([
      ...MOMENTS.map((at) => new Date(Math.floor(at)).toISOString()),
      '2026-11-22T13:59:00.000+02:00',
      iso(NOON + 60_000),
    ]),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ''));
}

/** Sums of fractions depend on their order in their last digits. */
const rounded = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_name, member: unknown) =>
      typeof member === 'number' ? Number(member.toPrecision(10)) : member,
    ),
  );

class Model {
  rows: Shown[] = [];

  write(row: RequestLogRow): void {
    this.rows.push(shown(row));
  }

  annotate(stage: Stage, row: RequestLogRow): void {
    const of =
      row.trace_id === ''
        ? undefined
        : this.rows.findLast(
            (each) => each['trace_id'] === row.trace_id && each['stage'] === stage && each['error_message'] === '',
          );
    if (of) of['error_message'] = formed(row.error_message);
    else this.write(row);
  }

  /** The newest first, of one moment the one written last. */
  get newestFirst(): Shown[] {
    return this.rows
      .map((row, at) => ({ row, at }))
      .sort((a, b) => Date.parse(b.row['created_at']) - Date.parse(a.row['created_at']) || b.at - a.at)
      .map(({ row }) => row);
  }

  purge(asked: Asked): number {
    const gone = new Set(matching(this.rows, asked));
    this.rows = this.rows.filter((row) => !gone.has(row));
    return gone.size;
  }
}

async function listed(t: AdminHost, model: Model, dice: Dice): Promise<void> {
  const asked = { ...askedBy(dice), ...(dice.below(3) === 0 && { api_key_id: dice.pick(NAMES.slice(1)) }) };
  const [limit, offset] = [
    dice.pick([undefined, '1', '3', '200', '999']),
    dice.pick([undefined, '0', '2', '40', '5000']),
  ];
  const found = matching(asked.stage ? model.newestFirst : model.newestFirst.filter(isEnding), asked);
  const [from, many] = [Number(offset ?? 0), Math.min(200, Number(limit ?? 50))];
  const data = found.slice(from, from + many);
  const { stage = '', since = '' } = asked;
  expect(
    await read(t, `/admin/logs${queryOf({ ...asked, ...(limit && { limit }), ...(offset && { offset }) })}`),
    JSON.stringify(asked),
  ).to.deep.equal({
    data,
    summary: { total_entries: found.length, returned_entries: data.length },
    filters: {
      limit: many,
      offset: from,
      stage,
      stages: stage === '' ? ENDING : stage === 'all' ? [] : [stage],
      model: formedQuery(asked.model),
      provider: formedQuery(asked.provider),
      api_key_id: formedQuery(asked.api_key_id),
      since,
    },
  });
}

async function summed(t: AdminHost, model: Model, dice: Dice): Promise<void> {
  const [limit, buckets] = [dice.pick([undefined, '1', '2']), dice.pick([undefined, '0', '1', '7', '120'])];
  const asked = { ...askedBy(dice), ...(limit && { limit }), ...(buckets && { buckets }) };
  expect(rounded(await read(t, `/admin/logs/stats${queryOf(asked)}`)), JSON.stringify(asked)).to.deep.equal(
    rounded(statistics(model.rows, asked)),
  );
}

async function purged(t: AdminHost, model: Model, dice: Dice): Promise<void> {
  const { stage, model: name, provider } = askedBy(dice);
  const asked = {
    ...(stage && stage !== 'all' && { stage }),
    ...(name && { model: name }),
    ...(provider && { provider }),
    before: iso(dice.pick([...MOMENTS.slice(0, 4), NOON + 1])),
  };
  const answer = await t.request(
    'DELETE',
    `/admin/logs${queryOf({ ...asked, ...(dice.below(4) === 0 && { api_key_id: 'm' }) })}`,
  );
  expect([answer.status, answer.json()], JSON.stringify(asked)).to.deep.equal([
    200,
    {
      deleted: model.purge(asked),
      filters: {
        before: asked.before,
        stage: asked.stage ?? '',
        model: formedQuery(asked.model),
        provider: formedQuery(asked.provider),
      },
    },
  ]);
}

forLogs('the request log beside a list of its rows', (start) => {
  it('answers every question as the list does', async function generated() {
    this.timeout(600_000);
    const t = await start();
    const model = new Model();
    const log = t.host.stores.requestLog.value!;
    for (let seed = 0; seed < cases(600); seed += 1) {
      const dice = new Dice(seed);
      const rows = Array.from({ length: dice.pick([0, 1, 2, 12]) }, (_, at) => rowBy(dice, seed * 100 + at));
      if (dice.below(30) === 0) rows.push(...Array.from({ length: 1100 }, () => rows[0] ?? rowBy(dice, seed)));
      for (const row of rows) {
        model.write(row);
        fill(t, [row]);
        if (dice.below(6) > 0) continue;
        if (dice.below(2) === 0) await listed(t, model, dice);
        const late = {
          ...rowBy(dice, 0),
          trace_id: dice.pick([row.trace_id, 't1', '', 'none such']),
          error_message: 'came late',
        };
        const stage = dice.pick<Stage>(['after_request', 'after_request', 'before_request']);
        model.annotate(stage, late);
        log.annotate(stage, late);
      }
      for (let asked = 0; asked < 3; asked += 1) await dice.pick([listed, listed, summed])(t, model, dice);
      if (dice.below(5) === 0 || model.rows.length > 3000) await purged(t, model, dice);
    }
  });
});
