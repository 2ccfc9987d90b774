import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { eventually, fakeClock, temporaryFolder } from '../kit/index.ts';

describe('a new SQLite file', () => {
  it('opens for all who open it at once', async () => {
    const folder = await temporaryFolder();
    const failures: unknown[] = [];
    for (let file = 0; file < 50; file += 1) {
      const opened = await Promise.all(Array.from({ length: 8 }, () => openSqlite(join(folder, `${file}.db`), folder)));
      const outcomes = await Promise.allSettled(
        opened.map(({ knex }) => knex.raw('CREATE TABLE IF NOT EXISTS it (version INTEGER)')),
      );
      failures.push(...outcomes.filter(({ status }) => status === 'rejected'));
      await Promise.all(opened.map((database) => database.close()));
    }
    expect(failures).to.deep.equal([]);
  });
});

describe('the connection of a SQLite file', () => {
  it('is lent to one after another, for as long as each may wait', async () => {
    const folder = await temporaryFolder();
    const clock = fakeClock();
    const database = await openSqlite(join(folder, 'it.db'), folder, { clock });
    const { knex } = database;
    await knex.raw('CREATE TABLE it (at INTEGER)');
    const first = await knex.transaction();
    const order: number[] = [];
    const writing = [1, 2, 3].map(async (at) => {
      await knex('it').insert({ at });
      order.push(at);
    });
    await first.commit();
    await Promise.all(writing);
    expect(order).to.deep.equal([1, 2, 3]);
    const second = await knex.transaction();
    const waiting = Promise.allSettled([knex('it').select('*'), knex('it').select('*')]);
    await eventually(() => clock.waiting === 2);
    clock.advance(9000);
    expect(
      (await waiting).map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : '')),
    ).to.deep.equal([
      'Error: the file was busy with other statements for 9000 ms',
      'Error: the file was busy with other statements for 9000 ms',
    ]);
    expect(clock.waiting).to.equal(0);
    const late = Promise.allSettled([knex('it').select('*')]);
    const closing = database.close();
    expect((await late)[0]).to.have.property('status', 'rejected');
    await second.commit();
    await closing;
    expect(await Promise.allSettled([knex('it').select('*')])).to.have.nested.property('[0].status', 'rejected');
  });

  it('is tried again where it could not be opened', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'it.db');
    const database = await openSqlite(file, folder);
    const { knex } = database;
    await rm(file);
    await mkdir(file);
    expect(await Promise.allSettled([knex.raw('SELECT 1'), knex.raw('SELECT 1')])).to.have.nested.property(
      '[1].status',
      'rejected',
    );
    await rmdir(file);
    await knex.raw('SELECT 1');
    await database.close();
  });
});
