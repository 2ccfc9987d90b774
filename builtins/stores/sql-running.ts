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
    if (dialect.name === 'sqlite') await this.sweep(Number.MAX_SAFE_INTEGER); // elsewhere one of several processes does it for all
    await knex(RUNNING_TABLE)
      .insert({ id, body: JSON.stringify(response), created_at: dialect.time(now) })
      .onConflict('id')
      .merge();
  }

  /** Forgets at most so many of those that are a day old, and says how many. */
  sweep(most: number): Promise<number> {
    const { knex, dialect } = this.#database;
    const old = knex(RUNNING_TABLE)
      .whereRaw(`created_at <= ${dialect.ago(REMEMBERED_MS, this.#now())}`)
      .select('id')
      .limit(most);
    return knex(RUNNING_TABLE).whereIn('id', old).delete();
  }

  async take(id: string): Promise<RunningResponse | undefined> {
    const { knex, dialect } = this.#database;
    const [row] = rowsOf(
      await knex.raw(
        `DELETE FROM ${RUNNING_TABLE} WHERE id = ? AND created_at > ${dialect.ago(REMEMBERED_MS, this.#now())} RETURNING body`,
        [id],
      ),
    );
    return row && (tryParseJson(String(row['body'])) as RunningResponse | undefined);
  }
}
