import { addColumns, type Schema } from '../database/migrate.ts';

export const ACCOUNTS = 'accounts';
export const RAISES = 'raises';
export const IMPORTS = 'imports';

/** Accounts, raises, and what was brought from other gateways, in the database of the keys. */
export const ACCOUNT_SCHEMA: Schema = {
  ledger: 'account_schema_migrations',
  table: ACCOUNTS,
  migrations: [
    {
      version: 1,
      name: 'accounts',
      readsFrom: null,
      up: async (trx, { moment, integer }) => {
        await trx.raw(
          `CREATE TABLE ${ACCOUNTS} (path TEXT PRIMARY KEY, body TEXT NOT NULL, import_id TEXT, version ${integer} NOT NULL,
            created_at ${moment} NOT NULL, updated_at ${moment} NOT NULL)`,
        );
        await trx.raw(
          `CREATE TABLE ${RAISES} (id TEXT PRIMARY KEY, subject TEXT NOT NULL, unit TEXT NOT NULL, rule TEXT, amount ${integer} NOT NULL,
            starts_at ${moment} NOT NULL, ends_at ${moment} NOT NULL, note TEXT, actor TEXT NOT NULL, created_at ${moment} NOT NULL)`,
        );
        await trx.raw(
          `CREATE TABLE ${IMPORTS} (id TEXT PRIMARY KEY, source TEXT NOT NULL, note TEXT, actor TEXT NOT NULL, counts TEXT, at ${moment} NOT NULL)`,
        );
      },
    },
    {
      version: 2,
      name: 'versions of imported accounts',
      readsFrom: null, // an older program leaves the column as it is, and an account that it changed has another version
      up: (trx, { integer }) => addColumns(trx, ACCOUNTS, [['imported_version', integer]]),
    },
  ],
};
