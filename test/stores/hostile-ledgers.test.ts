import { join } from 'node:path';
import { expect } from 'chai';
import type { Database } from '../../builtins/stores/database/database.ts';
import { SHARED_SCHEMA } from '../../builtins/stores/replicas/replica-schema.ts';
import { LEDGER_SCHEMA } from '../../builtins/stores/ledger-schema.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { SqlLedgers } from '../../builtins/stores/sql-ledgers.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { MOST_SUM } from '../../host/common/bounded-sum.ts';
import type { Booking, LedgerRepository, StoredAccount } from '../../host/stores/ledgers/ledger-repository.ts';
import { StoredLedgers } from '../../host/stores/ledgers/stored-ledgers.ts';
import { WriteFault } from '../../host/stores/write-fault.ts';
import {
  atEnd,
  cases,
  Dice,
  fakeClock,
  type FakeClock,
  forSuite,
  startPostgres,
  temporaryFolder,
} from '../kit/index.ts';
import { Truth, WHOLE } from '../state/hostile-amounts.ts';
import { SILENT } from './backends.ts';

const KEYS = ['a', 'b', 'c', 'full'];
/** What the last of them has spent before: a few bookings below the largest sum. */
const NEARLY_ALL = MOST_SUM - 3e9;

/** A table whose writes fail, before they reach it and after, as those of a database do. */
class Unruly implements LedgerRepository {
  readonly #table: SqlLedgers;
  readonly #dice: Dice;
  /** A table refuses no rows that it has. */
  readonly #kept = new Set<number | undefined>();
  isCalm = false;
  /** Calls that are on their way. */
  pending = 0;

  constructor(table: SqlLedgers, dice: Dice) {
    this.#table = table;
    this.#dice = dice;
  }

  get isShared(): boolean {
    return this.#table.isShared;
  }

  async book(bookings: readonly Booking[], number?: number): Promise<readonly StoredAccount[]> {
    const choice = this.isCalm ? 9 : this.#dice.below(10);
    if (choice < 2) throw new Error('away');
    if (choice < 4) throw new WriteFault('conflict', new Error('deadlock'));
    if (choice === 4 && bookings.length > 1 && !this.#kept.has(number))
      throw new WriteFault('refused', new Error('a row'));
    const accounts = await this.#counted(this.#table.book(bookings, number));
    this.#kept.add(number);
    if (choice === 5) throw new Error('the answer is lost');
    return accounts;
  }

  read(withinMs?: number): Promise<readonly StoredAccount[]> {
    return this.#counted(this.#table.read(withinMs));
  }

  async #counted<T>(call: Promise<T>): Promise<T> {
    this.pending += 1;
    return call.finally(() => {
      this.pending -= 1;
    });
  }
}

async function migrated(open: () => Promise<Database>): Promise<Database> {
  const database = await open();
  atEnd(() => database.close());
  for (const schema of [SHARED_SCHEMA, LEDGER_SCHEMA]) await migrate(database, schema, SILENT, Date.now);
  return database;
}

interface Process {
  readonly table: Unruly;
  readonly clock: FakeClock;
  readonly ledgers: StoredLedgers;
}

/** Ledgers of one process, before a table that is unruly. */
async function begun(database: Database, dice: Dice): Promise<Process> {
  const table = new Unruly(new SqlLedgers(database), dice);
  const clock = fakeClock();
  return { table, clock, ledgers: await StoredLedgers.load(table, { clock, log: SILENT, backend: 'test' }) };
}

async function ended({ table, ledgers }: Process): Promise<void> {
  table.isCalm = true;
  await ledgers.close();
}

async function storedSums(database: Database): Promise<Record<string, bigint>> {
  const rows = (await database
    .knex('ledger_accounts')
    .select('account', database.knex.raw('CAST(committed AS TEXT) AS sum'))) as { account: string; sum: string }[];
  return Object.fromEntries(rows.map(({ account, sum }) => [account, BigInt(sum)]));
}

