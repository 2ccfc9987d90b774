import { expect } from 'chai';
import type { Database } from '../../builtins/stores/database/database.ts';
import { LOG_SCHEMA } from '../../builtins/stores/log/log-schema.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { SqlLogs } from '../../builtins/stores/log/sql-logs.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { LOG_COLUMN_LIST } from '../../host/contract/log-columns.ts';
import type { LogRow } from '../../host/stores/log/log-repository.ts';
import { atEnd, Dice, forSuite, startPostgres } from '../kit/index.ts';
import { SILENT } from './backends.ts';

const TEXTS = ['', 'm', "it's", '"quoted" \\ and\nbroken', '{"a":[1,null]}', '12', 'null', 'true', '😀é', '$1 ? :a'];
const WHOLE = [0, 1, -1, 42, 2 ** 31, Number.MAX_SAFE_INTEGER];
/** By kind, or by name. */
const VALUES: Readonly<Record<string, readonly (string | number)[]>> = {
  text: TEXTS,
  json: TEXTS,
  list: ['[]', '["a"]', '["a","b,c"]'],
  integer: WHOLE,
  boolean: WHOLE,
  real: [0, 0.1, 1.5, 12.345, 1e-7, 1e21, 3],
  moment: [0, 1, 1_763_892_000_123],
  stage: ['after_request', 'on_error'],
};

/** A row with a value in each column, which some batches share. */
function rowBy(dice: Dice, shared: LogRow | undefined): LogRow {
  const values = LOG_COLUMN_LIST.map(([name, { kind, isRequired, absent }]) => {
    if (shared && dice.below(3) > 0) return [name, shared[name]];
    const mayBeNull = !isRequired && absent === undefined;
    return [
      name,
      dice.pick<string | number | null>([...(mayBeNull ? [null] : []), ...(VALUES[name] ?? VALUES[kind]!)]),
    ];
  });
  return Object.fromEntries(values) as LogRow;
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
