import type { Knex } from 'knex';
import type { StoredAccount } from '../../../host/stores/ledgers/ledger-repository.ts';
import type { EnteredSpend, SpendEntry } from '../../../host/stores/spend/spend-entry.ts';
import { type Database, rowsOf, timeOf } from '../database/database.ts';

const TABLE = 'spend_entries';
/** Entries are made one after another, in all processes: each is compared with the sums that those before it left. */
const ONE_AT_A_TIME = `SELECT pg_advisory_xact_lock(hashtext('${TABLE}'))`;

/** What became of an entry, and what the budgets that it changed hold now. */
export interface Entered {
  readonly result: EnteredSpend;
  readonly accounts: readonly StoredAccount[];
}

/** Ends a transaction that must change nothing. */
class BelowZero extends Error {}

/** Enters spend in one transaction: its key, its row and its bookings, or none of them. */
export async function enterSpend(
  database: Database,
  entry: SpendEntry,
  book: (trx: Knex.Transaction) => Promise<readonly StoredAccount[]>,
): Promise<Entered> {
  const { on, dialect } = database;
  const { idempotencyKey, body, at } = entry;
  try {
    return await on('ledger').transaction(async (trx) => {
      if (dialect.name === 'postgres') await trx.raw(ONE_AT_A_TIME);
      const known = (await trx(TABLE).where({ idempotency_key: idempotencyKey }).first('body', 'at')) as
        | { readonly body: string; readonly at: unknown }
        | undefined;
      if (known) return { result: knownAs(known, entry), accounts: [] };
      await trx(TABLE).insert({ idempotency_key: idempotencyKey, body, at: dialect.time(at) });
      if (entry.row.micro_usd < 0) await refuseBelowZero(trx, entry);
      return { result: { outcome: 'entered', at }, accounts: await book(trx) };
    });
  } catch (error) {
    if (error instanceof BelowZero) return { result: { outcome: 'below zero' }, accounts: [] };
    throw error;
  }
}

const knownAs = (known: { readonly body: string; readonly at: unknown }, { body, at }: SpendEntry): EnteredSpend =>
  known.body === body ? { outcome: 'known', at: timeOf(known.at) ?? at } : { outcome: 'conflict' };

async function refuseBelowZero(trx: Knex.Transaction, { row, bookings }: SpendEntry): Promise<void> {
  const { account, key_id: id } = row;
  const rows = rowsOf(
    await (id === ''
      ? trx.raw('SELECT SUM(micro_usd) AS sum FROM spend WHERE account = ? OR substr(account, 1, ?) = ?', [
          account,
          account.length + 1,
          `${account}/`,
        ])
      : trx.raw('SELECT SUM(micro_usd) AS sum FROM spend WHERE key_id = ?', [id])),
  );
  if (Number(rows[0]?.['sum'] ?? 0) + row.micro_usd < 0) throw new BelowZero();
  for (const { ledger, key, amount } of bookings) {
    const found = (await trx('ledger_accounts').where({ ledger, account: key }).first('committed')) as
      | { readonly committed: unknown }
      | undefined;
    if (Number(found?.committed ?? 0) + amount < 0) throw new BelowZero();
  }
}
