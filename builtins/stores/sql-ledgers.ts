import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { bounded } from '../../host/common/bounded-sum.ts';
import type { SpendEntry } from '../../host/stores/spend/spend-entry.ts';
import type { SpendRow } from '../../host/stores/spend/spend-row.ts';
import type {
  Booking,
  DrawAnswer,
  DrawCall,
  LedgerRepository,
  StoredAccount,
} from '../../host/stores/ledgers/ledger-repository.ts';
import { type Database, type Dialect, rowsOf, timeOf } from './database/database.ts';
import { withFaults } from './database/driver-faults.ts';
import { arrayOf, type Bound, type Once, SentOnce, Writer } from './database/numbered-writes.ts';
import { drawSlices, SLICES } from './ledger-slices.ts';
import { type Entered, enterSpend } from './spend/sql-entries.ts';
import { insertSpend, spendTogether } from './spend/spend-insert.ts';

const TABLE = 'ledger_accounts';
const COLUMNS = 'ledger, account, committed, spend_limit, ends_at';
/** Bookings that one statement of SQLite writes: it takes no more than some thousand values. */
const BATCH = 200;

/** Ledgers in one table of SQLite or Postgres. */
export class SqlLedgers implements LedgerRepository {
  readonly #database: Database;
  readonly #writer = new Writer('ledger');
  /** The name that what this process holds of budgets stands under. */
  readonly #holder = randomUUID();
  readonly #sent = new SentOnce<readonly StoredAccount[]>();

  readonly draw: ((call: DrawCall) => Promise<DrawAnswer>) | undefined;

