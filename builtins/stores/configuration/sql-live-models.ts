import { type DiscoveredModel, tryParseJson } from '../../../host/contract/index.ts';
import type { LiveModels, LiveModelStore } from '../../../host/stores/replicas/live-models.ts';
import { StoreLink } from '../../../host/stores/store-link.ts';
import { type Database, rowsOf } from '../database/database.ts';
import { CONFIG_CHANNEL } from '../replicas/site.ts';
import type { SharedConfiguration } from './shared-config.ts';
import type { ConfigStoreDeps } from './sql-config.ts';

const TABLE = 'live_models';

/** Live models in the database of the configuration, on Postgres, a row for each provider. A row's version is that of the last change of any. */
export class SqlLiveModels implements LiveModelStore {
  readonly onModels: SharedConfiguration['onModels'];
  readonly isLeader: () => boolean;
  readonly #database: Database;
  readonly #link: StoreLink;

  /** `shared` looks at the database anyway. */
  constructor(
    database: Database,
    {
      clock,
      log,
      isLeader,
      shared,
    }: ConfigStoreDeps & { readonly isLeader: () => boolean; readonly shared: SharedConfiguration },
  ) {
    this.#database = database;
    this.#link = new StoreLink('the store of live models', { clock, log, backend: () => database.dialect.name });
    this.onModels = shared.onModels;
    this.isLeader = isLeader;
  }

  read(): Promise<LiveModels> {
    return this.#link.ask(async () => {
      const rows = rowsOf(await this.#database.on('reads').raw(`SELECT instance, models FROM ${TABLE}`));
      return new Map(rows.map(({ instance, models }) => [String(instance), modelsOf(models)]));
    });
  }

  /** One statement, so that a process that is lost in it holds up no other. */
  keep(provider: string, models: readonly DiscoveredModel[]): Promise<void> {
    return this.#link.ask(async () => {
      await this.#database.knex.raw(
        `WITH kept AS (INSERT INTO ${TABLE} (instance, models, found_at, version)
          SELECT ?, ?, now(), coalesce(max(version), 0) + 1 FROM ${TABLE}
          ON CONFLICT (instance) DO UPDATE SET models = excluded.models, found_at = excluded.found_at,
            version = CASE WHEN ${TABLE}.models = excluded.models THEN ${TABLE}.version ELSE excluded.version END
          RETURNING instance)
        SELECT pg_notify(?, 'models ' || instance) FROM kept`,
        [provider, JSON.stringify(models.map(({ id, created }) => ({ id, created }))), CONFIG_CHANNEL],
      );
    });
  }
}

/** What another program has written is checked: ids that are texts, times that are numbers. */
function modelsOf(text: unknown): readonly DiscoveredModel[] {
  const parsed = typeof text === 'string' ? tryParseJson(text) : undefined;
  if (!Array.isArray(parsed)) return [];
  return parsed.flatMap((item: unknown) => {
    const { id, created } = (item ?? {}) as { readonly id?: unknown; readonly created?: unknown };
    if (typeof id !== 'string' || id === '') return [];
    return [typeof created === 'number' ? { id, created } : { id }];
  });
}
