import type { Log } from '../../../host/contract/index.ts';
import type { Clock } from '../../../host/common/clock.ts';
import {
  type ConfigurationChange,
  type ConfigurationStore,
  type ConfigurationVersion,
  MOST_VERSIONS,
  type NewestConfiguration,
  refuseStale,
  versionOf,
} from '../../../host/stores/configuration-store.ts';
import { LOOKUP_LIMIT_MS, StoreLink } from '../../../host/stores/store-link.ts';
import { type Database, exclusively, rowsOf, timeOf } from '../database/database.ts';

const STORED = 'gateway_config';
const HISTORY = 'config_history';
/** Milliseconds for a change. Long enough for the database to give up first: a change that is given up here might still be kept. */
const APPEND_LIMIT_MS = 60_000;

export interface ConfigStoreDeps {
  readonly clock: Clock;
  readonly log: Log;
}

/** The stored configuration and its history in two tables of SQLite or Postgres, changed in one transaction. */
export class SqlConfiguration implements ConfigurationStore {
  readonly isDurable = true;
  readonly #database: Database;
  readonly #now: () => number;
  readonly #link: StoreLink;

  constructor(database: Database, { clock, log }: ConfigStoreDeps) {
    this.#database = database;
    this.#now = clock.now;
    this.#link = new StoreLink('the configuration store', { clock, log, backend: () => database.dialect.name });
  }

  newest(): Promise<NewestConfiguration> {
    return this.#link.ask(async () => {
      const [row] = rowsOf(
        await this.#database.on('lookups').raw(`SELECT (SELECT max(version) FROM ${HISTORY}) AS version,
        (SELECT config_json FROM ${HISTORY} ORDER BY version DESC LIMIT 1) AS newest, (SELECT config_json FROM ${STORED} WHERE id = 1) AS stored`),
      );
      const [stored, newest] = [textOf(row?.['stored']), textOf(row?.['newest'])];
      return { version: Number(row?.['version'] ?? 0), text: stored ?? newest, isStored: stored !== undefined };
    });
  }

  append(change: ConfigurationChange): Promise<ConfigurationVersion> {
    const {
      dialect: { time },
    } = this.#database;
    return this.#link.ask(
      () =>
        exclusively(this.#database, HISTORY, async (trx) => {
          const { before } = (await trx(HISTORY).max({ before: 'version' }).first()) as { readonly before: unknown };
          const newest = Number(before ?? 0);
          refuseStale(change, newest);
          const entry = versionOf(change, newest, this.#now());
          const kept = { config_json: entry.text, updated_at: time(entry.updatedAt) };
          await trx(HISTORY).insert({
            version: entry.version,
            ...kept,
            actor: entry.actor,
            rolled_back_from: entry.rolledBackFrom ?? null,
          });
          if (change.kind === 'write' || change.kind === 'rollback')
            await trx(STORED)
              .insert({ id: 1, ...kept })
              .onConflict('id')
              .merge();
          else await trx(STORED).where({ id: 1 }).delete();
          return entry;
        }),
      APPEND_LIMIT_MS,
    );
  }

  history(): Promise<readonly ConfigurationVersion[]> {
    return this.#link.ask(async () => {
      const rows = (await this.#database
        .on('reads')(HISTORY)
        .select('*')
        .orderBy('version', 'desc')
        .limit(MOST_VERSIONS)) as Record<string, unknown>[];
      return rows.map(entryOf).toReversed();
    });
  }

  async ping(): Promise<void> {
    await this.newestVersion();
  }

  newestVersion(): Promise<number> {
    return this.#link.ask(async () => {
      const { newest } = (await this.#database.on('lookups')(HISTORY).max({ newest: 'version' }).first()) as {
        readonly newest: unknown;
      };
      return Number(newest ?? 0);
    }, LOOKUP_LIMIT_MS);
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function entryOf(row: Record<string, unknown>): ConfigurationVersion {
  const from = row['rolled_back_from'];
  return {
    version: Number(row['version']),
    updatedAt: timeOf(row['updated_at']) ?? 0,
    text: String(row['config_json']),
    actor: textOf(row['actor']) ?? '',
    rolledBackFrom: from === null || from === undefined ? undefined : Number(from),
  };
}
