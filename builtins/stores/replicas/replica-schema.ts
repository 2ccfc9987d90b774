import { randomBytes } from 'node:crypto';
import type { Schema } from '../database/migrate.ts';

export const LEASES = 'gw_leases';
export const WRITERS = 'gw_writers';
export const REPLICAS = 'gw_replicas';

/** In each database: the number of the last batch that each process wrote of a stream, and who does which jobs. */
export const SHARED_SCHEMA: Schema = {
  ledger: 'gw_schema_migrations',
  table: WRITERS,
  migrations: [
    {
      version: 1,
      name: 'writers',
      readsFrom: null,
      up: async (trx, { moment, integer }) => {
        await trx.raw(`CREATE TABLE ${WRITERS} (
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

/** In the database of the keys, on Postgres alone: the processes that share it. */
export const REPLICA_SCHEMA: Schema = {
  ledger: 'replica_schema_migrations',
  table: REPLICAS,
  migrations: [
    {
      version: 1,
      name: 'replicas of a fleet',
      readsFrom: null,
      up: async (trx, { moment, integer }) => {
        await trx.raw('CREATE TABLE gw_fleet (id INTEGER PRIMARY KEY CHECK (id = 1), fleet TEXT NOT NULL)');
        await trx('gw_fleet').insert({ id: 1, fleet: randomBytes(6).toString('hex') });
        await trx.raw('CREATE SEQUENCE gw_members');
        await trx.raw(`CREATE TABLE ${REPLICAS} (
          id TEXT PRIMARY KEY, host TEXT NOT NULL, version TEXT NOT NULL, protocol INTEGER NOT NULL, joined ${integer} NOT NULL, knows ${integer} NOT NULL,
          pid INTEGER NOT NULL, workers INTEGER NOT NULL, boot TEXT NOT NULL, mode TEXT NOT NULL, offset_ms ${integer},
          started_at ${moment} NOT NULL, seen_at ${moment} NOT NULL, until ${moment} NOT NULL)`);
      },
    },
  ],
};
