import type { Knex } from 'knex';
import type { Clock, Timer } from '../../../host/common/clock.ts';
import { type ConfigStoreDeps, SqlConfiguration } from './sql-config.ts';
import type { Database } from '../database/database.ts';

/** Milliseconds between two looks: a change is in force everywhere within a second. One look reads one row by an index. */
export const LOOK_MS = 400;
/** Where other processes hear of a change, by its number. */
export const CONFIG_CHANNEL = 'gw_config_changes';

/** A store that other processes write too: it looks for their versions as long as it is open. */
export class SharedConfiguration extends SqlConfiguration {
  readonly #clock: Clock;
  readonly #told: (() => void)[] = [];
  #seen = '';
  #next: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(database: Database, deps: ConfigStoreDeps) {
    super(database, deps);
    this.#clock = deps.clock;
  }

  readonly onChange = (changed: () => void): void => {
    this.#told.push(changed);
    if (this.#told.length === 1) this.#lookLater();
  };

  /** Resolves when no look is under way any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#next?.cancel();
    await this.#looking;
  }

  protected override async announce(trx: Knex.Transaction, version: number): Promise<void> {
    await trx.raw('SELECT pg_notify(?, ?)', [CONFIG_CHANNEL, String(version)]);
  }

  #lookLater(): void {
    if (!this.#isClosed)
      this.#next = this.#clock.timer(LOOK_MS, () => {
        this.#looking = this.#look();
      });
  }

  /** The link logs a failure, once; the next look tries again. */
  async #look(): Promise<void> {
    const newest = await this.newestMark().catch(() => this.#seen);
    if (newest !== this.#seen && !this.#isClosed) for (const changed of this.#told) changed();
    this.#seen = newest;
    this.#lookLater();
  }
}