  constructor(database: Database) {
    this.#database = database;
    this.draw = this.isShared ? (call) => drawSlices(database, this.#holder, call) : undefined;
  }

  /** A file belongs to one process. */
  get isShared(): boolean {
    return this.#database.dialect.name === 'postgres';
  }

  book(
    bookings: readonly Booking[],
    number?: number,
    spend: readonly SpendRow[] = [],
  ): Promise<readonly StoredAccount[]> {
    const { dialect } = this.#database;
    return withFaults(async () =>
      this.isShared
        ? rowsOf(
            await this.#database
              .on('ledger')
              .raw(...bookingTogether({ bookings, spend, holder: this.#holder }, dialect, this.#writer.once(number))),
          ).map(accountOf)
        : this.#sent.send(number, () => bookInParts(this.#database, bookings, spend)),
    );
  }

  enter(entry: SpendEntry): Promise<Entered> {
    const { dialect } = this.#database;
    const bookings = entry.bookings.map((booking) => ({ ...booking, isAnew: false }));
    return withFaults(() =>
      enterSpend(this.#database, entry, async (trx) => {
        if (this.isShared)
          return rowsOf(
            await trx.raw(
              ...bookingTogether(
                { bookings, spend: [entry.row], holder: this.#holder },
                dialect,
                this.#writer.once(undefined),
              ),
            ),
          ).map(accountOf);
        await insertSpend(trx, [entry.row]);
        return bookings.length === 0 ? [] : bookBatch(trx, dialect, bookings);
      }),
    );
  }

  async read(withinMs?: number, endedBefore?: number): Promise<readonly StoredAccount[]> {
    const query = this.#database.on('ledger')(TABLE).select('ledger', 'account', 'committed', 'spend_limit', 'ends_at');
    if (endedBefore !== undefined)
      void query.whereRaw('(ends_at IS NULL OR ends_at >= ?)', [this.#database.dialect.time(endedBefore)]);
    // The clock of the database: those of the processes that write there may differ.
    if (withinMs !== undefined && this.isShared)
      void query.whereRaw('written_at > CURRENT_TIMESTAMP - make_interval(secs => ?)', [withinMs / 1000]);
    return ((await query) as Readonly<Record<string, unknown>>[]).map(accountOf);
  }

  async sweep(endedBefore: number, most: number): Promise<number> {
    const { on, dialect } = this.#database;
    const sql = `DELETE FROM ${TABLE} WHERE (ledger, account) IN (SELECT ledger, account FROM ${TABLE} WHERE ends_at < ? LIMIT ?) RETURNING ledger`;
    return rowsOf(await on('ledger').raw(sql, [dialect.time(endedBefore), most])).length;
  }
}

/** What the process holds beside what it books now. */
const SLICED = `,
  sliced AS (UPDATE ${SLICES} SET amount = left_over.amount FROM unnest(?::text[], ?::text[], ?::bigint[]) AS left_over (ledger, account, amount)
    WHERE FIRST AND ${SLICES}.holder = ? AND ${SLICES}.ledger = left_over.ledger AND ${SLICES}.account = left_over.account)`;

/**
 * One statement of Postgres. Each account is in one of its parts; those who add take their rows in one order everywhere, so that two processes do
 * not wait for each other's.
 */
function bookingTogether(
  {
    bookings,
    spend,
    holder,
  }: { readonly bookings: readonly Booking[]; readonly spend: readonly SpendRow[]; readonly holder: string },
  { plus, time }: Dialect,
  { moved, isFirst }: Once,
): readonly [sql: string, bindings: readonly Bound[]] {
  const same = `${TABLE}.ledger = given.ledger AND ${TABLE}.account = given.account`;
  const returned = `RETURNING ${TABLE}.ledger, ${TABLE}.account, ${TABLE}.committed, ${TABLE}.spend_limit, ${TABLE}.ends_at`;
  const inserting = (which: string, sum: string): string =>
    `INSERT INTO ${TABLE} (${COLUMNS}, written_at) SELECT ledger, account, amount, spend_limit, ends_at, now() FROM given WHERE ${which} ORDER BY ledger, account
    ON CONFLICT (ledger, account) DO UPDATE SET committed = ${sum}, spend_limit = excluded.spend_limit, ends_at = COALESCE(excluded.ends_at, ${TABLE}.ends_at), written_at = excluded.written_at ${returned}`;
  const spent = spendTogether(spend, isFirst);
  const held = bookings.filter((booking) => booking.held !== undefined);
  const sliced = held.length > 0 ? SLICED : '';
  const sql = `WITH ${moved.sql}, given AS (
    SELECT given.ledger, given.account, given.amount, given.spend_limit, given.ends_at, given.is_anew FROM unnest(?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::timestamptz[], ?::boolean[]) AS given (ledger, account, amount, spend_limit, ends_at, is_anew) WHERE ${isFirst}),
  gone AS (DELETE FROM ${TABLE} USING given WHERE is_anew AND amount <= 0 AND ${same}),
  begun AS (${inserting('is_anew AND amount > 0', 'excluded.committed')}),
  added AS (${inserting('NOT is_anew AND amount > 0', plus(`${TABLE}.committed`, 'excluded.committed'))}),
  given_back AS (UPDATE ${TABLE} SET committed = ${plus(`${TABLE}.committed`, 'given.amount')}, written_at = now() FROM given WHERE NOT is_anew AND amount < 0 AND ${same} ${returned})${sliced.replace('FIRST', isFirst)}${spent.sql}
  SELECT ${COLUMNS} FROM begun UNION ALL SELECT ${COLUMNS} FROM added UNION ALL SELECT ${COLUMNS} FROM given_back`;
  const columns = [
    bookings.map(({ ledger }) => ledger),
    bookings.map(({ key }) => key),
    bookings.map(({ amount }) => amount),
    bookings.map(({ limit = null }) => limit),
    bookings.map(({ endsAt }) => (endsAt === undefined ? null : time(endsAt))),
    bookings.map(({ isAnew }) => isAnew),
  ];
  const holding = [
    held.map(({ ledger }) => ledger),
    held.map(({ key }) => key),
    held.map(({ held: amount = 0 }) => amount),
  ];
  const sliceBindings = held.length > 0 ? [...holding.map(arrayOf), holder] : [];
  return [sql, [...moved.bindings, ...columns.map(arrayOf), ...sliceBindings, ...spent.bindings]];
}

function bookInParts(
  { on, dialect }: Database,
  bookings: readonly Booking[],
  spend: readonly SpendRow[],
): Promise<readonly StoredAccount[]> {
  return on('ledger').transaction(async (trx) => {
    await insertSpend(trx, spend);
    const accounts: (readonly StoredAccount[])[] = [];
    for (let at = 0; at < bookings.length; at += BATCH)
      accounts.push(await bookBatch(trx, dialect, bookings.slice(at, at + BATCH)));
    return accounts.flat();
  });
}

async function bookBatch(
  trx: Knex.Transaction,
  { plus, time }: Dialect,
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
  const rows = added.map(() => '(?, ?, ?, ?, ?, CURRENT_TIMESTAMP)').join(', ');
  const booked = rowsOf(
    await trx.raw(
      `INSERT INTO ${TABLE} (${COLUMNS}, written_at) VALUES ${rows}
    ON CONFLICT (ledger, account) DO UPDATE SET committed = ${plus(`${TABLE}.committed`, 'excluded.committed')}, spend_limit = excluded.spend_limit, ends_at = COALESCE(excluded.ends_at, ${TABLE}.ends_at), written_at = excluded.written_at
    RETURNING ${COLUMNS}`,
      added.flatMap(({ ledger, key, amount, limit, endsAt }) => [
        ledger,
        key,
        amount,
        limit ?? null,
        endsAt === undefined ? null : time(endsAt),
      ]),
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
        `UPDATE ${TABLE} SET committed = ${plus('committed', 'CAST(? AS BIGINT)')}, written_at = CURRENT_TIMESTAMP WHERE ledger = ? AND account = ? RETURNING ${COLUMNS}`,
        [amount, ledger, key],
      ),
    );
    accounts.push(rows.map(accountOf));
  }
  return accounts.flat();
}

function accountOf({
  ledger,
  account,
  committed,
  spend_limit: limit,
  ends_at: endsAt,
}: Readonly<Record<string, unknown>>): StoredAccount {
  return {
    ledger: String(ledger),
    key: String(account),
    committed: typeof committed === 'number' ? Math.floor(bounded(committed)) : undefined,
    limit: limit === null || limit === undefined ? undefined : bounded(Number(limit)),
    endsAt: momentOf(endsAt),
  };
}

/** What is not a moment ends never. */
function momentOf(value: unknown): number | undefined {
  try {
    return timeOf(value);
  } catch {
    return undefined;
  }
}
