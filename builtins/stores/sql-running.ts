import { tryParseJson } from '../../host/contract/index.ts';
import {
  REMEMBERED_MS,
  type RunningResponse,
  type RunningResponses,
} from '../../host/stores/ledgers/running-responses.ts';
import { type Database, rowsOf } from './database/database.ts';

export const RUNNING_TABLE = 'unbooked_responses';

/** Responses whose usage is not known yet, in one table of SQLite or Postgres, beside the owners of ids. */
export class SqlRunningResponses implements RunningResponses {
  readonly mayHold = true;
  readonly #database: Database;
  readonly #now: () => number;

  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  async add(id: string, response: RunningResponse): Promise<void> {
    const { knex, dialect } = this.#database;
    const now = this.#now();
    await knex(RUNNING_TABLE)
      .where('created_at', '<=', dialect.time(now - REMEMBERED_MS))
      .delete();
    await knex(RUNNING_TABLE)
      .insert({ id, body: JSON.stringify(response), created_at: dialect.time(now) })
      .onConflict('id')
      .merge();
  }

  async take(id: string): Promise<RunningResponse | undefined> {
    const { knex, dialect } = this.#database;
    const [row] = rowsOf(
      await knex.raw(`DELETE FROM ${RUNNING_TABLE} WHERE id = ? AND created_at > ? RETURNING body`, [
        id,
        dialect.time(this.#now() - REMEMBERED_MS),
      ]),
    );
    return row && (tryParseJson(String(row['body'])) as RunningResponse | undefined);
  }
}
