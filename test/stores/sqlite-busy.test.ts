import { lookup } from 'node:dns/promises';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Database } from '../../builtins/stores/database/database.ts';
import { openSqlite, type SqliteOptions } from '../../builtins/stores/database/sqlite.ts';
import { atEnd, eventually, fakeClock, some, startGateway, temporaryFolder } from '../kit/index.ts';

const FILES = 5;
const STATEMENTS = 4;

async function opened(file: string, options?: SqliteOptions): Promise<Database> {
  const database = await openSqlite(file, '.', options);
  atEnd(() => database.close());
  return database;
}

/** Keeps a file to itself until the returned function is called. */
async function locked(file: string): Promise<() => Promise<void>> {
  const { knex } = await opened(file);
  await knex.raw('CREATE TABLE IF NOT EXISTS it (at INTEGER)');
  const trx = await knex.transaction();
  await trx.raw('INSERT INTO it (at) VALUES (0)');
  return async () => {
    await trx.commit();
  };
}

describe('a statement of SQLite that meets the lock of another connection', function busy() {
  this.timeout(60_000);

  it('keeps no thread: names are looked up while five files are locked', async () => {
    const folder = await temporaryFolder();
    const files = Array.from({ length: FILES }, (_, at) => join(folder, `${at}.db`));
    const unlock = await Promise.all(files.map(locked));
    const databases = await Promise.all(files.map((file) => opened(file)));
    let settled = 0;
    const writing = databases.flatMap(({ knex }) =>
      Array.from({ length: STATEMENTS }, async () => {
        await knex.raw('INSERT INTO it (at) VALUES (1)').finally(() => {
          settled += 1;
        });
      }),
    );
    for (let round = 0; round < 5; round += 1) await lookup('localhost');
    expect(settled).to.equal(0);
    await Promise.all(unlock.map((open) => open()));
    await Promise.all(writing);
    for (const { knex } of databases) expect(await knex('it').where({ at: 1 })).to.have.length(STATEMENTS);
  });

  for (const [query, busyMs] of [
    ['', 5000],
    ['?_pragma=busy_timeout(300)', 300],
    ['?_pragma=busy_timeout(0)', 0],
  ] as const) {
    it(`is tried again after 2, 4, 8 … 100 ms, for ${busyMs} ms with the query "${query}"`, async () => {
      const file = join(await temporaryFolder(), 'it.db');
      const unlock = await locked(file);
      const clock = fakeClock();
      const { knex } = await opened(`${file}${query}`, { clock });
      await knex.raw('SELECT 1');
      let fault: unknown;
      const pauses: number[] = [];
      const writing = knex.raw('INSERT INTO it (at) VALUES (1)').catch((error: unknown) => {
        fault = error;
      });
      await eventually(() => {
        if (clock.next !== undefined) {
          pauses.push(clock.next);
          clock.advance(clock.next);
        }
        return fault !== undefined;
      }, 60_000);
      await writing;
      expect(fault).to.have.property('code', 'SQLITE_BUSY');
      expect(pauses.slice(0, 8)).to.deep.equal([2, 4, 8, 16, 32, 64, 100, 100].slice(0, busyMs === 0 ? 0 : 8));
      expect(clock.monotonic()).to.be.within(busyMs, busyMs + 100);
      await unlock();
      await knex.raw('INSERT INTO it (at) VALUES (2)');
    });
  }

  it('is waited for by those behind it, in their order', async () => {
    const file = join(await temporaryFolder(), 'it.db');
    const unlock = await locked(file);
    const { knex } = await opened(file);
    const writing = knex.transaction(async (trx) => {
      await Promise.all([1, 2, 3].map(async (at) => trx.raw('INSERT INTO it (at) VALUES (?)', [at])));
      return trx('it').orderBy('rowid').pluck('at');
    });
    await unlock();
    expect(await writing).to.deep.equal([0, 1, 2, 3]);
  });
});

describe('the threads that Node has for files, names and SQLite', function threads() {
  this.timeout(60_000);

  /** By the name that Node gives them. */
  const workersOf = (pid: number | undefined): number =>
    readdirSync(`/proc/${pid}/task`).filter(
      (task) => readFileSync(`/proc/${pid}/task/${task}/comm`, 'utf8').trim() === 'libuv-worker',
    ).length;

  it('are 16, unless the environment says otherwise', async function names() {
    if (!existsSync('/proc/self/task')) this.skip();
    for (const [variables, count] of some([
      [{}, 16],
      [{ UV_THREADPOOL_SIZE: '5' }, 5],
    ] as const)) {
      const gateway = await startGateway({
        variables: {
          ...variables,
          API_KEY_STORE_BACKEND: 'sqlite',
          API_KEY_STORE_DSN: join(await temporaryFolder(), 'keys.db'),
        },
      });
      expect(workersOf(gateway.child.pid)).to.equal(count);
      expect(await gateway.stop()).to.equal(0);
    }
  });
});
