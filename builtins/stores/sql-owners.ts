import type { OwnedKind, Owners } from '../../host/stores/owners.ts';
import type { Database } from './database/database.ts';
import type { Schema } from './database/migrate.ts';
import { RUNNING_TABLE } from './sql-running.ts';

const TABLE = 'resource_owners';
/** Ids in one statement: SQLite takes 32,766 variables, Postgres 65,535. */
const MOST_ASKED = 1000;

/** In the database of the keys. */
export const OWNER_SCHEMA: Schema = {
  ledger: 'resource_owner_schema_migrations',
  table: TABLE,
  migrations: [
    {
      version: 1,
      name: 'owners',
      up: async (trx, { moment }) => {
        await trx.raw(
          `CREATE TABLE ${TABLE} (kind TEXT NOT NULL, id TEXT NOT NULL, owner_id TEXT NOT NULL, created_at ${moment} NOT NULL, PRIMARY KEY (kind, id))`,
        );
      },
    },
    {
      version: 2,
      name: 'responses whose usage is not known yet',
      up: async (trx, { moment }) => {
        await trx.raw(
          `CREATE TABLE ${RUNNING_TABLE} (id TEXT PRIMARY KEY, body TEXT NOT NULL, created_at ${moment} NOT NULL)`,
        );
      },
    },
  ],
};

/** Owners in one table of SQLite or Postgres. */
export class SqlOwners implements Owners {
  readonly #database: Database;
  readonly #now: () => number;

  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  async add(kind: OwnedKind, ids: readonly string[], owner: string): Promise<void> {
    const { knex, dialect } = this.#database;
    const created_at = dialect.time(this.#now());
    if (ids.length > 0)
      await knex(TABLE)
        .insert(ids.map((id) => ({ kind, id, owner_id: owner, created_at })))
        .onConflict(['kind', 'id'])
        .ignore();
  }

  async foreignOf(kind: OwnedKind, ids: readonly string[], owner: string): Promise<ReadonlySet<string>> {
    const foreign = new Set<string>();
    for (let at = 0; at < ids.length; at += MOST_ASKED) {
      const rows: readonly { readonly id: string }[] = await this.#database
        .on('lookups')(TABLE)
        .where({ kind })
        .whereIn('id', ids.slice(at, at + MOST_ASKED))
        .whereNot('owner_id', owner)
        .select('id');
      for (const { id } of rows) foreign.add(id);
    }
    return foreign;
  }
}
