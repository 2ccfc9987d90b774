import { join } from 'node:path';
import { expect } from 'chai';
import type { Database } from '../../builtins/stores/database/database.ts';
import { SHARED_SCHEMA } from '../../builtins/stores/replicas/replica-schema.ts';
import { LEDGER_SCHEMA } from '../../builtins/stores/ledger-schema.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { SqlLedgers } from '../../builtins/stores/sql-ledgers.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { systemClock } from '../../host/common/clock.ts';
import type { Booking, LedgerRepository, StoredAccount } from '../../host/stores/ledgers/ledger-repository.ts';
import { StoredLedgers } from '../../host/stores/ledgers/stored-ledgers.ts';
import { atEnd, cases, Dice, eventually, forSuite, startPostgres, temporaryFolder } from '../kit/index.ts';
import { SILENT, widen } from './backends.ts';

const booking = (ledger: string, key: string, amount: number, more: Partial<Booking> = {}): Booking => ({
  ledger,
  key,
  amount,
  limit: undefined,
  isAnew: false,
  ...more,
});
const rows = (accounts: readonly StoredAccount[]): unknown[] =>
  accounts.map(({ ledger, key, committed, limit }) => [ledger, key, committed, limit]);

async function migrated(open: () => Promise<Database>): Promise<Database> {
  const database = await open();
  atEnd(() => database.close());
  for (const schema of [SHARED_SCHEMA, LEDGER_SCHEMA]) await migrate(database, schema, SILENT, Date.now);
  await widen(database, LEDGER_SCHEMA.table);
  return database;
}

/** Declares the same for a table of each database. */
function keeps(open: () => Promise<LedgerRepository>): void {
  it('adds up, by ledger and key, and gives back what stands there', async () => {
    const table = await open();
    await table.book([booking('one', 'k', 5, { limit: 100 }), booking('two', 'k', 7), booking('one', "ü'?", 2 ** 52)]);
    expect(rows(await table.book([booking('one', 'k', 10), booking('one', 'other', 1)]))).to.have.deep.members([
      ['one', 'k', 15, undefined],
      ['one', 'other', 1, undefined],
    ]);
    await table.book([booking('one', 'k', 1, { limit: 200 })]);
    const all = [
      ['one', 'k', 16, 200],
      ['one', 'other', 1, undefined],
      ['one', "ü'?", 2 ** 52, undefined],
      ['two', 'k', 7, undefined],
    ];
    expect(rows(await table.read())).to.have.deep.members(all);
    expect(rows(await table.read(30_000))).to.have.deep.members(all);
  });

  it('begins anew where a booking says so, and takes more than one statement holds', async () => {
    const table = await open();
    await table.book(Array.from({ length: 1001 }, (_, at) => booking('one', `k${at}`, at + 1)));
    await table.book([
      booking('one', 'k3', 9, { isAnew: true }),
      booking('one', 'k4', 0, { isAnew: true }),
      booking('one', 'gone', 0, { isAnew: true }),
    ]);
    const accounts = await table.read();
    expect(accounts).to.have.length(1000);
    expect(accounts.find(({ key }) => key === 'k3')?.committed).to.equal(9);
    expect(accounts.some(({ key }) => key === 'k4')).to.equal(false);
  });

  it('keeps when an account ends, whatever adds to it, reads none that ended before a moment, and removes those', async () => {
    const table = await open();
    const endsAt = Date.parse('2026-11-27T05:00:00Z');
    await table.book([
      booking('one', 'a', 5, { endsAt }),
      booking('one', 'b', 1, { endsAt: endsAt + 1 }),
      booking('one', 'c', 1),
    ]);
    const [sum] = await table.book([booking('one', 'a', 2)]);
    expect([sum?.committed, sum?.endsAt]).to.deep.equal([7, endsAt]);
    await table.book([booking('one', 'a', -3)]);
    const known = async (endedBefore?: number): Promise<unknown[]> =>
      (await table.read(undefined, endedBefore))
        .toSorted((one, other) => one.key.localeCompare(other.key))
        .map((each) => [each.key, each.committed, each.endsAt]);
    const [a, b, c] = [
      ['a', 4, endsAt],
      ['b', 1, endsAt + 1],
      ['c', 1, undefined],
    ];
    expect(await known()).to.deep.equal([a, b, c]);
    expect(await known(endsAt)).to.deep.equal([a, b, c]);
    expect(await known(endsAt + 1)).to.deep.equal([b, c]);
    expect(await table.sweep?.(endsAt, 10)).to.equal(0);
    expect(await table.sweep?.(endsAt + 2, 1)).to.equal(1);
    expect(await table.sweep?.(endsAt + 2, 10)).to.equal(1);
    expect(await known()).to.deep.equal([c]);
  });
}

describe('ledgers on SQLite', () => {
  keeps(async () => {
    const folder = await temporaryFolder();
    return new SqlLedgers(await migrated(() => openSqlite(join(folder, 'all.db'), folder)));
  });
});

describe('ledgers on Postgres', function onPostgres() {
  this.timeout(60_000);
  const open = forSuite(async () => {
    const dsn = await (await startPostgres()).createDatabase();
    await migrated(() => openPostgres(dsn));
    return () => migrated(() => openPostgres(dsn));
  });
  keeps(async () => {
    const database = await open()();
    await database.knex.raw('TRUNCATE ledger_accounts');
    return new SqlLedgers(database);
  });

  it('reads only what was written of late, where that is asked', async () => {
    const database = await open()();
    await database.knex.raw(
      "TRUNCATE ledger_accounts; INSERT INTO ledger_accounts (ledger, account, committed, spend_limit, written_at) VALUES ('one', 'old', 1, NULL, CURRENT_TIMESTAMP - interval '1 minute')",
    );
    const table = new SqlLedgers(database);
    await table.book([booking('one', 'new', 2)]);
    expect(rows(await table.read(30_000))).to.deep.equal([['one', 'new', 2, undefined]]);
    expect(await table.read()).to.have.length(2);
  });

  it('are the same in every process, to the micro-dollar', async () => {
    const dice = new Dice(3);
    await (await open()()).knex.raw('TRUNCATE ledger_accounts');
    const replicas = await Promise.all(
      [1, 2, 3].map(async () =>
        StoredLedgers.load(new SqlLedgers(await open()()), { clock: systemClock, log: SILENT, backend: 'postgres' }),
      ),
    );
    atEnd(async () => {
      for (const replica of replicas) await replica.close();
    });
    const ledgers = replicas.map((replica) => replica.open('l', { maxKeys: 0 }));
    const spent = { a: 0, b: 0 };
    for (let call = 0; call < cases(2000); call += 1) {
      const key = dice.pick(['a', 'b'] as const);
      const amount = 1 + dice.below(50);
      dice.pick(ledgers).commit(key, amount);
      spent[key] += amount;
      if (call % 20 === 0)
        await new Promise((resolve) => {
          setTimeout(resolve, 20);
        });
    }
    const known = (): object[] => ledgers.map((ledger) => ({ a: ledger.committed('a'), b: ledger.committed('b') }));
    await eventually(() => known().every((sums) => JSON.stringify(sums) === JSON.stringify(spent)));
    expect(known()).to.deep.equal([spent, spent, spent]);
  });
});