/** Several processes book at random, lose the store, and begin again. */
async function book(database: Database, dice: Dice, processes: number): Promise<Truth> {
  const truth = new Truth(dice, WHOLE);
  truth.begin('full', BigInt(NEARLY_ALL));
  const setUp = await StoredLedgers.load(new SqlLedgers(database), {
    clock: fakeClock(),
    log: SILENT,
    backend: 'test',
  });
  await new SqlLedgers(database).book([
    { ledger: 'l', key: 'full', amount: NEARLY_ALL, limit: undefined, isAnew: false },
  ]);
  await setUp.close();
  const running = await Promise.all(Array.from({ length: processes }, () => begun(database, dice)));
  for (let step = 0; step < 400; step += 1) {
    const at = dice.below(processes);
    const { ledgers, clock, table } = running[at] as Process;
    const choice = dice.below(20);
    if (choice === 0) {
      await ended(running[at] as Process);
      running[at] = await begun(database, dice);
    } else if (choice < 6) {
      clock.advance(table.pending > 0 ? 1 : dice.pick([100, 1000]));
      for (let turn = dice.below(20); turn > 0; turn -= 1)
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
    } else {
      const key = dice.pick(KEYS);
      ledgers.open('l', { maxKeys: 0 }).commit(key, truth.spend(key));
    }
  }
  for (const each of running) await ended(each);
  return truth;
}

function suite(open: () => Promise<Database>, processes: number): void {
  for (let seed = 1; seed <= cases(30); seed += 1) {
    it(`hold the truth, to the micro-dollar, though every tenth amount is hostile and the store is unruly: seed ${seed}`, async () => {
      const database = await open();
      const truth = await book(database, new Dice(seed), processes);
      const expected = Object.fromEntries(KEYS.map((key) => [key, truth.of(key)]));
      expect(await storedSums(database)).to.deep.equal(expected);
      const again = await begun(database, new Dice(0));
      const ledger = again.ledgers.open('l', { maxKeys: 0 });
      expect(Object.fromEntries(KEYS.map((key) => [key, BigInt(ledger.committed(key))]))).to.deep.equal(expected);
      expect(expected['full']).to.equal(BigInt(MOST_SUM));
      await ended(again);
    });
  }

  it('keep what every other key spends where the store refuses one of them', async () => {
    const database = await open();
    await refuse(database, 'bad');
    const told: unknown[] = [];
    const clock = fakeClock();
    const ledgers = await StoredLedgers.load(new SqlLedgers(database), {
      clock,
      backend: 'test',
      log: {
        ...SILENT,
        error: (message, { key } = {}) => {
          told.push([message, key]);
        },
      },
    });
    const ledger = ledgers.open('l', { maxKeys: 0 });
    const keys = Array.from({ length: 500 }, (_, at) => `k${at}`);
    for (const key of [...keys, 'bad']) ledger.commit(key, 2);
    await ledgers.close();
    expect(await storedSums(database)).to.deep.equal(Object.fromEntries(keys.map((key) => [key, 2n])));
    expect(told).to.deep.equal([
      ['a row was refused by its store', 'bad'],
      ['what was spent is lost: the store of ledgers refused it', undefined],
    ]);
    expect(ledger.committed('bad')).to.equal(2);
  });
}

/** From now on the table takes no row of this account. */
async function refuse({ knex, dialect }: Database, account: string): Promise<void> {
  if (dialect.name === 'postgres')
    await knex.raw(`ALTER TABLE ledger_accounts ADD CONSTRAINT none CHECK (account <> '${account}')`);
  else
    await knex.raw(
      `CREATE TRIGGER none BEFORE INSERT ON ledger_accounts WHEN NEW.account = '${account}' BEGIN SELECT RAISE(ABORT, 'none'); END`,
    );
}

/** What stands in the column, and what it counts as: at a start, and after 10 more were booked. */
type Standing = readonly (readonly [sql: string, read: number, after: number])[];

