import { addColumns, type Schema } from '../database/migrate.ts';

/** What is stored now, and the newest versions before it. See docs/reference/admin.md#tables. */
export const CONFIG_SCHEMA: Schema = {
  ledger: 'config_schema_migrations',
  table: 'gateway_config',
  migrations: [
    {
      version: 1,
      name: 'configuration',
      readsFrom: null,
      up: async (trx, { moment }) => {
        await trx.raw(
          `CREATE TABLE gateway_config (id INTEGER PRIMARY KEY CHECK (id = 1), config_json TEXT NOT NULL, updated_at ${moment} NOT NULL)`,
        );
      },
    },
    {
      version: 2,
      name: 'history of the configuration',
      readsFrom: null,
      up: async (trx, { moment }) => {
        await trx.raw(
          `CREATE TABLE IF NOT EXISTS config_history (version INTEGER PRIMARY KEY, config_json TEXT NOT NULL, updated_at ${moment} NOT NULL)`,
        );
        await addColumns(trx, 'config_history', [
          ['actor', "TEXT NOT NULL DEFAULT ''"],
          ['rolled_back_from', 'INTEGER'],
        ]);
      },
    },
    {
      version: 3,
      name: 'numbers of versions that are not used again',
      readsFrom: 2,
      up: async (trx) => {
        await trx.raw(
          `CREATE TABLE IF NOT EXISTS config_floor (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL, reused INTEGER)`,
        );
      },
    },
    {
      version: 4,
      name: 'live models',
      readsFrom: 2,
      up: async (trx, { moment, integer }) => {
        await trx.raw(
          `CREATE TABLE IF NOT EXISTS live_models (instance TEXT PRIMARY KEY, models TEXT NOT NULL, found_at ${moment} NOT NULL, version ${integer} NOT NULL)`,
        );
      },
    },
  ],
};
