import type { OwnedKind, Owners } from '../../host/stores/owners.ts';
import type { Database } from './database/database.ts';
import type { Schema } from './database/migrate.ts';
import { RUNNING_TABLE } from './sql-running.ts';

const TABLE = 'resource_owners';
const FORMER_RUNNING_TABLE = 'running_responses';
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
      readsFrom: null,
      up: async (trx, { moment }) => {
        await trx.raw(
          `CREATE TABLE ${TABLE} (kind TEXT NOT NULL, id TEXT NOT NULL, owner_id TEXT NOT NULL, created_at ${moment} NOT NULL, PRIMARY KEY (kind, id))`,
        );
      },
    },
    {
      version: 2,
      name: 'responses whose usage is not known yet',
      readsFrom: 1,
      // Programs that end with this step make their table without asking whether it is there: it is left to them.
      up: async () => {},
    },
    {
      version: 3,
      name: 'responses that are not booked yet',
      readsFrom: 1,
      up: async (trx, { moment, hasTable }) => {
        await trx.raw(
          `CREATE TABLE ${RUNNING_TABLE} (id TEXT PRIMARY KEY, body TEXT NOT NULL, created_at ${moment} NOT NULL)`,
        );
        if (await hasTable(trx, FORMER_RUNNING_TABLE))
          await trx.raw(
            `INSERT INTO ${RUNNING_TABLE} (id, body, created_at) SELECT id, body, created_at FROM ${FORMER_RUNNING_TABLE}`,
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