const BEYOND: Standing = [
  ['9007199254740991', MOST_SUM, MOST_SUM],
  ['9007199254740990', MOST_SUM - 1, MOST_SUM],
  ['9007199254740992', MOST_SUM, MOST_SUM],
  ['9223372036854775807', MOST_SUM, MOST_SUM],
  ['-5', 0, 10],
  ['-9223372036854775808', 0, 10],
  ['0', 0, 10],
  ['7', 7, 17],
];
/** SQLite keeps whatever is written to it. */
const GARBAGE: Standing = [
  ['9e99', MOST_SUM, MOST_SUM],
  ['9e999', MOST_SUM, MOST_SUM],
  ['-9e999', 0, 10],
  ['9223372036854775807 + 1', MOST_SUM, MOST_SUM],
  ['5.75', 5, 15],
  ["'much'", MOST_SUM, MOST_SUM],
  ["''", MOST_SUM, MOST_SUM],
  ["'12 or so'", MOST_SUM, MOST_SUM],
  ["x'00ff'", MOST_SUM, MOST_SUM],
  ["'12'", 12, 22],
];

function reads(open: () => Promise<Database>, standing: Standing): void {
  it('begin with whatever stands in the table, never with 0 where that is too much', async () => {
    const database = await open();
    for (const [at, [sql]] of standing.entries())
      await database.knex.raw(
        `INSERT INTO ledger_accounts (ledger, account, committed, spend_limit, written_at) VALUES ('l', 'k${at}', ${sql}, NULL, CURRENT_TIMESTAMP)`,
      );
    const sums = async (): Promise<unknown[]> => {
      const ledgers = await StoredLedgers.load(new SqlLedgers(database), {
        clock: fakeClock(),
        log: SILENT,
        backend: 'test',
      });
      const ledger = ledgers.open('l', { maxKeys: 0 });
      const read = standing.map((_row, at) => ledger.committed(`k${at}`));
      for (const at of standing.keys()) ledger.commit(`k${at}`, 10);
      await ledgers.close();
      return read;
    };
    expect(await sums()).to.deep.equal(standing.map(([, read]) => read));
    expect(await sums()).to.deep.equal(standing.map(([, , after]) => after));
    for (const sum of Object.values(await storedSums(database)))
      expect(sum <= BigInt(MOST_SUM) && sum > 0n).to.equal(true);
  });

  it('begin with whatever limit stands in the table', async () => {
    const database = await open();
    for (const [at, [sql]] of standing.entries())
      await database.knex.raw(
        `INSERT INTO ledger_accounts (ledger, account, committed, spend_limit, written_at) VALUES ('l', 'k${at}', 1, ${sql}, CURRENT_TIMESTAMP)`,
      );
    for (const { limit } of await new SqlLedgers(database).read()) expect(limit).to.be.within(0, MOST_SUM);
  });
}

describe('ledgers on SQLite, with hostile amounts', () => {
  const open = async (): Promise<Database> => {
    const folder = await temporaryFolder();
    return migrated(() => openSqlite(join(folder, 'all.db'), folder));
  };
  suite(open, 1);
  reads(open, [...BEYOND, ...GARBAGE]);
});

describe('ledgers on Postgres, with hostile amounts', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite(startPostgres);
  const open = async (): Promise<Database> => {
    const dsn = await server().createDatabase();
    return migrated(() => openPostgres(dsn));
  };
  suite(open, 3);
  reads(open, BEYOND);

  it('keep what every other key spends, though two keys become the same one in the table and another is too long for it', async () => {
    const database = await open();
    const ledgers = await StoredLedgers.load(new SqlLedgers(database), {
      clock: fakeClock(),
      log: SILENT,
      backend: 'test',
    });
    const ledger = ledgers.open('l', { maxKeys: 0 });
    const long = new Dice(1).bytes(4000).toString('hex');
    for (const [at, key] of ['x\ud800', 'x\ud801', long, 'y', '\0'].entries()) ledger.commit(key, at + 1);
    await ledgers.close();
    expect(await storedSums(database)).to.deep.equal({ 'x\ufffd': 3n, y: 4n, '\ufffd': 5n });
  });
});
