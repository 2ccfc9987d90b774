import { expect } from 'chai';
import { type Database, rowsOf } from '../../builtins/stores/database/database.ts';
import { LOG_SCHEMA } from '../../builtins/stores/log/log-schema.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import type { Log } from '../../host/contract/index.ts';
import { atEnd, forSuite, some, startPostgres, startRelay } from '../kit/index.ts';

const TABLE = 'request_logs';

describe('indexes of a table with rows, on Postgres', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite(() => startPostgres());
  const warnings: string[] = [];
  const log: Log = {
    debug: () => {},
    info: () => {},
    warn: (message) => {
      warnings.push(message);
    },
    error: () => {},
  };

  const row = (): object => ({
    stage: 'after_request',
    prompt_tokens: 1,
    completion_tokens: 1,
    total_tokens: 2,
    created_at: new Date().toISOString(),
  });

  /** One with a row, as a program left it that knew no indexes. */
  async function filled(): Promise<Database> {
    warnings.length = 0;
    const database = await openPostgres(await server().createDatabase());
    atEnd(() => database.close());
    await migrate(
      database,
      { ...LOG_SCHEMA, migrations: LOG_SCHEMA.migrations.filter((step) => 'up' in step) },
      log,
      Date.now,
    );
    await database.knex(TABLE).insert(row());
    return database;
  }

  const indexesOf = async ({ knex }: Database): Promise<readonly unknown[]> => {
    const rows = rowsOf(
      await knex.raw(
        `SELECT indexrelid::regclass::text AS name, indisvalid AS usable FROM pg_index WHERE indrelid = '${TABLE}'::regclass AND NOT indisprimary`,
      ),
    );
    return rows.map(({ name, usable }) => `${String(name)} ${String(usable)}`).toSorted();
  };
  const ALL = ['api_key_id', 'created', 'failed', 'model', 'provider', 'stage', 'trace'].map(
    (name) => `${TABLE}_${name} true`,
  );

  it('are built by one of several that start at once, and the bounds of statements hold again after it', async () => {
    const database = await filled();
    await Promise.all(Array.from({ length: 4 }, () => migrate(database, LOG_SCHEMA, log, Date.now)));
    expect([await indexesOf(database), warnings]).to.deep.equal([ALL, []]);
    const limits = rowsOf(await database.knex.raw('SHOW statement_timeout'));
    expect(limits[0]).to.deep.equal({ statement_timeout: '8s' });
  });

  it('are built again where a build has left one unusable', async () => {
    const database = await filled();
    await database.knex.raw(`CREATE INDEX ${TABLE}_trace ON ${TABLE} (stage)`);
    await database.knex.raw(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${TABLE}_trace'::regclass`);
    await migrate(database, LOG_SCHEMA, log, Date.now);
    expect(await indexesOf(database)).to.deep.equal(ALL);
    const [definition] = rowsOf(await database.knex.raw(`SELECT pg_get_indexdef('${TABLE}_trace'::regclass) AS text`));
    expect(definition?.['text']).to.include('(trace_id, stage)');
  });

  it('are put off to the next start where they cannot be built', async () => {
    const database = await filled();
    await database.knex.raw(`CREATE TABLE ${TABLE}_model (it TEXT)`);
    await migrate(database, LOG_SCHEMA, log, Date.now);
    expect(warnings).to.deep.equal(['indexes could not be built, the next start tries again']);
    await database.knex.raw(`DROP TABLE ${TABLE}_model`);
    await migrate(database, LOG_SCHEMA, log, Date.now);
    expect([await indexesOf(database), warnings.length]).to.deep.equal([ALL, 1]);
    const done = rowsOf(
      await database.knex.raw(
        'SELECT version FROM request_log_schema_migrations UNION ALL SELECT version FROM request_log_schema_additions ORDER BY version',
      ),
    );
    expect(done.map(({ version }) => version)).to.deep.equal(LOG_SCHEMA.migrations.map(({ version }) => version));
  });

  for (const text of some(['CREATE INDEX CONCURRENTLY', 'CREATE TRIGGER', 'schema_additions" (', 'COMMIT'], {
    every: 4,
  }))
    it(`are there whole, and each row is counted, where the first of three is lost after ${text} while rows are written`, async () => {
      const dsn = await server().createDatabase();
      const relay = await startRelay(dsn);
      const open = async (address: string): Promise<Database> => {
        const database = await openPostgres(address);
        atEnd(() => database.close());
        return database;
      };
      const [lost, one, two] = [await open(relay.url), await open(dsn), await open(dsn)];
      const newest = LOG_SCHEMA.migrations.filter(({ version }) => version > 2);
      await migrate(one, { ...LOG_SCHEMA, migrations: LOG_SCHEMA.migrations.slice(0, 2) }, log, Date.now);
      await one.knex(TABLE).insert(row());
      warnings.length = 0;
      let written = 1;
      const over = new AbortController();
      const writing = (async () => {
        for (; !over.signal.aborted; written += 1) await two.knex(TABLE).insert(row());
      })();
      const cut = relay.after(text, { then: 'cut' });
      const migrating = migrate(lost, LOG_SCHEMA, log, Date.now).then(
        () => 'went on',
        () => 'was lost',
      );
      await cut;
      await Promise.all([one, two].map((database) => migrate(database, LOG_SCHEMA, log, Date.now)));
      await migrating;
      over.abort();
      await writing;
      await migrate(one, LOG_SCHEMA, log, Date.now);
      expect(await indexesOf(one)).to.deep.equal(ALL);
      const done = rowsOf(await one.knex.raw('SELECT count(*)::int AS steps FROM request_log_schema_additions'));
      expect(done[0]?.['steps']).to.equal(newest.length - 1);
      const counted = rowsOf(await one.knex.raw('SELECT sum(entries)::int AS entries FROM request_log_counts'));
      expect(counted[0]?.['entries']).to.equal(written);
    });
});
