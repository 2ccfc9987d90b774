import type { Schema } from '../database/migrate.ts';

export const LEASES = 'gw_leases';

/** In each database: the number of the last batch that each process wrote of a stream, and who does which jobs. */
export const SHARED_SCHEMA: Schema = {
  ledger: 'gw_schema_migrations',
  table: 'gw_writers',
  migrations: [
    {
      version: 1,
      name: 'writers',
      readsFrom: null,
      up: async (trx, { moment, integer }) => {
        await trx.raw(`CREATE TABLE gw_writers (
          writer TEXT NOT NULL, stream TEXT NOT NULL, seq ${integer} NOT NULL, seen_at ${moment} NOT NULL, PRIMARY KEY (writer, stream))`);
      },
    },
    {
      version: 2,
      name: 'leases',
      readsFrom: 1,
      up: async (trx, { moment }) => {
        await trx.raw(`CREATE TABLE ${LEASES} (name TEXT PRIMARY KEY, holder TEXT NOT NULL, until ${moment} NOT NULL)`);
      },
    },
  ],
};
