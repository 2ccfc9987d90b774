import { globSync } from 'node:fs';
import { expect } from 'chai';
import type { Database } from '../../builtins/stores/database/database.ts';
import { type Migration, migrate, type Schema } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { OWNER_SCHEMA } from '../../builtins/stores/sql-owners.ts';
import { type LedgerStep, readsFrom } from '../../builtins/stores/database/step-ledgers.ts';
import type { Log } from '../../host/contract/index.ts';
import { atEnd, cases, Dice, forSuite, inSoak, startPostgres } from '../kit/index.ts';

const FOLDER = new URL('../../builtins/stores/', import.meta.url);

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && 'ledger' in value && 'migrations' in value;

/** Every schema that a file of the stores exports. */
async function schemasOfTheTree(): Promise<Schema[]> {
  const files = globSync('**/*.ts', { cwd: FOLDER }).filter((path) => !path.startsWith('build'));
  const modules = await Promise.all(files.map((path) => import(new URL(path, FOLDER).href) as Promise<object>));
  return [...new Set(modules.flatMap((each) => Object.values(each)).filter(isSchema))];
}

/** The newest steps that programs of 23 November 2026 knew; later ones of these ledgers may be beside them alone. */
const KNOWN = {
  api_key_schema_migrations: 4,
  ledger_schema_migrations: 1,
  resource_owner_schema_migrations: 1,
  session_schema_migrations: 1,
  audit_schema_migrations: 2,
  config_schema_migrations: 2,
  request_log_schema_migrations: 9,
};

/** Steps of a made-up table, numbered from 1, each with what it says of older programs. */
const schemaOf = (...said: readonly LedgerStep['readsFrom'][]): Schema => ({
  ledger: 'thing_schema_migrations',
  table: 'things',
  migrations: said.map((from, at): Migration => ({
    version: at + 1,
    name: `step ${at + 1}`,
    readsFrom: from,
    up: async (trx) => {
      if (at === 0) await trx.raw('CREATE TABLE things (id TEXT PRIMARY KEY)');
      else await trx.raw(`ALTER TABLE things ADD COLUMN of_${at + 1} TEXT`);
    },
  })),
});

const upTo = ({ migrations, ...schema }: Schema, newest: number): Schema => ({
  ...schema,
  migrations: migrations.filter(({ version }) => version <= newest),
});

/** A log that keeps what is said of newer databases. */
function listening() {
  const told: object[] = [];
  const log: Log = {
    debug: () => {},
    info: (message, attributes) => {
      if (message === 'the database is newer') told.push(attributes ?? {});
    },
    warn: () => {},
    error: () => {},
  };
  return { log, told };
}

const inMemory = (): Promise<Database> => openSqlite(':memory:', '/');

const columns = async ({ knex }: Database): Promise<string[]> =>
  Object.keys(await knex('things').columnInfo()).toSorted();

const versions = async ({ knex }: Database, table: string): Promise<number[]> =>
  (await knex(table).select('version').orderBy('version')).map(({ version }: { version: number }) => version);

const starts = (database: Database, schema: Schema): Promise<boolean> =>
  migrate(database, schema, listening().log, Date.now).then(
    () => true,
    () => false,
  );

describe('the steps of the tables', () => {
  it('say of which older programs they are the database still', async () => {
    const schemas = await schemasOfTheTree();
    expect(schemas.map(({ ledger }) => ledger)).to.include.members([
      'api_key_schema_migrations',
      'config_schema_migrations',
      'request_log_schema_migrations',
    ]);
    for (const { ledger, migrations } of schemas)
      for (const step of migrations)
        for (const name of ['sqlite', 'postgres'] as const) {
          const from = readsFrom(step, { name });
          const title = `${ledger}, step ${step.version}, on ${name}`;
          expect(ledger).to.match(/^[a-z_]+_schema_migrations$/);
          expect(from === null || (Number.isInteger(from) && from > 0 && from < step.version), title).to.equal(true);
        }
  });
});

