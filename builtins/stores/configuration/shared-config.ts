import type { Knex } from 'knex';
import type { Clock, Timer } from '../../../host/common/clock.ts';
import type { ConfigurationChange, ConfigurationVersion } from '../../../host/stores/configuration-store.ts';
import { type ConfigStoreDeps, SqlConfiguration } from './sql-config.ts';
import type { Database } from '../database/database.ts';
import { CONFIG_CHANNEL } from '../replicas/site.ts';

/** Milliseconds between two looks, for what is not heard of. One look reads two rows. */
export const LOOK_MS = 2000;

/** A store that other processes write too: it looks for what they changed when they say so, and from time to time, as long as it is open. */
export class SharedConfiguration extends SqlConfiguration {
  readonly #clock: Clock;
  readonly #told = { configuration: [] as (() => void)[], models: [] as (() => void)[] };
  #seen = { configuration: '', models: '' };
  #next: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** How many changes this process has made. */
  #changes = 0;
  /** A look that has not begun sees whatever was changed until now. */
  #isDue = false;

  constructor(database: Database, deps: ConfigStoreDeps) {
    super(database, deps);
    this.#clock = deps.clock;
  }

  readonly onChange = (changed: () => void): void => {
    this.#told.configuration.push(changed);
    this.#begin();
  };

  /** Calls when another process may have kept live models. */
  readonly onModels = (changed: () => void): void => {
    this.#told.models.push(changed);
    this.#begin();
  };

  /** Looks at once: another process said that it changed something. */
  readonly heard = (): void => {
    if (this.#next) this.#lookSoon();
  };

  /** Resolves when no look is under way any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#next?.cancel();
    await this.#looking;
  }

  /** The next look counts as news, whatever it finds: a store may go back to what the last one found. */
  override append(change: ConfigurationChange): Promise<ConfigurationVersion> {
    return super.append(change).finally(() => {
      this.#changes += 1;
      this.#seen = { ...this.#seen, configuration: '' };
    });
  }

  protected override async announce(trx: Knex.Transaction, version: number): Promise<void> {
    await trx.raw('SELECT pg_notify(?, ?)', [CONFIG_CHANNEL, String(version)]);
  }

  #begin(): void {
    if (!this.#next) this.#lookLater();
  }

  #lookLater(): void {
    this.#next?.cancel();
    if (!this.#isClosed) this.#next = this.#clock.timer(LOOK_MS, () => this.#lookSoon());
  }

  /** After one that is under way. */
  #lookSoon(): void {
    if (this.#isDue || this.#isClosed) return;
    this.#isDue = true;
    this.#looking = this.#looking.then(() => {
      this.#isDue = false;
      return this.#look();
    });
  }

  /** The link logs a failure, once; the next look tries again. */
  async #look(): Promise<void> {
    const changes = this.#changes;
    const found = await this.marks().catch(() => this.#seen);
    const before = this.#seen;
    this.#seen = changes === this.#changes ? found : { ...found, configuration: '' };
    if (this.#isClosed) return;
    for (const what of ['configuration', 'models'] as const)
      if (found[what] !== before[what]) for (const changed of this.#told[what]) changed();
    this.#lookLater();
  }
}
