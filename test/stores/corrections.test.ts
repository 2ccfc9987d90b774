import { join } from 'node:path';
import { expect } from 'chai';
import type { Database } from '../../builtins/stores/database/database.ts';
import { SHARED_SCHEMA } from '../../builtins/stores/replicas/replica-schema.ts';
import { LEDGER_SCHEMA } from '../../builtins/stores/ledger-schema.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { SqlLedgers } from '../../builtins/stores/sql-ledgers.ts';
import { OWNER_SCHEMA } from '../../builtins/stores/sql-owners.ts';
import { SqlRunningResponses } from '../../builtins/stores/sql-running.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import {
  MemoryRunningResponses,
  REMEMBERED_MS,
  type RunningResponses,
} from '../../host/stores/ledgers/running-responses.ts';
import { StoredLedgers } from '../../host/stores/ledgers/stored-ledgers.ts';
import { atEnd, Dice, fakeClock, forSuite, startPostgres, temporaryFolder } from '../kit/index.ts';
import { SILENT } from './backends.ts';

/** Sums after bookings and corrections, reckoned plainly: whole micro-dollars, never below 0. */
async function ledgerSuite(database: Database): Promise<void> {
  for (const schema of [SHARED_SCHEMA, LEDGER_SCHEMA]) await migrate(database, schema, SILENT, Date.now);
  const clock = fakeClock();
  const load = (): Promise<StoredLedgers> =>
    StoredLedgers.load(new SqlLedgers(database), { clock, log: SILENT, backend: database.dialect.name });
  const ledgers = await load();
  const ledger = ledgers.open('l', { maxKeys: 0 });
  const dice = new Dice(7);
  const truth = new Map<string, number>();
  for (let step = 0; step < 200; step += 1) {
    const key = dice.pick(['a', 'b', 'c']);
    const amount = dice.below(1000) - 400;
    if (amount >= 0 && dice.below(2) === 0) ledger.commit(key, amount);
    else ledger.correct(key, amount);
    truth.set(key, Math.max(0, (truth.get(key) ?? 0) + amount));
    expect(ledger.committed(key)).to.equal(truth.get(key));
    if (dice.below(5) === 0) clock.advance(1500);
  }
  await ledgers.close();
  const again = await load();
  for (const [key, sum] of truth) expect(again.open('l', { maxKeys: 0 }).committed(key), key).to.equal(sum);
  await again.close();
}

async function runningSuite(running: RunningResponses, pass: (ms: number) => Promise<void>): Promise<void> {
  const response = {
    target: 'openai',
    model: 'gpt-5',
    bookings: [
      { ledger: 'key budgets', key: 'k', amount: 12.5 },
      { ledger: 'budget x', key: 'k', amount: 3, rates: { input_per_m_tokens: 1 } },
    ],
  };
  await running.add('resp_1', response);
  await running.add('resp_old', response);
  expect(running.mayHold).to.equal(true);
  expect(await running.take('resp_2')).to.equal(undefined);
  const asked = await Promise.all(Array.from({ length: 5 }, () => running.take('resp_1')));
  expect(asked.filter((found) => found !== undefined)).to.deep.equal([response]);
  await pass(REMEMBERED_MS);
  expect(await running.take('resp_old')).to.equal(undefined);
  await running.add('resp_3', response);
  expect(await running.take('resp_3')).to.deep.equal(response);
}

const inMemory = (): { readonly clock: ReturnType<typeof fakeClock>; readonly pass: (ms: number) => Promise<void> } => {
  const clock = fakeClock();
  return {
    clock,
    pass: async (ms) => {
      clock.advance(ms);
    },
  };
};

describe('corrections of what was booked, and responses that wait for theirs', () => {
  it('in memory: a response is given away once, for a day', async () => {
    const { clock, pass } = inMemory();
    await runningSuite(new MemoryRunningResponses(clock.now), pass);
  });

  const sqlite = async (): Promise<Database> => {
    const folder = await temporaryFolder();
    const database = await openSqlite(join(folder, 'keys.db'), folder);
    atEnd(() => database.close());
    return database;
  };
  it('on SQLite: sums never fall below 0, and outlive the process', async () => ledgerSuite(await sqlite()));
  it('on SQLite: a response is given away once, for a day', async () => {
    const { clock, pass } = inMemory();
    const database = await sqlite();
    await migrate(database, OWNER_SCHEMA, SILENT, clock.now);
    await runningSuite(new SqlRunningResponses(database, clock.now), pass);
  });
});

describe('corrections of what was booked, on Postgres', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite(startPostgres);
  const postgres = async (): Promise<Database> => {
    const database = await openPostgres(await server().createDatabase());
    atEnd(() => database.close());
    return database;
  };
  it('sums never fall below 0, and outlive the process', async () => ledgerSuite(await postgres()));
  it('a response is given away once, for a day', async () => {
    const database = await postgres();
    await migrate(database, OWNER_SCHEMA, SILENT, Date.now);
    const pass = async (ms: number): Promise<void> => {
      await database.knex.raw(`UPDATE unbooked_responses SET created_at = created_at - interval '${ms} milliseconds'`);
    };
    await runningSuite(new SqlRunningResponses(database, Date.now), pass);
  });
});
