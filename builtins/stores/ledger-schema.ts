import { addColumns, type Schema } from './database/migrate.ts';

/** What keys have spent, in whole micro-dollars. It stands beside the keys, in their database. */
export const LEDGER_SCHEMA: Schema = {
  ledger: 'ledger_schema_migrations',
  table: 'ledger_accounts',
  migrations: [
    {
      version: 1,
      name: 'accounts',
      readsFrom: null,
      up: async (trx, { moment, integer }) => {
        await trx.raw(`CREATE TABLE ledger_accounts (
          ledger TEXT NOT NULL, account TEXT NOT NULL, committed ${integer} NOT NULL, spend_limit ${integer}, written_at ${moment} NOT NULL,
          PRIMARY KEY (ledger, account))`);
        await trx.raw('CREATE INDEX ledger_accounts_written ON ledger_accounts (written_at)');
      },
    },
    {
      version: 2,
      name: 'windows',
      readsFrom: 1, // a column that may be empty
      up: (trx, { moment }) => addColumns(trx, 'ledger_accounts', [['ends_at', moment]]),
    },
  ],
};