for (const backend of ['SQLite', 'Postgres'] as const)
  describe(`a program beside the tables of a newer one, on ${backend}`, function onDatabase() {
    this.timeout(60_000);
    const server = backend === 'Postgres' ? forSuite(() => startPostgres()) : undefined;
    const empty = async (): Promise<Database> => {
      const database = await (server ? openPostgres(await server().createDatabase()) : inMemory());
      atEnd(() => database.close());
      return database;
    };

    /** On Postgres in the soak alone: the statements are those of SQLite. */
    const also = server ? inSoak : it;

    it('works on what was only added, says so once a start, and adds nothing itself', async () => {
      const newest = schemaOf(null, 1, 1, 1);
      const database = await empty();
      await migrate(database, newest, listening().log, Date.now);
      await database.knex.raw('ALTER TABLE things DROP COLUMN of_2');
      await database.knex('thing_schema_additions').where({ version: 2 }).delete();
      const before = await columns(database);
      const { log, told } = listening();
      await migrate(database, upTo(newest, 3), log, Date.now);
      expect(told).to.deep.equal([{ ledger: 'thing_schema_migrations', steps: '4' }]);
      expect(await columns(database)).to.deep.equal(before);
      await migrate(database, newest, log, Date.now);
      expect([told.length, await columns(database)]).to.deep.equal([1, ['id', 'of_2', 'of_3', 'of_4']]);
    });

    it('is one of 23 November 2026 as well, which knew one ledger: no step that it must know came after it', async () => {
      const database = await empty();
      const schemas = (await schemasOfTheTree()).filter(({ ledger }) => ledger in KNOWN);
      for (const schema of schemas) await migrate(database, schema, listening().log, Date.now);
      const required = Object.fromEntries(
        await Promise.all(schemas.map(async ({ ledger }) => [ledger, (await versions(database, ledger)).at(-1)])),
      );
      expect(required).to.deep.equal({ ...KNOWN, ...(server && { request_log_schema_migrations: 3 }) });
    });

    also(
      'finds the responses that the program of 26 November 2026 had not booked, and leaves that one its table',
      async () => {
        const database = await empty();
        const { knex } = database;
        await migrate(database, upTo(OWNER_SCHEMA, 1), listening().log, Date.now);
        const former =
          'CREATE TABLE running_responses (id TEXT PRIMARY KEY, body TEXT NOT NULL, created_at TIMESTAMP NOT NULL)';
        await knex.raw(former);
        await knex('running_responses').insert({ id: 'resp_1', body: '{}', created_at: '2026-11-26 15:00:00' });
        await knex(OWNER_SCHEMA.ledger).insert({ version: 2, name: 'its own', applied_at: '2026-11-26 14:00:00' });
        await migrate(database, OWNER_SCHEMA, listening().log, Date.now);
        expect(await knex('unbooked_responses').select('id', 'body')).to.deep.equal([{ id: 'resp_1', body: '{}' }]);
        expect(await versions(database, OWNER_SCHEMA.ledger)).to.deep.equal([1, 2]);
        for (const table of ['running_responses', 'unbooked_responses', OWNER_SCHEMA.ledger])
          await knex.raw(`DROP TABLE ${table}`);
        await migrate(database, OWNER_SCHEMA, listening().log, Date.now);
        await knex.raw(former);
      },
    );

    also('refuses by name what it must know and does not', async () => {
      const newest = schemaOf(null, 1, null);
      const database = await empty();
      await migrate(database, newest, listening().log, Date.now);
      const refusal = await migrate(database, upTo(newest, 2), listening().log, Date.now).then(
        () => 'none',
        (error: Error) => (error.cause as Error | undefined)?.message ?? error.message,
      );
      expect(refusal).to.match(/thing_schema_migrations holds version 3, and this program knows up to 2: a newer gw/);
    });

    it('is the program of before as well: it reads one ledger, which holds what it must know alone', async () => {
      const newest = schemaOf(null, null, 2, 1, 2);
      const database = await empty();
      await migrate(database, newest, listening().log, Date.now);
      expect(await versions(database, 'thing_schema_migrations')).to.deep.equal([1, 2]);
      expect(await versions(database, 'thing_schema_additions')).to.deep.equal([3, 4, 5]);
      const dropping = {
        ...newest,
        migrations: [...newest.migrations, ...schemaOf(null, 1, 1, 1, 1, 4).migrations.slice(5)],
      };
      await migrate(database, dropping, listening().log, Date.now);
      expect(await versions(database, 'thing_schema_migrations')).to.deep.equal([1, 2, 3, 4]);
      expect(await versions(database, 'thing_schema_additions')).to.deep.equal([5, 6]);
      expect([await starts(database, upTo(newest, 3)), await starts(database, upTo(newest, 4))]).to.deep.equal([
        false,
        true,
      ]);
    });

    also('makes all of it again where a table is gone with its ledger, and takes a table that has none', async () => {
      const newest = schemaOf(null, 1);
      const database = await empty();
      await migrate(database, newest, listening().log, Date.now);
      for (const table of ['things', 'thing_schema_migrations']) await database.knex.raw(`DROP TABLE ${table}`);
      await migrate(database, newest, listening().log, Date.now);
      expect(await columns(database)).to.deep.equal(['id', 'of_2']);
      await database.knex.raw('DROP TABLE thing_schema_migrations');
      await database.knex.raw('ALTER TABLE things DROP COLUMN of_2');
      await migrate(database, newest, listening().log, Date.now);
      expect(await columns(database)).to.deep.equal(['id', 'of_2']);
    });
  });

describe('of programs that come and go on one database', function ofMany() {
  this.timeout(60_000);

  it('each starts where it need not know any of the steps that it does not know, and there alone', async () => {
    for (let seed = 1; seed <= cases(100); seed += 1) {
      const dice = new Dice(seed);
      const upToNumber = (most: number): number => 1 + dice.below(most);
      const count = 1 + upToNumber(6);
      const said = Array.from({ length: count }, (_, at) => (at === 0 || dice.below(4) === 0 ? null : upToNumber(at)));
      const all = schemaOf(...said);
      const database = await inMemory();
      let newest = 0; // of the programs that started
      for (let turn = 0; turn < 8; turn += 1) {
        const known = upToNumber(count);
        const mayStart = said.every(
          (from, at) => at + 1 <= known || at + 1 > newest || (from !== null && from <= known),
        );
        const title = `seed ${seed}, steps ${JSON.stringify(said)}: up to ${known}, of ${newest}`;
        expect(await starts(database, upTo(all, known)), title).to.equal(mayStart);
        if (mayStart) newest = Math.max(newest, known);
      }
      expect(await columns(database), `seed ${seed}`).to.have.length(newest);
      await database.close();
    }
  });
});
