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

const END = '89abcdef';
/** With one end, shorter than it, none, and of characters that are two code units. */
const TRACES = [`0123${END}`, `4567${END}`, END, 'cdef', '', `${'😀'.repeat(4)}${'é'.repeat(4)}`, '😀'];

const rowOf = (trace: string, more: Partial<Parameters<typeof storedRow>[0]> = {}): LogRow =>
  storedRow({ trace_id: trace, stage: 'after_request', model: 'm', created_at: 1, ...more });

function suite(open: () => Promise<Database>): void {
  it('are those of the whole id', async () => {
    const database = await open();
    await migrate(database, LOG_SCHEMA, SILENT, Date.now);
    const logs = new SqlLogs(database);
    await logs.append(TRACES.map((trace, at) => rowOf(trace, { model: `m${at}` })));
    const models = await Promise.all(TRACES.map(async (trace) => (await logs.newestOf(trace))?.model));
    expect(models).to.deep.equal(TRACES.map((_trace, at) => `m${at}`));
    expect(await logs.newestOf(`89ab${END}`)).to.equal(undefined);
    const errorsOf = async (trace: string): Promise<unknown[]> =>
      database.knex('request_logs').where({ trace_id: trace }).orderBy('id').pluck('error_message');
    await logs.annotate(rowOf(TRACES[1]!, { error_message: 'late' }), 'after_request');
    expect(await errorsOf(TRACES[1]!)).to.deep.equal(['late']);
    await logs.annotate(rowOf(TRACES[1]!, { error_message: 'later' }), 'after_request'); // its row has an error: it becomes one of its own
    await logs.annotate(rowOf(`89ab${END}`, { error_message: 'x' }), 'after_request');
    expect(await errorsOf(TRACES[1]!)).to.deep.equal(['late', 'later']);
    expect(await errorsOf(`89ab${END}`)).to.deep.equal(['x']);
    expect(await errorsOf(TRACES[0]!)).to.deep.equal([null]);
  });

  it('stand in the order in which they were given', async () => {
    const database = await open();
    await migrate(database, LOG_SCHEMA, SILENT, Date.now);
    const logs = new SqlLogs(database);
    const given = Array.from({ length: 1200 }, (_, at) => `m${(at * 7919) % 1200}`);
    await logs.append(given.map((model) => rowOf('t', { model })));
    expect(
      ((await database.knex('request_logs').select('model').orderBy('id')) as { model: string }[]).map(
        ({ model }) => model,
      ),
    ).to.deep.equal(given);
  });
}

describe('rows of a trace, on SQLite', () => {
  const open = async (): Promise<Database> => {
    const folder = await temporaryFolder();
    const database = await openSqlite(join(folder, 'logs.db'), folder);
    atEnd(() => database.close());
    return database;
  };
  suite(open);

  it('are found in every block of rows that is left', async () => {
    const database = await open();
    await migrate(database, LOG_SCHEMA, SILENT, Date.now);
    const logs = new SqlLogs(database);
    const traces = Array.from({ length: 13_000 }, (_, at) => `${at % 3}${String(at % 100).padStart(8, '0')}`); // many with one end, some with one id
    for (let at = 0; at < traces.length; at += 1000)
      await logs.append(
        traces
          .slice(at, at + 1000)
          .map((trace, place) => rowOf(trace, { model: `m${at + place}`, created_at: at + place })),
      );
    await database.knex('request_logs').where('id', '<=', 5000).orWhereBetween('id', [8193, 12_288]).delete(); // the first block, part of the second, and all of the third
    for (const at of [5000, 5001, 8191, 12_288, 12_999])
      expect((await logs.newestOf(traces[at]!))?.model, String(at)).to.equal(`m${traces.lastIndexOf(traces[at]!)}`);
    await database.knex('request_logs').where('id', '>', 8192).delete();
    expect((await logs.newestOf(traces[6000]!))?.model).to.equal(`m${traces.lastIndexOf(traces[6000]!, 8191)}`);
    await database.knex('request_logs').delete();
    expect(await logs.newestOf(traces[6000]!)).to.equal(undefined);
  });

  for (const before of [7, 8])
    it(`are found by an index, also in a database of before its version ${before}`, async () => {
      const database = await open();
      await migrate(
        database,
        { ...LOG_SCHEMA, migrations: LOG_SCHEMA.migrations.filter(({ version }) => version < before) },
        SILENT,
        Date.now,
      );
      const logs = new SqlLogs(database);
      const { trace_id, stage } = rowOf(TRACES[0]!);
      await database.knex('request_logs').insert({
        trace_id,
        stage,
        prompt_tokens: 0,
        completion_tokens: 0,
        total_tokens: 0,
        created_at: database.dialect.time(0),
      });
      await migrate(database, LOG_SCHEMA, SILENT, Date.now);
      const asked: { sql: string; bindings: readonly string[] }[] = [];
      for (const knex of [database.knex, database.on('reads')])
        knex.on('query', (query: { sql: string; bindings: readonly string[] }) => asked.push(query));
      await logs.annotate(rowOf(TRACES[0]!, { error_message: 'late' }), 'after_request');
      expect(await logs.newestOf(TRACES[0]!)).to.include({ error_message: 'late' });
      const plans = await Promise.all(
        asked
          .filter(({ sql }) => sql.includes('request_logs'))
          .map(
            ({ sql, bindings }) =>
              database.knex.raw(`EXPLAIN QUERY PLAN ${sql}`, bindings) as Promise<{ detail: string }[]>,
          ),
      );
      expect(plans).to.have.length(2);
      for (const plan of plans)
        expect(plan.map(({ detail }) => detail).join('\n'))
          .to.include('request_logs_trace_block')
          .and.not.match(/SCAN (?!block)/);
    });
});

describe('rows of a trace, on Postgres', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite(startPostgres);
  suite(async () => {
    const database = await openPostgres(await server().createDatabase());
    atEnd(() => database.close());
    return database;
  });
});
