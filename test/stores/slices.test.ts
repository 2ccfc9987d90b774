import { expect } from 'chai';
import { SLICE_SCHEMA, sliceSweeps } from '../../builtins/stores/ledger-slices.ts';
import { LEDGER_SCHEMA } from '../../builtins/stores/ledger-schema.ts';
import type { Database } from '../../builtins/stores/database/database.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { SHARED_SCHEMA } from '../../builtins/stores/replicas/replica-schema.ts';
import { SqlLedgers } from '../../builtins/stores/sql-ledgers.ts';
import { GatewayError, type Ledger, type Refusal, type Reservation } from '../../host/contract/index.ts';
import { SlicedLedgers } from '../../host/stores/ledgers/sliced-ledger.ts';
import { StoredLedgers } from '../../host/stores/ledgers/stored-ledgers.ts';
import { atEnd, cases, Dice, type FakeClock, fakeClock, forSuite, startPostgres } from '../kit/index.ts';
import { SILENT } from './backends.ts';

const LEDGER = 'budgets';

/** A replica, whose time stands still until the test moves it on. */
interface Replica {
  readonly ledger: Ledger;
  readonly ledgers: SlicedLedgers;
  readonly clock: FakeClock;
  readonly database: Database;
  /** Everything that was under way has ended, and what was booked is written. */
  readonly settled: () => Promise<void>;
}

