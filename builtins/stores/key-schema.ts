import { addColumns, type Schema } from './database/migrate.ts';

const TABLE = 'api_keys';

/** The table of keys. See docs/reference/admin.md#tables. */
export const KEY_SCHEMA: Schema = {
  ledger: 'api_key_schema_migrations',
  table: TABLE,
  migrations: [
    {
      version: 1,
      name: 'keys',
      up: async (trx, { moment, integer }) => {
        await trx.raw(`CREATE TABLE ${TABLE} (
          id TEXT PRIMARY KEY, key_hash TEXT NOT NULL UNIQUE, key_display TEXT NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL,
          created_at ${moment} NOT NULL, revoked_at ${moment}, expires_at ${moment}, rotated_at ${moment},
          active BOOLEAN NOT NULL, usage_count ${integer} NOT NULL DEFAULT 0, last_used_at ${moment})`);
      },
    },
    {
      version: 2,
      name: 'limits of keys',
      up: (trx, { integer }) =>
        addColumns(trx, TABLE, [
          ['models', 'TEXT'],
          ['providers', 'TEXT'],
          ['tags', 'TEXT'],
          ['rpm', integer],
          ['tpm', integer],
          ['mcp_tools', 'TEXT'],
          ['budget_usd', 'DOUBLE PRECISION'],
        ]),
    },
    {
      version: 3,
      name: 'rotation with a grace, and with an end of sessions',
      up: (trx, { moment }) =>
        addColumns(trx, TABLE, [
          ['previous_key_hash', 'TEXT'],
          ['previous_expires_at', moment],
          ['sessions_from', moment],
        ]),
    },
    {
      version: 4,
      name: 'order of lists',
      indexes: ({ down }) => ({
        api_keys_previous: ['previous_key_hash'],
        api_keys_created: [down('created_at'), down('id')],
        api_keys_usage: [down('usage_count'), down('last_used_at'), down('created_at'), down('id')],
        // With `active` these two answer the sums of the usage page as well, of all keys and of those used since.
        api_keys_sums: ['active', 'usage_count'],
        api_keys_last_used: [down('last_used_at'), down('usage_count'), down('created_at'), down('id'), 'active'],
      }),
    },
  ],
};
