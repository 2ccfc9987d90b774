import type { Schema } from '../database/migrate.ts';

export const IDENTITIES = 'identities';

/** People and programs of issuers, in the database of the keys. */
export const IDENTITY_SCHEMA: Schema = {
  ledger: 'identity_schema_migrations',
  table: IDENTITIES,
  migrations: [
    {
      version: 1,
      name: 'identities',
      readsFrom: null,
      up: async (trx, { moment }) => {
        await trx.raw(
          `CREATE TABLE ${IDENTITIES} (id TEXT PRIMARY KEY, issuer TEXT NOT NULL, issuer_name TEXT NOT NULL, subject TEXT NOT NULL, name TEXT NOT NULL,
            claims TEXT, first_seen_at ${moment} NOT NULL, last_seen_at ${moment}, signed_in_at ${moment}, blocked_at ${moment}, blocked_by TEXT)`,
        );
      },
    },
  ],
};