describe('budgets of replicas on one Postgres', function onPostgres() {
  this.timeout(120_000);
  const open = forSuite(async () => {
    const dsn = await (await startPostgres()).createDatabase();
    const database = await openPostgres(dsn);
    for (const schema of [SHARED_SCHEMA, LEDGER_SCHEMA, SLICE_SCHEMA])
      await migrate(database, schema, SILENT, Date.now);
    atEnd(() => database.close());
    return { dsn, database };
  });

  async function replicas(count: number, failure: 'open' | 'closed' = 'open'): Promise<readonly Replica[]> {
    const { dsn, database: direct } = open();
    await direct.knex.raw('TRUNCATE ledger_accounts, ledger_slices, ledger_holders');
    return Promise.all(
      Array.from({ length: count }, async () => {
        const database = await openPostgres(dsn);
        atEnd(() => database.close());
        const clock = fakeClock();
        const deps = { clock, log: SILENT, backend: 'postgres', failure };
        const stored = await StoredLedgers.load(new SqlLedgers(database), deps);
        const ledgers = new SlicedLedgers(stored, stored.slices!);
        const settled = async (): Promise<void> => {
          clock.advance(100);
          await stored.read(async () => undefined);
        };
        return { ledger: ledgers.open(LEDGER, { maxKeys: 0 }), ledgers, clock, database, settled };
      }),
    );
  }

  const sumOf = async (sql: string): Promise<number> =>
    Number((await open().database.knex.raw<{ rows: { sum: string | null }[] }>(sql)).rows[0]?.sum ?? 0);
  const committed = (): Promise<number> => sumOf('SELECT sum(committed) AS sum FROM ledger_accounts');
  const outstanding = (): Promise<number> => sumOf('SELECT sum(amount) AS sum FROM ledger_slices');

  for (const isWhole of [true, false])
    for (let seed = 1; seed <= cases(10); seed += 1)
      it(`are never spent beyond their limit, ${isWhole ? 'by no call' : 'but by the one that crosses it'} (seed ${seed})`, async () => {
        const all = await replicas(3);
        const dice = new Dice(seed);
        const limit = 1000 + dice.below(500);
        const held: { readonly reservation: Reservation; readonly amount: number }[] = [];
        let [spent, refusals] = [0, 0];
        for (let step = 0; step < 120; step += 1) {
          const what = dice.below(10);
          const batch = Array.from({ length: 1 + dice.below(4) }, () => ({
            by: dice.pick(all),
            amount: 1 + dice.below(30),
          }));
          if (what < 5) {
            const answers = await Promise.all(
              batch.map(async ({ by, amount }) => by.ledger.reserve('a', { amount, limit, isWhole })),
            );
            let granted = spent + held.reduce((sum, { amount }) => sum + amount, 0);
            for (const [at, answer] of answers.entries()) {
              if (!answer.isGranted) {
                refusals += 1;
                continue;
              }
              granted += batch[at]!.amount;
              expect(granted, 'what is spent and held').to.be.at.most(limit + (isWhole ? 0 : 30));
              held.push({ reservation: answer, amount: batch[at]!.amount });
            }
          } else if (what < 8) {
            for (const { reservation, amount } of held.splice(0, 1 + dice.below(3))) {
              const used = dice.below(3) === 0 ? 0 : dice.below(amount + 1);
              if (used === 0) reservation.release();
              else void reservation.settle(used);
              spent += used;
            }
          } else await dice.pick(all).settled();
          if (isWhole) expect((await committed()) + (await outstanding())).to.be.at.most(limit);
        }
        for (const { reservation, amount } of held) {
          void reservation.settle(amount);
          spent += amount;
        }
        for (const { ledgers } of all) await ledgers.close();
        expect([await committed(), await outstanding()]).to.deep.equal([spent, 0]);
        expect(refusals).to.be.greaterThan(0);
        expect(spent).to.be.at.most(limit + (isWhole ? 0 : 30));
      });

  it('ask the database seldom while much is left, and for every call where little is', async () => {
    const [one] = (await replicas(1)) as [Replica];
    const order = { amount: 1, limit: 10_000 };
    let asked = 0;
    for (let call = 0; call < 500; call += 1) {
      const answer = one.ledger.reserve('a', order);
      if (answer instanceof Promise) asked += 1;
      void ((await answer) as Reservation).settle(1);
    }
    expect(asked).to.be.within(1, 20);
    await one.settled();
    expect(one.ledger.reserve('a', { amount: 1, limit: 505 })).to.not.equal(undefined);
  });

  it('go back where they are not used, so that another replica spends all that is left', async () => {
    const [one, other] = (await replicas(2)) as [Replica, Replica];
    for (let call = 0; call < 50; call += 1)
      void ((await one.ledger.reserve('a', { amount: 10, limit: 10_000 })) as Reservation).settle(10);
    await one.settled();
    expect(await outstanding()).to.be.greaterThan(0);
    for (let second = 0; second < 4; second += 1) {
      one.clock.advance(1000);
      await one.settled();
    }
    await one.settled();
    expect(await outstanding()).to.equal(0);
    let calls = 0;
    for (;;) {
      const answer = await other.ledger.reserve('a', { amount: 100, limit: 10_000, isWhole: true });
      if (!answer.isGranted) break;
      void answer.settle(100);
      calls += 1;
    }
    expect(calls).to.equal(95);
  });

  it('count no more what a lost replica held, unless nothing may cross them', async () => {
    const [lost, other] = (await replicas(2)) as [Replica, Replica];
    const order = { amount: 80, limit: 100 };
    expect((await lost.ledger.reserve('one', order)).isGranted).to.equal(true);
    expect((await lost.ledger.reserve('none', { ...order, isWhole: true })).isGranted).to.equal(true);
    const both = async (): Promise<boolean[]> => [
      (await other.ledger.reserve('one', { ...order, limit: 80 })).isGranted,
      (await other.ledger.reserve('none', { ...order, isWhole: true })).isGranted,
    ];
    expect(await both()).to.deep.equal([false, false]);
    await open().database.knex.raw(
      "UPDATE ledger_holders SET until = now() - interval '2 days' WHERE until = (SELECT min(until) FROM ledger_holders)",
    );
    expect(await both()).to.deep.equal([true, false]);
    for (const { slice } of sliceSweeps(open().database)) await slice(500);
    expect(await sumOf('SELECT count(*) AS sum FROM ledger_holders')).to.equal(1);
    expect(await outstanding()).to.equal(160);
  });

  it('say to an answer that got lost how much is really held', async () => {
    const [one] = (await replicas(1)) as [Replica];
    const held = (await one.ledger.reserve('a', { amount: 10, limit: 100 })) as Reservation;
    await open().database.knex.raw('UPDATE ledger_slices SET amount = 60'); // a draw whose answer did not arrive
    void held.settle(10);
    await one.settled();
    expect([await committed(), await outstanding()]).to.deep.equal([10, 0]);
  });

  describe('while it is away', () => {
    async function away(count: number, failure?: 'closed'): Promise<readonly Replica[]> {
      const all = await replicas(count, failure);
      for (const { ledger } of all)
        void ((await ledger.reserve('a', { amount: 10, limit: 1000 })) as Reservation).settle(10);
      for (const { ledger, settled } of all) {
        await settled();
        ((await ledger.reserve('a', { amount: 1, limit: 1000 })) as Reservation).release();
      }
      for (const { clock, settled } of all) {
        clock.advance(1000); // each hears of the others
        await settled();
        await settled();
      }
      for (const { database, clock, ledgers } of all) {
        await database.close();
        clock.advance(1000);
        await ledgers.close(); // it notices
      }
      return all;
    }

    const spendAll = async (all: readonly Replica[], limit: number): Promise<number> => {
      let spent = 0;
      for (let round = 0; round < 200; round += 1)
        for (const { ledger } of all) {
          const answer = await ledger.reserve('a', { amount: 10, limit });
          if (!answer.isGranted) continue;
          void answer.settle(10);
          spent += 10;
        }
      return spent;
    };

    it('are shared by the replicas, and their shares are no more than what was left', async () => {
      const spent = await spendAll(await away(3), 1000);
      expect(spent).to.be.within(900, 970 + 3 * 10); // each crosses its share once
    });

    it('grant all that is left where a replica is alone', async () => {
      const spent = await spendAll(await away(1), 1000);
      expect(spent).to.be.within(980, 1000);
    });

    it('are refused with 503 where that is wanted, and always where nothing may cross them', async () => {
      const [closed] = await away(1, 'closed');
      const [whole] = await away(1);
      for (const call of [
        () => closed!.ledger.reserve('b', { amount: 1, limit: 100 }),
        () => whole!.ledger.reserve('b', { amount: 1, limit: 100, isWhole: true }),
      ]) {
        let error: unknown;
        try {
          await (call() as Promise<Reservation | Refusal>);
        } catch (thrown) {
          error = thrown;
        }
        expect(error).to.be.instanceOf(GatewayError);
        expect((error as GatewayError).code).to.equal('store_unavailable');
      }
    });
  });
});
