import type { Hints } from '../../../host/stores/replicas/hints.ts';
import type { Database } from '../database/database.ts';
import { CONFIG_CHANNEL } from '../replicas/site.ts';

/** Characters of a value. A notification has room for 8,000 bytes. */
const LONGEST = 200;

/** Hints as notifications of the database of the configuration, on Postgres. */
export class SqlHints implements Hints {
  readonly #database: Database;
  readonly #heard = new Map<string, ((value: string) => void)[]>();

  constructor(database: Database) {
    this.#database = database;
  }

  send(kind: Parameters<Hints['send']>[0], value: string): void {
    this.#database
      .on('reads')
      .raw('SELECT pg_notify(?, ?)', [CONFIG_CHANNEL, `${kind} ${value.slice(0, LONGEST)}`])
      .catch(() => {}); // a store that is away says so elsewhere
  }

  on(kind: Parameters<Hints['on']>[0], heard: (value: string) => void): void {
    this.#heard.set(kind, [...(this.#heard.get(kind) ?? []), heard]);
  }

  /** The text of a notification; those of other kinds say that something was stored. */
  hear(payload: string): void {
    const [, kind = '', value = ''] = /^([a-z]+) (.+)$/.exec(payload) ?? [];
    for (const heard of this.#heard.get(kind) ?? []) heard(value);
  }
}
