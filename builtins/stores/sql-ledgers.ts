import type { Knex } from 'knex';
import { bounded } from '../../host/common/bounded-sum.ts';
import type { Booking, LedgerRepository, StoredAccount } from '../../host/stores/ledgers/ledger-repository.ts';
import { type Database, type Dialect, rowsOf } from './database/database.ts';
import { withFaults } from './database/driver-faults.ts';

const TABLE = 'ledger_accounts';
/** Bookings that one statement writes: a database takes no more than some thousand values. */
const BATCH = 200;

/** Ledgers in one table of SQLite or Postgres. */
export class SqlLedgers implements LedgerRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** A file belongs to one process. */
  get isShared(): boolean {
    return this.#database.dialect.name === 'postgres';
  }

  book(bookings: readonly Booking[]): Promise<readonly StoredAccount[]> {
    // In one order everywhere, so that two processes do not wait for each other's rows.
    const sorted = bookings.toSorted((a, b) => compare(a.ledger, b.ledger) || compare(a.key, b.key));
    const { dialect } = this.#database;
    return withFaults(() =>
      this.#database.on('ledger').transaction(async (trx) => {
        const accounts: (readonly StoredAccount[])[] = [];
        for (let at = 0; at < sorted.length; at += BATCH)
          accounts.push(await bookBatch(trx, dialect, sorted.slice(at, at + BATCH)));
        return accounts.flat();
      }),
    );
  }

  async read(withinMs?: number): Promise<readonly StoredAccount[]> {
    const query = this.#database.on('ledger')(TABLE).select('ledger', 'account', 'committed', 'spend_limit');
    // The clock of the database: those of the processes that write there may differ.
    if (withinMs !== undefined && this.isShared)
      void query.whereRaw('written_at > CURRENT_TIMESTAMP - make_interval(secs => ?)', [withinMs / 1000]);
    return ((await query) as Readonly<Record<string, unknown>>[]).map(accountOf);
  }
}

async function bookBatch(
  trx: Knex.Transaction,
  { plus }: Dialect,
  batch: readonly Booking[],
): Promise<readonly StoredAccount[]> {
  const anew = batch.filter(({ isAnew }) => isAnew);
  if (anew.length > 0)
    await trx(TABLE)
      .whereIn(
        ['ledger', 'account'],
        anew.map(({ ledger, key }) => [ledger, key]),
      )
      .delete();
  const givenBack = await giveBack(
    trx,
    plus,
    batch.filter(({ amount }) => amount < 0),
  );
  const added = batch.filter(({ amount }) => amount > 0);
  if (added.length === 0) return givenBack;
  const rows = added.map(() => '(?, ?, ?, ?, CURRENT_TIMESTAMP)').join(', ');
  const booked = rowsOf(
    await trx.raw(
      `INSERT INTO ${TABLE} (ledger, account, committed, spend_limit, written_at) VALUES ${rows}
    ON CONFLICT (ledger, account) DO UPDATE SET committed = ${plus(`${TABLE}.committed`, 'excluded.committed')}, spend_limit = excluded.spend_limit, written_at = excluded.written_at
    RETURNING ledger, account, committed, spend_limit`,
      added.flatMap(({ ledger, key, amount, limit }) => [ledger, key, amount, limit ?? null]),
    ),
  ).map(accountOf);
  return [...givenBack, ...booked];
}

/** What was booked too much: seldom any. */
async function giveBack(
  trx: Knex.Transaction,
  plus: Dialect['plus'],
  bookings: readonly Booking[],
): Promise<readonly StoredAccount[]> {
  const accounts: (readonly StoredAccount[])[] = [];
  for (const { ledger, key, amount } of bookings) {
    const rows = rowsOf(
      await trx.raw(
        `UPDATE ${TABLE} SET committed = ${plus('committed', 'CAST(? AS BIGINT)')}, written_at = CURRENT_TIMESTAMP WHERE ledger = ? AND account = ? RETURNING ledger, account, committed, spend_limit`,
        [amount, ledger, key],
      ),
    );
    accounts.push(rows.map(accountOf));
  }
  return accounts.flat();
}

const compare = (a: string, b: string): number => Number(a > b) - Number(a < b);

function accountOf({
  ledger,
  account,
  committed,
  spend_limit: limit,
}: Readonly<Record<string, unknown>>): StoredAccount {
  return {
    ledger: String(ledger),
    key: String(account),
    committed: typeof committed === 'number' ? Math.floor(bounded(committed)) : undefined,
    limit: limit === null || limit === undefined ? undefined : bounded(Number(limit)),
  };
}
