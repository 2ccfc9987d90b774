import type { Knex } from 'knex';
import type { Clock, Timer } from '../../../host/common/clock.ts';
import { type ConfigStoreDeps, SqlConfiguration } from './sql-config.ts';
import type { Database } from '../database/database.ts';

/** Milliseconds between two looks: a change is in force everywhere within a second. One look reads one row by an index. */
export const LOOK_MS = 400;
/** Where other processes hear of a change. */
export const CONFIG_CHANNEL = 'gw_config_changes';

/** A store that other processes write too: it looks for what they changed as long as it is open. */
export class SharedConfiguration extends SqlConfiguration {
  readonly #clock: Clock;
  readonly #told = { configuration: [] as (() => void)[], models: [] as (() => void)[] };
  #seen = { configuration: '', models: '' };
  #next: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;
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
    const found = await this.marks().catch(() => this.#seen);
    const before = this.#seen;
    this.#seen = found;
    if (this.#isClosed) return;
    for (const what of ['configuration', 'models'] as const)
      if (found[what] !== before[what]) for (const changed of this.#told[what]) changed();
    this.#lookLater();
  }
}
