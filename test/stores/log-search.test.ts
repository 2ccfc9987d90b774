import { join } from 'node:path';
import { expect } from 'chai';
import type { Database } from '../../builtins/stores/database/database.ts';
import { LOG_SCHEMA } from '../../builtins/stores/log/log-schema.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { SqlLogs } from '../../builtins/stores/log/sql-logs.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import type { SearchPage } from '../../host/stores/log/log-repository.ts';
import type { LogPosition, LogSearch } from '../../host/stores/log/log-search.ts';
import { storedRow } from '../../host/stores/log/log-row.ts';
import { atEnd, forSuite, startPostgres, temporaryFolder } from '../kit/index.ts';
import { SILENT } from './backends.ts';

const ENDING = ['after_request', 'on_error'];
const SLICE = 20_000;

/** `many` rows, of which every 7,000th failed; many stand at one moment. */
async function filled(database: Database, many: number): Promise<SqlLogs> {
  await migrate(database, LOG_SCHEMA, SILENT, Date.now);
  const logs = new SqlLogs(database);
  for (let at = 0; at < many; at += 1000) {
    const rows = Array.from({ length: 1000 }, (_, each) =>
      storedRow({
        trace_id: `t${at + each}`,
        stage: 'after_request',
        model: 'm',
        status: (at + each) % 7000 === 0 ? 500 : 200,
        created_at: Math.floor((at + each) / 300),
      }),
    );
    await logs.append(rows);
  }
  return logs;
}

function suite(open: () => Promise<Database>): void {
  const search: LogSearch = { statuses: [[500, 599]] };
  const page = (logs: SqlLogs, from: LogPosition | undefined, limit: number, mayGoOn = true): Promise<SearchPage> =>
    logs.search({ stages: ENDING, search }, { limit, from, mayGoOn: () => mayGoOn });

  it('goes on from slice to slice, and from page to page', async () => {
    const logs = await filled(await open(), 45_000);
    const expected = ['t42000', 't35000', 't28000', 't21000', 't14000', 't7000', 't0'];
    const whole = await page(logs, undefined, 50);
    expect(whole.rows.map(({ trace_id: id }) => id)).to.deep.equal(expected);
    expect([whole.next, whole.searched, whole.searchedTo]).to.deep.equal([undefined, 45_000, 0]);
    const found: string[] = [];
    let [from, looked, pages]: [LogPosition | undefined, number, number] = [undefined, 0, 0];
    do {
      const one: SearchPage = await page(logs, from, 2);
      found.push(...one.rows.map(({ trace_id: id }) => id));
      looked += one.searched;
      pages += 1;
      from = one.next;
    } while (from);
    expect([found, looked, pages]).to.deep.equal([expected, 45_000, 4]);
  });

  it('ends after a slice when its time is over, and finds the rest from there', async () => {
    const logs = await filled(await open(), 45_000);
    const first = await page(logs, undefined, 50, false);
    expect([first.searched, first.rows.length]).to.deep.equal([SLICE, 3]);
    const second = await page(logs, first.next, 50, false);
    const third = await page(logs, second.next, 50, false);
    expect([second.searched, third.searched, third.next]).to.deep.equal([SLICE, 5000, undefined]);
    expect(first.rows.length + second.rows.length + third.rows.length).to.equal(7);
  });

  it('reads no decision', async () => {
    const database = await open();
    const logs = await filled(database, 1000);
    const asked: string[] = [];
    database.on('reads').on('query', ({ sql }: { sql: string }) => asked.push(sql));
    await page(logs, undefined, 5);
    expect(asked.length).to.be.greaterThan(0);
    expect(asked.filter((sql) => sql.includes('decision'))).to.deep.equal([]);
  });
}

describe('a search through many rows, on SQLite', () =>
  suite(async () => {
    const folder = await temporaryFolder();
    const database = await openSqlite(join(folder, 'logs.db'), folder);
    atEnd(() => database.close());
    return database;
  }));

describe('a search through many rows, on Postgres', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite(startPostgres);
  suite(async () => {
    const database = await openPostgres(await server().createDatabase());
    atEnd(() => database.close());
    return database;
  });
});
