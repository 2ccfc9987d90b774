import { expect } from 'chai';
import type { Database } from '../../builtins/stores/database/database.ts';
import { LOG_SCHEMA } from '../../builtins/stores/log/log-schema.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { SqlLogs } from '../../builtins/stores/log/sql-logs.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import type { LogRow } from '../../host/stores/log/log-repository.ts';
import { atEnd, Dice, forSuite, startPostgres } from '../kit/index.ts';
import { SILENT } from './backends.ts';

const TEXTS = ['', 'm', "it's", '"quoted" \\ and\nbroken', '{"a":[1,null]}', '12', 'null', 'true', '😀é', '$1 ? :a'];
const WHOLE = [0, 1, -1, 42, 2 ** 31, Number.MAX_SAFE_INTEGER];
const AMOUNTS = [0, 0.1, 1.5, 12.345, 1e-7, 1e21, 3];

/** A row with a value in each column, which some batches share. */
function rowBy(dice: Dice, shared: LogRow | undefined): LogRow {
  const pick = <T>(name: keyof LogRow, values: readonly T[]): T =>
    shared && dice.below(3) > 0 ? (shared[name] as T) : dice.pick(values);
  const text = (name: keyof LogRow): string | null => pick(name, [null, ...TEXTS]);
  const whole = (name: keyof LogRow): number | null => pick(name, [null, ...WHOLE]);
  const amount = (name: keyof LogRow): number | null => pick(name, [null, ...AMOUNTS]);
  return {
    trace_id: pick('trace_id', TEXTS),
    stage: pick('stage', ['after_request', 'on_error']),
    created_at: pick('created_at', [0, 1, 1_763_892_000_123]),
    model: text('model'),
    provider: text('provider'),
    api_key_id: text('api_key_id'),
    error_message: text('error_message'),
    ab_label: text('ab_label'),
    target: text('target'),
    cache: text('cache'),
    cost_source: text('cost_source'),
    catalog_version: text('catalog_version'),
    surface: text('surface'),
    client_wire: text('client_wire'),
    upstream_request_id: text('upstream_request_id'),
    session_id: text('session_id'),
    decision: text('decision'),
    prompt_tokens: pick('prompt_tokens', WHOLE),
    completion_tokens: pick('completion_tokens', WHOLE),
    total_tokens: pick('total_tokens', WHOLE),
    attempts: whole('attempts'),
    bytes_up: whole('bytes_up'),
    bytes_down: whole('bytes_down'),
    same_wire: whole('same_wire'),
    duration_ms: amount('duration_ms'),
    ttft_ms: amount('ttft_ms'),
    cost_usd: amount('cost_usd'),
  };
}

function suite(open: () => Promise<Database>): void {
  it('come back as they were given, whatever they share', async () => {
    const database = await open();
    await migrate(database, LOG_SCHEMA, SILENT, Date.now);
    const logs = new SqlLogs(database);
    const dice = new Dice(17);
    const given: LogRow[] = [];
    for (const length of [1, 2, 2, 3, 20, 200]) {
      const shared = rowBy(dice, undefined);
      const batch = Array.from({ length }, (_, at) => (dice.below(4) === 0 || at === 0 ? shared : rowBy(dice, shared)));
      await logs.append(batch);
      given.push(...batch);
    }
    await logs.append([given[0]!, given[0]!, given[0]!]);
    await logs.append([]);
    given.push(given[0]!, given[0]!, given[0]!);
    const { rows } = await logs.list({ stages: [] }, given.length + 1, 0);
    const newestFirst = given
      .map((row, at) => ({ row, at }))
      .sort((a, b) => b.row.created_at - a.row.created_at || b.at - a.at)
      .map(({ row }) => row);
    expect(rows).to.deep.equal(newestFirst);
  });
}

describe('rows that are written together, on SQLite', () =>
  suite(async () => {
    const database = await openSqlite(':memory:', '.');
    atEnd(() => database.close());
    return database;
  }));

describe('rows that are written together, on Postgres', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite(startPostgres);
  suite(async () => {
    const database = await openPostgres(await server().createDatabase());
    atEnd(() => database.close());
    return database;
  });
});
