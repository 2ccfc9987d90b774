import { KEY_LIMIT_LIST, KEY_LIMIT_STEPS } from '../../host/common/key-members.ts';
import type { Dialect } from './database/database.ts';
import { addColumns, type Migration, type Schema } from './database/migrate.ts';

const TABLE = 'api_keys';

function limitsSince(version: number, { integer }: Dialect): (readonly [name: string, type: string])[] {
  const types = {
    text: 'TEXT',
    texts: 'TEXT',
    word: 'TEXT',
    rules: 'TEXT',
    budgets: 'TEXT',
    session: 'TEXT',
    flag: 'BOOLEAN',
    integer,
    amount: 'DOUBLE PRECISION',
  } as const;
  return KEY_LIMIT_LIST.filter(([, { since }]) => since === version).map(([name, { kind }]) => [name, types[kind]]);
}

const LIMITS: readonly Migration[] = Object.entries(KEY_LIMIT_STEPS).map(([version, { name, readsFrom }]) => ({
  version: Number(version),
  name,
  readsFrom,
  up: (trx, dialect) => addColumns(trx, TABLE, limitsSince(Number(version), dialect)),
}));

const OTHERS: readonly Migration[] = [
  {
    version: 1,
    name: 'keys',
    readsFrom: null,
    up: async (trx, { moment, integer }) => {
      await trx.raw(`CREATE TABLE ${TABLE} (
          id TEXT PRIMARY KEY, key_hash TEXT NOT NULL UNIQUE, key_display TEXT NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL,
          created_at ${moment} NOT NULL, revoked_at ${moment}, expires_at ${moment}, rotated_at ${moment},
          active BOOLEAN NOT NULL, usage_count ${integer} NOT NULL DEFAULT 0, last_used_at ${moment})`);
    },
  },
  {
    version: 3,
    name: 'rotation with a grace, and with an end of sessions',
    readsFrom: null,
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
    readsFrom: null, // every program that has this table knows it
    indexes: ({ down }) => ({
      api_keys_previous: ['previous_key_hash'],
      api_keys_created: [down('created_at'), down('id')],
      api_keys_usage: [down('usage_count'), down('last_used_at'), down('created_at'), down('id')],
      // With `active` these two answer the sums of the usage page as well, of all keys and of those used since.
      api_keys_sums: ['active', 'usage_count'],
      api_keys_last_used: [down('last_used_at'), down('usage_count'), down('created_at'), down('id'), 'active'],
    }),
  },
  {
    version: 8,
    name: 'keys of other gateways',
    readsFrom: 4, // an older program serves them as any key
    up: (trx) =>
      addColumns(trx, TABLE, [
        ['origin', 'TEXT'],
        ['adopted_as', 'TEXT'],
      ]),
  },
  {
    version: 9,
    name: 'keys by what brought them',
    readsFrom: 4,
    indexes: () => ({ api_keys_origin: ['origin', 'id'] }),
  },
];

/** The table of keys (docs/reference/admin.md#tables). What a step adds for limits stands in `host/common/key-members.ts`. */
export const KEY_SCHEMA: Schema = {
  ledger: 'api_key_schema_migrations',
  table: TABLE,
  migrations: [...OTHERS, ...LIMITS].toSorted((a, b) => a.version - b.version),
};
