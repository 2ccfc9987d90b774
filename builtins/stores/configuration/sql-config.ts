import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Log } from '../../../host/contract/index.ts';
import type { Clock } from '../../../host/common/clock.ts';
import { changed } from '../../../host/stores/changes.ts';
import {
  type ConfigurationChange,
  type ConfigurationStore,
  type ConfigurationVersion,
  type HistoryPage,
  MOST_VERSIONS,
  type NewestConfiguration,
  refuseStale,
  versionOf,
} from '../../../host/stores/configuration-store.ts';
import { LOOKUP_LIMIT_MS, StoreLink } from '../../../host/stores/store-link.ts';
import { type Database, exclusively, rowsOf, timeOf } from '../database/database.ts';

const STORED = 'gateway_config';
const HISTORY = 'config_history';
const FLOOR = 'config_floor';
const DIGEST = "encode(sha256(convert_to(config_json, 'UTF8')), 'hex')";
const BARE_COLUMNS: readonly string[] = ['version', 'updated_at', 'actor', 'rolled_back_from'];
/** Versions that are kept. */
const MOST_KEPT = 1000;
/** Versions that one change deletes at most: the first one after an upgrade may find many. */
const MOST_DELETED = 1000;

export interface ConfigStoreDeps {
  readonly clock: Clock;
  readonly log: Log;
}

interface Before {
  readonly newest: number;
  readonly mark: string | undefined;
  /** Numbers up to this one were used once. */
  readonly floor: number;
  readonly stored: string | undefined;
}

interface Marks {
  readonly configuration: string;
  readonly models: string;
}

/** The stored configuration and its history in two tables of SQLite or Postgres, changed in one transaction. */
export class SqlConfiguration implements ConfigurationStore {
  readonly isDurable = true;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #link: StoreLink;

  constructor(database: Database, { clock, log }: ConfigStoreDeps) {
    this.#database = database;
    this.#clock = clock;
    this.#link = new StoreLink('the configuration store', { clock, log, backend: () => database.dialect.name });
  }

  /** In the transaction of a change: lets other processes know. */
  protected async announce(_trx: Knex.Transaction, _version: number): Promise<void> {}

