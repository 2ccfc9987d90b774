import { join } from 'node:path';
import { expect } from 'chai';
import type { Database } from '../../builtins/stores/database/database.ts';
import { LOG_SCHEMA } from '../../builtins/stores/log/log-schema.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { SqlLogs } from '../../builtins/stores/log/sql-logs.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import type { LogRow } from '../../host/stores/log/log-repository.ts';
import { storedRow } from '../../host/stores/log/log-row.ts';
import { atEnd, forSuite, startPostgres, temporaryFolder } from '../kit/index.ts';
import { SILENT } from './backends.ts';

const ENDING = ['after_request', 'on_error'];
const PLAIN = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, created_at: '2026-01-01T00:00:00.000Z' };
const rows = (stage: string, count: number): LogRow[] =>
  Array.from({ length: count }, (_, at) =>
    storedRow({ trace_id: 't', stage: stage as 'on_error', model: 'm', created_at: at }),
  );

/** `open` gives the empty database of one more process each time. */
function suite(open: () => Promise<() => Promise<Database>>): void {
  const upTo = (version: number): typeof LOG_SCHEMA => ({
    ...LOG_SCHEMA,
    migrations: LOG_SCHEMA.migrations.filter((step) => step.version <= version),
  });
  const counts = async (logs: SqlLogs): Promise<readonly number[]> =>
    Promise.all([[], ENDING, ['before_request'], ['none such']].map((stages) => logs.count({ stages })));

  it('is that of the rows, whichever program writes, moves and deletes them', async () => {
    const process = await open();
    const [database, other] = [await process(), await process()];
    await migrate(database, LOG_SCHEMA, SILENT, Date.now);
    const logs = new SqlLogs(database);
    expect(await counts(logs)).to.deep.equal([0, 0, 0, 0]);
    await Promise.all(
      [...ENDING, 'before_request'].flatMap((stage) => [
        logs.append(rows(stage, 30)),
        new SqlLogs(other).append([...rows('on_error', 1), ...rows('after_request', 2)]),
      ]),
    );
    expect(await counts(logs)).to.deep.equal([99, 69, 30, 0]);
    await other.knex('request_logs').insert([
      { ...PLAIN, stage: 'on_error' },
      { ...PLAIN, stage: 'none such' },
    ]);
    await other.knex('request_logs').where({ stage: 'before_request' }).limit(1).update({ error_message: 'later' });
    expect(await counts(logs)).to.deep.equal([101, 70, 30, 1]);
    await other.knex('request_logs').where({ stage: 'none such' }).update({ stage: 'before_request' });
    expect(await counts(logs)).to.deep.equal([101, 70, 31, 0]);
    expect(await logs.purge({ stages: ['on_error'] }, Number.MAX_SAFE_INTEGER, 10)).to.equal(10);
    expect(await counts(logs)).to.deep.equal([91, 60, 31, 0]);
    await other.knex('request_logs').truncate();
    expect(await counts(logs)).to.deep.equal([0, 0, 0, 0]);
  });

  it('holds when many come, of which some leave before they are counted in', async () => {
    const database = await (await open())();
    await migrate(database, LOG_SCHEMA, SILENT, Date.now);
    const logs = new SqlLogs(database);
    const expected = { before_request: 0, on_error: 0 };
    for (const [at, many] of [3000, 3000, 500, 5000, 101].entries()) {
      await logs.append([...rows('before_request', many), ...rows('on_error', at + 1)]);
      await logs.settle();
      const purged = await logs.purge({ stages: ['before_request'] }, Number.MAX_SAFE_INTEGER, many - 100);
      expected.before_request += many - purged;
      expected.on_error += at + 1;
      expect(await counts(logs)).to.deep.equal([
        expected.before_request + expected.on_error,
        expected.on_error,
        expected.before_request,
        0,
      ]);
    }
    if (database.dialect.name === 'sqlite')
      expect(await database.knex('request_log_counted').first()).to.deep.equal({ up_to: 3001 + 3002 + 503 + 5004 });
  });

  it('holds of a table that is emptied and begins again at the first id', async () => {
    const database = await (await open())();
    await migrate(database, LOG_SCHEMA, SILENT, Date.now);
    const logs = new SqlLogs(database);
    for (const many of [1, 5000, 3]) {
      // the newest are counted in, or not yet
      await logs.append(rows('on_error', many));
      await logs.settle();
      if (many === 3) await logs.purge({ stages: [] }, 1, 1);
      await database.knex('request_logs').truncate();
      await logs.append([...rows('on_error', 4), ...rows('before_request', 2)]);
      expect(await counts(logs)).to.deep.equal([6, 4, 2, 0]);
      await logs.purge({ stages: ['on_error'] }, Number.MAX_SAFE_INTEGER, 3);
      expect(await counts(logs)).to.deep.equal([3, 1, 2, 0]);
      await database.knex('request_logs').delete();
      expect(await counts(logs)).to.deep.equal([0, 0, 0, 0]);
    }
  });

  it('holds of a table that is adopted again, because its ledger is gone', async () => {
    const database = await (await open())();
    for (const many of [5, 5000, 7]) {
      await migrate(database, LOG_SCHEMA, SILENT, Date.now);
      const logs = new SqlLogs(database);
      for (const each of [1, many]) {
        // the newest are counted in, or not yet
        await logs.append(rows('on_error', each));
        await logs.settle();
      }
      const [before = 0] = await counts(logs);
      await database.knex(LOG_SCHEMA.ledger).delete();
      await migrate(database, LOG_SCHEMA, SILENT, Date.now);
      expect(await counts(logs)).to.deep.equal([before, before, 0, 0]);
      await logs.append(rows('on_error', 1));
      await logs.purge({ stages: [] }, Number.MAX_SAFE_INTEGER, 1);
      expect(await counts(logs)).to.deep.equal([before, before, 0, 0]);
    }
  });

  it('keeps nothing of what was not kept', async () => {
    const database = await (await open())();
    await migrate(database, LOG_SCHEMA, SILENT, Date.now);
    const logs = new SqlLogs(database);
    const over = await database.knex
      .transaction(async (trx) => {
        await trx('request_logs').insert({ ...PLAIN, stage: 'on_error' });
        throw new Error('over');
      })
      .catch((error: Error) => error.message);
    expect([over, await counts(logs)]).to.deep.equal(['over', [0, 0, 0, 0]]);
  });

  it('holds of a table that was there before, which others write meanwhile', async () => {
    const process = await open();
    const [database, other] = [await process(), await process()];
    await migrate(database, upTo(3), SILENT, Date.now);
    const [logs, theirs] = [new SqlLogs(database), new SqlLogs(other)];
    /** As a program writes that knows no later column. */
    const write = async ({ knex }: Database, stage: string, count: number): Promise<unknown> =>
      knex('request_logs').insert(Array.from({ length: count }, () => ({ ...PLAIN, stage })));
    for (const stage of [...ENDING, 'before_request']) await write(database, stage, 50);
    await migrate(database, upTo(4), SILENT, Date.now);
    await write(other, 'on_error', 3);
    await theirs.purge({ stages: ['before_request'] }, Number.MAX_SAFE_INTEGER, 50);
    const writing = Promise.all(Array.from({ length: 20 }, () => write(other, 'after_request', 2)));
    await migrate(database, LOG_SCHEMA, SILENT, Date.now);
    await writing;
    const { total } = (await database.knex('request_logs').count({ total: '*' }).first()) as { total: unknown };
    expect([await logs.count({ stages: [] }), await logs.count({ stages: ['before_request'] })]).to.deep.equal([
      Number(total),
      0,
    ]);
    await migrate(other, LOG_SCHEMA, SILENT, Date.now);
    expect(await logs.count({ stages: [] })).to.equal(Number(total));
  });

  it('is looked up, and not counted, where stages alone are asked for', async () => {
    const database = await (await open())();
    await migrate(database, LOG_SCHEMA, SILENT, Date.now);
    const logs = new SqlLogs(database);
    await logs.append(rows('on_error', 5));
    const asked: string[] = [];
    database.on('reads').on('query', ({ sql }: { sql: string }) => asked.push(sql));
    expect((await logs.list({ stages: ENDING }, 2, 0)).total).to.equal(5);
    const counting = asked.splice(0).filter((sql) => /count\(/i.test(sql));
    if (database.dialect.name === 'postgres') expect(counting).to.deep.equal([]);
    for (const sql of counting) {
      // on SQLite the newest rows are, by their ids
      const plan = (await database.knex.raw(`EXPLAIN QUERY PLAN ${sql}`, [...ENDING, ...ENDING, 1])) as {
        readonly detail: string;
      }[];
      expect(plan.map(({ detail }) => detail)).to.include('SEARCH request_logs USING INTEGER PRIMARY KEY (rowid>?)');
    }
    asked.length = 0;
    expect((await logs.list({ stages: ENDING, model: 'm' }, 2, 0)).total).to.equal(5);
    expect(asked.filter((sql) => /count\(/i.test(sql))).to.have.length(1);
  });
}

describe('the number of rows of a request log, on SQLite', () =>
  suite(async () => {
    const folder = await temporaryFolder();
    return async () => {
      const database = await openSqlite(join(folder, 'logs.db'), folder);
      atEnd(() => database.close());
      return database;
    };
  }));

describe('the number of rows of a request log, on Postgres', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite(startPostgres);
  suite(async () => {
    const dsn = await server().createDatabase();
    return async () => {
      const database = await openPostgres(dsn);
      atEnd(() => database.close());
      return database;
    };
  });
});
