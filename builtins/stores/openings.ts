import type { Knex } from 'knex';
import type { Opening } from '../../host/stores/ledgers/opening.ts';
import type { Dialect } from './database/database.ts';

const TABLE = 'ledger_accounts';
/** Rows of one statement. */
const ROWS = 100;

/** Writes what was spent elsewhere, where nothing stands under its name. In one order everywhere, so that two processes do not wait for each other's rows. */
export async function insertOpenings(
  trx: Knex.Transaction,
  { time }: Dialect,
  openings: readonly Opening[],
): Promise<void> {
  const ordered = openings.toSorted((a, b) => (`${a.ledger} ${a.key}` < `${b.ledger} ${b.key}` ? -1 : 1));
  for (let at = 0; at < ordered.length; at += ROWS) {
    const part = ordered.slice(at, at + ROWS);
    await trx.raw(
      `INSERT INTO ${TABLE} (ledger, account, committed, spend_limit, ends_at, written_at)
      VALUES ${part.map(() => '(?, ?, ?, ?, ?, CURRENT_TIMESTAMP)').join(', ')} ON CONFLICT (ledger, account) DO NOTHING`,
      part.flatMap(({ ledger, key, amount, limit, endsAt }) => [
        ledger,
        key,
        amount,
        limit,
        endsAt === undefined ? null : time(endsAt),
      ]),
    );
  }
}
