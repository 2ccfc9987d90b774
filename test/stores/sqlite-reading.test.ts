import { join } from 'node:path';
import { expect } from 'chai';
import type { Knex } from 'knex';
import type { Database } from '../../builtins/stores/database/database.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { atEnd, temporaryFolder } from '../kit/index.ts';

/** It would take minutes. */
const LONG =
  'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000000) SELECT max(i) FROM n';

async function opened(): Promise<Database> {
  const folder = await temporaryFolder();
  const database = await openSqlite(join(folder, 'it.db'), folder);
  atEnd(() => database.close());
  await database.knex.raw('CREATE TABLE it (at INTEGER)');
  return database;
}

const long = async (knex: Knex): Promise<unknown> => knex.raw(LONG);
const reasonOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it came to its end',
    (error: unknown) => error,
  );

describe('a reading of a SQLite file', function reading() {
  this.timeout(60_000);

  it('keeps no writer waiting, and ends at its signal', async () => {
    const database = await opened();
    const { knex } = database;
    const left = new AbortController();
    let isOver = false;
    const ended = reasonOf(database.read(long, left.signal)).finally(() => {
      isOver = true;
    });
    for (let at = 0; at < 20; at += 1) await knex('it').insert({ at });
    expect(await knex('it').count({ rows: '*' }).first()).to.deep.equal({ rows: 20 });
    expect(isOver).to.equal(false);
    const why = new Error('the client has left');
    left.abort(why);
    expect(await ended).to.equal(why);
  });

  it('ends with all of its statements, those that have not begun too, and leaves the connection to the next', async () => {
    const database = await opened();
    const { knex } = database;
    await knex('it').insert({ at: 1 });
    const left = new AbortController();
    const ended = reasonOf(database.read((on) => Promise.all([long(on), long(on), long(on)]), left.signal));
    const next = database.read(async (on) => on('it').pluck('at'));
    left.abort(new Error('over'));
    expect(await ended)
      .to.be.instanceOf(Error)
      .with.property('message', 'over');
    expect(await next).to.deep.equal([1]);
  });

  it('that waits for another one is not begun after its signal, and interrupts nothing', async () => {
    const database = await opened();
    const [first, second] = [new AbortController(), new AbortController()];
    const begun = Promise.withResolvers<void>();
    let isOver = false;
    const reading = reasonOf(
      database.read((on) => {
        begun.resolve();
        return long(on);
      }, first.signal),
    ).finally(() => {
      isOver = true;
    });
    let hasBegun = false;
    const waiting = reasonOf(
      database.read(async () => {
        hasBegun = true;
      }, second.signal),
    );
    await begun.promise;
    second.abort(new Error('second'));
    expect(await waiting).to.have.property('message', 'second');
    expect(isOver).to.equal(false);
    first.abort(new Error('first'));
    expect(await reading).to.have.property('message', 'first');
    await database.read(async () => {});
    expect(hasBegun).to.equal(false);
  });

  it('sees one state, and writes nothing', async () => {
    const database = await opened();
    const { knex } = database;
    const seen = await database.read(async (on) => {
      await on('it').count({ rows: '*' });
      await knex('it').insert({ at: 1 });
      return on('it').pluck('at');
    });
    expect(seen).to.deep.equal([]);
    expect(await reasonOf(database.read(async (on) => on('it').insert({ at: 2 })))).to.have.property(
      'code',
      'SQLITE_READONLY',
    );
    expect(await database.read(async (on) => on('it').pluck('at'))).to.deep.equal([1]);
  });

  it('is interrupted when the file is closed', async () => {
    const database = await opened();
    const begun = Promise.withResolvers<void>();
    const reading = reasonOf(
      database.read((on) => {
        begun.resolve();
        return long(on);
      }),
    );
    await begun.promise;
    await database.close();
    expect(await reading).to.have.property('message', 'the database is being closed');
    expect(await reasonOf(database.read(long, AbortSignal.abort(new Error('before'))))).to.have.property(
      'message',
      'before',
    );
  });
});
