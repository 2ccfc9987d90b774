import { SPEND_COUNTS, SPEND_TEXTS } from '../../../host/stores/spend/spend-row.ts';
import type { Schema } from '../database/migrate.ts';

/** What was spent, by hour (docs/stores.md#spend). It stands beside the ledgers, in their database. */
export const SPEND_SCHEMA: Schema = {
  ledger: 'spend_schema_migrations',
  table: 'spend',
  migrations: [
    {
      version: 1,
      name: 'spend',
      readsFrom: null,
      up: async (trx, { integer }) => {
        const columns = [
          ...SPEND_TEXTS.map((name) => `${name} TEXT NOT NULL`),
          ...SPEND_COUNTS.map((name) => `${name} ${integer} NOT NULL`),
        ];
        // The texts may be longer than an index takes: what is alike has one digest.
        await trx.raw(`CREATE TABLE spend (hour ${integer} NOT NULL, span ${integer} NOT NULL, digest TEXT NOT NULL,
          ${columns.join(', ')}, PRIMARY KEY (hour, span, digest))`);
        await trx.raw('CREATE INDEX spend_account ON spend (account, hour)');
        await trx.raw('CREATE INDEX spend_key ON spend (key_id, hour)');
      },
    },
    {
      version: 2,
      name: 'entries of spend',
      readsFrom: null,
      up: async (trx, { moment }) => {
        await trx.raw(
          `CREATE TABLE spend_entries (idempotency_key TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL, at ${moment} NOT NULL)`,
        );
      },
    },
  ],
};
