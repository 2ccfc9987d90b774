import { expect } from 'chai';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { atEnd, eventually, forSuite, startPostgres } from '../kit/index.ts';

describe('the connections of a store on Postgres', function onPostgres() {
  this.timeout(60_000);
  const dsn = forSuite(async () => (await startPostgres()).createDatabase());

  it('are ten at most, and five once nothing is asked any more', async () => {
    const [database, observer, holder] = [
      await openPostgres(dsn()),
      await openPostgres(dsn()),
      await openPostgres(dsn()),
    ];
    for (const each of [database, observer, holder]) atEnd(() => each.close());
    const open = async (): Promise<number> => {
      const { count } = (await observer
        .knex('pg_stat_activity')
        .count('* as count')
        .whereRaw('datname = current_database() AND pid <> pg_backend_pid()')
        .andWhere({ backend_type: 'client backend' })
        .first()) as { count: unknown };
      return Number(count);
    };
    let asked: Promise<unknown> | undefined;
    await holder.knex.transaction(async (trx) => {
      await trx.raw('SELECT pg_advisory_xact_lock(1)');
      asked = Promise.all(
        Array.from({ length: 30 }, () => database.knex.raw('SELECT pg_advisory_xact_lock_shared(1)')),
      ); // each holds its connection until the lock goes
      await eventually(async () => (await open()) >= 10 + 1);
      expect(await open(), 'and the one that holds the lock').to.equal(10 + 1);
    });
    await asked;
    expect(await open()).to.be.at.most(10 + 1);
    await eventually(async () => (await open()) === 5 + 1);
    await Promise.all(Array.from({ length: 5 }, () => database.knex.raw('SELECT 1')));
    expect(await open()).to.equal(5 + 1);
  });
});
