import type { Schema } from './database/migrate.ts';

/** The table of sessions. See docs/reference/admin.md#tables. */
export const SESSION_SCHEMA: Schema = {
  ledger: 'session_schema_migrations',
  table: 'sessions',
  migrations: [
    {
      version: 1,
      name: 'sessions',
      readsFrom: null,
      up: async (trx, { moment }) => {
        await trx.raw(`CREATE TABLE sessions (
          id TEXT PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE, subject TEXT NOT NULL, credential_id TEXT NOT NULL, scopes TEXT NOT NULL,
          created_at ${moment} NOT NULL, last_seen_at ${moment}, expires_at ${moment} NOT NULL)`);
      },
    },
  ],
};