  newest(): Promise<NewestConfiguration> {
    return this.#link.ask(async () => {
      const [row] = rowsOf(
        await this.#database.on('lookups').raw(`SELECT (SELECT max(version) FROM ${HISTORY}) AS version,
        (SELECT config_json FROM ${HISTORY} ORDER BY version DESC LIMIT 1) AS newest, (SELECT config_json FROM ${STORED} WHERE id = 1) AS stored,
        (SELECT reused FROM ${FLOOR} WHERE id = 1) AS reused`),
      );
      const [stored, newest] = [textOf(row?.['stored']), textOf(row?.['newest'])];
      const [version, text] = [Number(row?.['version'] ?? 0), stored ?? newest];
      const mark = isReused(row?.['reused'], version) ? markOf(text) : undefined;
      return { version, mark, text, isStored: stored !== undefined };
    });
  }

  async append(change: ConfigurationChange): Promise<ConfigurationVersion> {
    let entry: ConfigurationVersion | undefined;
    return changed<ConfigurationVersion>(this.#link, this.#clock, {
      make: (pending) =>
        exclusively(
          this.#database,
          HISTORY,
          async (trx) => {
            const { newest, mark, floor, stored } = await this.#before(trx);
            refuseStale(change, newest, mark);
            if (stored !== undefined) change.mayReplace?.(stored);
            const made = versionOf(change, newest, this.#clock.now(), Math.max(floor, change.above ?? 0));
            entry = made;
            await this.#keep(trx, change, made);
            return made;
          },
          pending,
        ),
      look: async () => {
        const made = entry;
        return made && (await this.#holds(made)) ? { isDone: true, answer: made } : { isDone: false };
      },
    });
  }

  history({ limit = MOST_VERSIONS, before, isBare }: HistoryPage = {}): Promise<readonly ConfigurationVersion[]> {
    return this.#link.ask(async () => {
      const query = this.#database
        .on('reads')(HISTORY)
        .select(isBare ? BARE_COLUMNS : [...BARE_COLUMNS, 'config_json'])
        .orderBy('version', 'desc')
        .limit(limit);
      if (before !== undefined) void query.where('version', '<', before);
      return ((await query) as Record<string, unknown>[]).map(entryOf).toReversed();
    });
  }

  readonly raiseFloor = (version: number, reused?: number): Promise<void> =>
    this.#link.ask(async () => {
      const { knex, dialect } = this.#database;
      const highest = dialect.name === 'sqlite' ? 'max' : 'greatest';
      await knex.raw(
        `INSERT INTO ${FLOOR} (id, version, reused) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET
          version = ${highest}(${FLOOR}.version, excluded.version), reused = coalesce(excluded.reused, ${FLOOR}.reused)`,
        [version, reused ?? null],
      );
    });

  async ping(): Promise<void> {
    await this.#link.ask(async () => {
      await this.#database.verify?.();
      await this.#database.knex(HISTORY).max({ newest: 'version' });
    }, LOOKUP_LIMIT_MS);
  }

  async #keep(trx: Knex.Transaction, { kind }: ConfigurationChange, entry: ConfigurationVersion): Promise<void> {
    const kept = { config_json: entry.text, updated_at: this.#database.dialect.time(entry.updatedAt) };
    await trx(HISTORY).insert({
      version: entry.version,
      ...kept,
      actor: entry.actor,
      rolled_back_from: entry.rolledBackFrom ?? null,
    });
    if (kind === 'write' || kind === 'rollback')
      await trx(STORED)
        .insert({ id: 1, ...kept })
        .onConflict('id')
        .merge();
    else await trx(STORED).where({ id: 1 }).delete();
    await this.#forget(trx);
    await this.announce(trx, entry.version);
  }

  /** Whether a change is in the history, once every change that was begun has ended. */
  #holds({ version, text, actor }: ConfigurationVersion): Promise<boolean> {
    return exclusively(
      this.#database,
      HISTORY,
      async (trx) => (await trx(HISTORY).where({ version, config_json: text, actor }).first('version')) !== undefined,
    );
  }

  /** What a change comes after. */
  async #before(trx: Knex.Transaction): Promise<Before> {
    const [row] = rowsOf(
      await trx.raw(`SELECT (SELECT max(version) FROM ${HISTORY}) AS newest, (SELECT version FROM ${FLOOR} WHERE id = 1) AS floor,
        (SELECT reused FROM ${FLOOR} WHERE id = 1) AS reused, (SELECT config_json FROM ${STORED} WHERE id = 1) AS stored`),
    );
    const [newest, floor, stored] = [
      Number(row?.['newest'] ?? 0),
      Number(row?.['floor'] ?? 0),
      textOf(row?.['stored']),
    ];
    if (!isReused(row?.['reused'], newest)) return { newest, mark: undefined, floor, stored };
    const kept = await trx(HISTORY).where({ version: newest }).first('config_json');
    return { newest, mark: markOf(stored ?? textOf(kept?.config_json)), floor, stored };
  }

  /** With each change, so that no job has to. */
  async #forget(trx: Knex.Transaction): Promise<void> {
    await trx.raw(
      `DELETE FROM ${HISTORY} WHERE version IN (SELECT version FROM ${HISTORY} WHERE version <=
        (SELECT version FROM ${HISTORY} ORDER BY version DESC LIMIT 1 OFFSET ${MOST_KEPT}) ORDER BY version LIMIT ${MOST_DELETED})`,
    );
  }

  /** On Postgres: what differs as soon as the newest version has another number or another text, and live models another version. The server reckons the digest, so that no text travels. */
  protected marks(): Promise<Marks> {
    return this.#link.ask(async () => {
      const [row] = rowsOf(
        await this.#database.on('lookups')
          .raw(`SELECT coalesce((SELECT max(version) FROM ${HISTORY}), 0) || ' ' || coalesce(
          (SELECT ${DIGEST} FROM ${STORED} WHERE id = 1), (SELECT ${DIGEST} FROM ${HISTORY} ORDER BY version DESC LIMIT 1), '') || coalesce((SELECT ' ' || reused FROM ${FLOOR} WHERE id = 1), '') AS configuration,
        coalesce((SELECT max(version) FROM live_models), 0) AS models`),
      );
      return { configuration: String(row?.['configuration']), models: String(row?.['models']) };
    }, LOOKUP_LIMIT_MS);
  }
}

/** Whether a newest version has the number of one that was lost. */
const isReused = (reused: unknown, version: number): boolean =>
  reused !== null && reused !== undefined && Number(reused) === version;

/** Eight hexadecimal digits of a text's digest. */
const markOf = (text = ''): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function entryOf(row: Record<string, unknown>): ConfigurationVersion {
  const from = row['rolled_back_from'];
  return {
    version: Number(row['version']),
    updatedAt: timeOf(row['updated_at']) ?? 0,
    text: textOf(row['config_json']) ?? '',
    actor: textOf(row['actor']) ?? '',
    rolledBackFrom: from === null || from === undefined ? undefined : Number(from),
  };
}
