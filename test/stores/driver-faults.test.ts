import { expect } from 'chai';
import type { Database } from '../../builtins/stores/database/database.ts';
import { isAnswer, withFaults } from '../../builtins/stores/database/driver-faults.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { WriteFault } from '../../host/stores/write-fault.ts';
import { atEnd, Dice, forSuite, startPostgres } from '../kit/index.ts';

/** What a store learns of a failed write: the kind of fault, or the driver's own code. */
async function kindOf(write: () => Promise<unknown>): Promise<unknown> {
  const failure: unknown = await withFaults(async () => {
    await write();
  }).catch((error: unknown) => error);
  return failure instanceof WriteFault ? failure.kind : (failure as { readonly code?: unknown } | undefined)?.code;
}

/** What a statement fails with, by the statement. */
type Statements = Readonly<Record<string, unknown>>;

const SHARED: Statements = {
  'INSERT INTO things (id, amount) VALUES (1, 1), (1, 2)': 'refused', // twice the same key
  'INSERT INTO things (id, amount) VALUES (2, NULL)': 'refused',
  "INSERT INTO things (id, amount, name) VALUES (3, 1, 'bad')": 'refused', // the check of the table
};

const ON_SQLITE: Statements = {
  ...SHARED,
  "INSERT INTO things (id, amount) VALUES ('text', 1)": 'refused', // a mismatch of types
  'INSERT INTO things (id, amount, name) VALUES (4, 1, zeroblob(2000000000))': 'refused', // too big
  'INSERT INTO missing VALUES (1)': 'SQLITE_ERROR',
  'INSERT INTO things VALUES (': 'SQLITE_ERROR',
};

const ON_POSTGRES: Statements = {
  ...SHARED,
  'INSERT INTO things (id, amount) VALUES (2, 9223372036854775807::bigint + 1)': 'refused', // out of range
  "INSERT INTO things (id, amount) VALUES (2, 'text')": 'refused',
  'INSERT INTO things (id, amount) VALUES (1, 1), (1, 1) ON CONFLICT (id) DO UPDATE SET amount = 3': 'refused', // two rows become one
  'INSERT INTO missing VALUES (1)': '42P01',
  'INSERT INTO things VALUES (': '42601',
  'SELECT pg_cancel_backend(pg_backend_pid())': '57014',
};

async function opened(open: () => Promise<Database>): Promise<Database> {
  const database = await open();
  atEnd(() => database.close());
  await database.knex.raw(
    "CREATE TABLE things (id INTEGER PRIMARY KEY, amount BIGINT NOT NULL, name TEXT UNIQUE CHECK (name <> 'bad'))",
  );
  return database;
}

describe('what failed because a database said no', () => {
  for (const [code, isNo] of [
    ['23505', true],
    ['25P03', true],
    ['40001', true],
    ['57014', true],
    ['57P01', false],
    ['08006', false],
    ['58030', false],
    ['XX000', false],
    ['EPIPE', false], // five letters, as a code of the database has
    ['ECONNRESET', false],
    [undefined, false],
  ] as const)
    it(`${isNo ? 'has' : 'has not'} the code ${code}`, () => {
      expect(isAnswer({ code })).to.equal(isNo);
    });
});

describe('what a driver says of a write, on SQLite', () => {
  for (const [statement, kind] of Object.entries(ON_SQLITE)) {
    it(`is ${String(kind)}: ${statement}`, async () => {
      const { knex } = await opened(() => openSqlite(':memory:', '.'));
      expect(await kindOf(() => knex.raw(statement))).to.equal(kind);
      expect(await kindOf(() => knex.raw('INSERT INTO things (id, amount) VALUES (1, 1)'))).to.equal(undefined);
    });
  }

  it('is refused where a trigger raises', async () => {
    const { knex } = await opened(() => openSqlite(':memory:', '.'));
    await knex.raw("CREATE TRIGGER no BEFORE INSERT ON things BEGIN SELECT RAISE(ABORT, 'no'); END");
    expect(await kindOf(() => knex.raw('INSERT INTO things (id, amount) VALUES (1, 1)'))).to.equal('refused');
  });
});

describe('what a driver says of a write, on Postgres', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite(startPostgres);
  const fresh = async (): Promise<Database> => {
    const dsn = await server().createDatabase();
    return opened(() => openPostgres(dsn));
  };

  it('goes by the class of its code', async () => {
    const { knex } = await fresh();
    for (const [statement, kind] of Object.entries(ON_POSTGRES))
      expect(await kindOf(() => knex.raw(statement)), statement).to.equal(kind);
  });

  it('is refused where a text is too long for an index', async () => {
    const { knex } = await fresh();
    const text = new Dice(1).bytes(4000).toString('hex'); // of which little can be compressed
    expect(await kindOf(() => knex.raw('INSERT INTO things (id, amount, name) VALUES (1, 1, ?)', [text]))).to.equal(
      'refused',
    );
  });

  it('is a conflict where two transactions wait for each other, or cannot be put in order', async () => {
    const { knex } = await fresh();
    await knex.raw('INSERT INTO things (id, amount) VALUES (1, 0), (2, 0)');
    const both = Promise.withResolvers<void>();
    let waiting = 0;
    const meet = async (): Promise<void> => {
      waiting += 1;
      if (waiting === 2) both.resolve();
      await both.promise;
    };
    const inTurn = (ids: readonly number[]) =>
      kindOf(() =>
        knex.transaction(async (trx) => {
          for (const id of ids) {
            await trx.raw('UPDATE things SET amount = amount + 1 WHERE id = ?', [id]);
            await meet();
          }
        }),
      );
    expect((await Promise.all([inTurn([1, 2]), inTurn([2, 1])])).toSorted()).to.deep.equal(['conflict', undefined]);

    const kind = await kindOf(() =>
      knex.transaction(
        async (trx) => {
          await trx.raw('SELECT amount FROM things');
          await knex.raw('UPDATE things SET amount = 9 WHERE id = 1');
          await trx.raw('UPDATE things SET amount = 8 WHERE id = 1');
        },
        { isolationLevel: 'repeatable read' },
      ),
    );
    expect(kind).to.equal('conflict');
  });

  it('is what it is where there is no server', async () => {
    const url = new URL(await server().createDatabase());
    url.port = '1';
    const database = await openPostgres(url.href);
    atEnd(() => database.close());
    expect(await kindOf(() => database.knex.raw('SELECT 1'))).to.equal('ECONNREFUSED');
  });
});
