import { join } from 'node:path';
import { expect } from 'chai';
import { type Database, rowsOf } from '../../builtins/stores/database/database.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { LOG_SCHEMA } from '../../builtins/stores/log/log-schema.ts';
import { SqlLogs } from '../../builtins/stores/log/sql-logs.ts';
import { statisticsBody } from '../../builtins/admin/logs/log-statistics.ts';
import { LogRetention } from '../../host/stores/log/log-retention.ts';
import { storedRow } from '../../host/stores/log/log-row.ts';
import { atEnd, fakeClock, forSuite, startPostgres, temporaryFolder } from '../kit/index.ts';
import { SILENT } from './backends.ts';

type Open = () => Promise<() => Promise<Database>>;

const models = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, at) => `m${from + at}`);

async function fill(logs: SqlLogs, from: number, to: number): Promise<void> {
  const stages = ['after_request', 'on_error', 'before_request'] as const;
  await logs.append(
    models(from, to).map((model, at) =>
      storedRow({ trace_id: 't', stage: stages[at % 3] ?? 'on_error', model, created_at: at }),
    ),
  );
}

const kept = async (database: Database): Promise<unknown[]> =>
  rowsOf(await database.knex.raw('SELECT model FROM request_logs ORDER BY id')).map(({ model }) => model);

/** Rows beyond a number. `open` gives an empty database, and then the same one for another process. */
function suite(open: Open): void {
  it('are the oldest, so many at most, whatever their stage', async () => {
    const database = await (await open())();
    await migrate(database, LOG_SCHEMA, SILENT, Date.now);
    const logs = new SqlLogs(database);
    await fill(logs, 0, 300);
    await logs.settle();
    await fill(logs, 300, 306); // not counted in on SQLite yet
    expect(await logs.purgeBeyond(306, 500)).to.equal(0);
    expect([
      await logs.purgeBeyond(300, 4),
      await logs.purgeBeyond(300, 4),
      await logs.purgeBeyond(300, 4),
    ]).to.deep.equal([4, 2, 0]);
    expect(await kept(database)).to.deep.equal(models(6, 306));
    expect([await logs.purgeBeyond(0, 500), await logs.purgeBeyond(0, 500), await kept(database)]).to.deep.equal([
      300,
      0,
      [],
    ]);
  });

  it('are no more where two processes delete at the same time', async () => {
    const process = await open();
    const [one, other] = [await process(), await process()];
    await migrate(one, LOG_SCHEMA, SILENT, Date.now);
    await fill(new SqlLogs(one), 0, 450);
    const deleted = await Promise.all(
      Array.from({ length: 8 }, (_, at) => new SqlLogs(at % 2 === 0 ? one : other).purgeBeyond(250, 60)),
    );
    expect(deleted.reduce((sum, count) => sum + count)).to.be.at.most(200);
    while ((await new SqlLogs(one).purgeBeyond(250, 60)) > 0);
    expect(await kept(one)).to.deep.equal(models(200, 450));
  });

  it('have figures that name the most frequent models; of more than 10,000 the rest counts for its provider and in all', async () => {
    const database = await (await open())();
    await migrate(database, LOG_SCHEMA, SILENT, Date.now);
    const moment = database.dialect.name === 'postgres' ? 'now()' : "'2026-01-01T00:00:00.000Z'";
    await database.knex.raw(
      `WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 10300)
      INSERT INTO request_logs (trace_id, stage, model, provider, created_at, prompt_tokens, completion_tokens, total_tokens, cost_usd)
      SELECT 't', 'after_request', 'm' || CASE WHEN n < 4 THEN 1 ELSE n END, CASE WHEN n % 2 = 0 AND n > 3 THEN 'p' ELSE 'q' END, ${moment}, 1, 2, 3, 0.5 FROM number`,
    );
    const found = await new SqlLogs(database).statistics({ stages: ['after_request'] }, undefined);
    const { summary, by_model, by_provider } = statisticsBody(found, undefined, 0) as Record<
      string,
      Record<string, any>
    >;
    expect(summary).to.deep.include({ total_entries: 10_300, total_tokens: 30_900, cost_usd: 5150 });
    expect([Object.keys(by_model ?? {}).length, Object.keys(by_model ?? {})[0], by_model?.['m1'].count]).to.deep.equal([
      10_000,
      'm1',
      3,
    ]);
    expect([by_provider?.['p'].count, by_provider?.['q'].count, by_provider?.['q'].tokens]).to.deep.equal([
      5149, 5151, 15_453,
    ]);
  });
}

describe('rows of a request log beyond their number, on SQLite', () =>
  suite(async () => {
    const folder = await temporaryFolder();
    return async () => {
      const database = await openSqlite(join(folder, 'logs.db'), folder);
      atEnd(() => database.close());
      return database;
    };
  }));

describe('rows of a request log beyond their number, on Postgres', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite(startPostgres);
  const open: Open = async () => {
    const dsn = await server().createDatabase();
    return async () => {
      const database = await openPostgres(dsn);
      atEnd(() => database.close());
      return database;
    };
  };
  suite(open);

  it('are found without looking at those that stay', async () => {
    const database = await (await open())();
    await migrate(database, LOG_SCHEMA, SILENT, Date.now);
    const logs = new SqlLogs(database);
    for (let at = 0; at < 4000; at += 500) await fill(logs, at, at + 500);
    await database.knex.raw('ANALYZE request_logs');
    const entries = async (): Promise<number> => {
      await database.on('reads').raw('SELECT pg_stat_force_next_flush()');
      await database.knex.raw('SELECT pg_stat_force_next_flush()');
      const [row] = rowsOf(
        await database.knex.raw(
          "SELECT coalesce(sum(idx_tup_read), 0) + (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'request_logs') AS entries FROM pg_stat_user_indexes WHERE relname = 'request_logs'",
        ),
      );
      return Number(row?.['entries']);
    };
    const before = await entries();
    for (let look = 0; look < 5; look += 1) expect(await logs.purgeBeyond(4000, 500)).to.equal(0);
    const between = await entries();
    expect(between - before, 'read to find nothing').to.be.at.most(50);
    expect(await logs.purgeBeyond(3990, 500)).to.equal(10);
    expect((await entries()) - between, 'read to delete ten').to.be.at.most(200);
  });
});

describe('who deletes what is beyond the retention', () => {
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  };

  it('is asked before each slice: who has lost the lead stops', async () => {
    const clock = fakeClock();
    let isLeader = false;
    const slices: string[] = [];
    const slice = (what: string) => async (): Promise<number> => {
      slices.push(what);
      if (slices.length === 3) isLeader = false;
      return what === 'old' ? 0 : 500;
    };
    const retention = new LogRetention(
      { days: 1, rows: 10 },
      {
        clock,
        log: SILENT,
        repository: { purge: slice('old'), purgeBeyond: slice('surplus') },
        ask: (call) => call(),
        isLeader: () => isLeader,
      },
    );
    clock.advance(5000);
    await turns();
    expect(slices).to.deep.equal([]);
    isLeader = true;
    clock.advance(5000);
    await turns();
    expect(slices).to.deep.equal(['old', 'surplus', 'surplus']);
    await retention.close();
    clock.advance(60_000);
    expect([slices.length, clock.waiting]).to.deep.equal([3, 0]);
  });
});
