import { writeSync } from 'node:fs';
import { SHARED_SCHEMA } from '../../builtins/stores/replicas/replica-schema.ts';
import { LEDGER_SCHEMA } from '../../builtins/stores/ledger-schema.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { SqlLedgers } from '../../builtins/stores/sql-ledgers.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { systemClock } from '../../host/common/clock.ts';
import type { Log } from '../../host/contract/index.ts';
import type { Booking, StoredAccount } from '../../host/stores/ledgers/ledger-repository.ts';
import { StoredLedgers } from '../../host/stores/ledgers/stored-ledgers.ts';
import { Dice } from '../kit/random.ts';
import { Truth, WHOLE } from '../state/hostile-amounts.ts';

/**
 * A process that books until it is killed, every tenth amount a hostile one. It writes one line for each event, before the next one
 * begins: the sums it began with, the sums there will be once all is booked, and the sums that the database has acknowledged.
 */
const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const KEYS = ['a', 'b', 'c', 'full'];
const [backend, dsn = '', seed] = process.argv.slice(2);

const say = (event: string, sums: readonly (readonly [key: string, sum: bigint])[]): void => {
  writeSync(
    1,
    `${JSON.stringify({ event, sums: Object.fromEntries(sums.map(([key, sum]) => [key, String(sum)])) })}\n`,
  );
};

class Telling extends SqlLedgers {
  override async book(bookings: readonly Booking[], number?: number): Promise<readonly StoredAccount[]> {
    const accounts = await super.book(bookings, number);
    say(
      'kept',
      accounts.map(({ key, committed }) => [key, BigInt(committed ?? -1)]),
    );
    return accounts;
  }
}

const database = backend === 'postgres' ? await openPostgres(dsn) : await openSqlite(dsn, '.');
for (const schema of [SHARED_SCHEMA, LEDGER_SCHEMA]) await migrate(database, schema, SILENT, Date.now);
const ledger = (
  await StoredLedgers.load(new Telling(database), { clock: systemClock, log: SILENT, backend: 'test' })
).open('l', { maxKeys: 0 });
const dice = new Dice(Number(seed));
const truth = new Truth(dice, WHOLE);
for (const key of KEYS) truth.begin(key, BigInt(ledger.committed(key)));
say(
  'began',
  KEYS.map((key) => [key, truth.of(key)]),
);
for (;;) {
  const burst = Array.from({ length: 1 + dice.below(30) }, () => {
    const key = dice.pick(KEYS);
    return { key, amount: truth.spend(key) };
  });
  say(
    'books',
    KEYS.map((key) => [key, truth.of(key)]),
  );
  for (const { key, amount } of burst) ledger.commit(key, amount);
  await new Promise((resolve) => {
    setTimeout(resolve, dice.below(3));
  });
}
