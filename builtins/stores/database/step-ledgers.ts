import type { Knex } from 'knex';
import type { Dialect } from './database.ts';

/** What of a step says which programs may work on the tables after it. */
export interface LedgerStep {
  readonly version: number;
  readonly name: string;
  /**
   * The newest step that an older program must know at least to do right beside this one; `null` where no program may work that does not
   * know it. What only adds (a table, a column that may be null or has a default, an index, a wider type) has a number. Where the
   * databases differ, one for each. See docs/stores.md#versions-of-the-tables.
   */
  readonly readsFrom: ReadsFrom | Readonly<Record<Dialect['name'], ReadsFrom>>;
}

type ReadsFrom = number | null;

/** A row of either ledger. */
interface DoneStep {
  readonly version: number;
}

/** What stands in the ledgers of one schema. */
interface Done {
  readonly versions: ReadonlySet<number>;
  /** Steps of a newer program that this one need not know, in ascending order. */
  readonly unknown: readonly number[];
}

/** What a step says of a database of this kind. */
export function readsFrom({ readsFrom: said }: LedgerStep, { name }: Pick<Dialect, 'name'>): ReadsFrom {
  return typeof said === 'object' && said !== null ? said[name] : said;
}

/**
 * Which steps of a schema have been done. They are written into two tables, so that every program, also one that knows of one table
 * alone, refuses what it cannot work on and nothing else (docs/decisions/0046-additions-have-a-ledger-of-their-own.md): steps that
 * a program must know into the ledger, those beyond into that of additions.
 */
export class StepLedgers {
  readonly #ledger: string;
  readonly #additions: string;
  readonly #steps: readonly LedgerStep[];
  readonly #dialect: Dialect;
  readonly #now: () => number;
  /** The newest step that a program must know to work on these tables. */
  readonly #mustKnow: number;

  constructor(ledger: string, steps: readonly LedgerStep[], dialect: Dialect, now: () => number) {
    this.#ledger = ledger;
    this.#additions = ledger.replace(/_migrations$/, '_additions');
    this.#steps = steps;
    this.#dialect = dialect;
    this.#now = now;
    this.#mustKnow = steps.reduce((most, step) => Math.max(most, readsFrom(step, dialect) ?? step.version), 0);
  }

  create(knex: Knex): Promise<void> {
    return knex.transaction(async (trx) => {
      for (const table of [this.#ledger, this.#additions])
        await trx.raw(
          `CREATE TABLE IF NOT EXISTS ${table} (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at ${this.#dialect.moment} NOT NULL)`,
        );
    });
  }

  /** Throws where a newer program has done what this one must know. */
  async done(trx: Knex.Transaction): Promise<Done> {
    const versionsIn = async (table: string): Promise<number[]> =>
      (await trx<DoneStep>(table).select('version').orderBy('version')).map(({ version }) => version);
    return this.#doneOf(await versionsIn(this.#ledger), await versionsIn(this.#additions));
  }

  #doneOf(required: readonly number[], additions: readonly number[]): Done {
    const added = required.length === 0 ? [] : additions;
    const isUnknown = (version: number): boolean => this.#steps.every((known) => known.version !== version);
    this.#refuseNewer(required.filter(isUnknown));
    return { versions: new Set([...required, ...added]), unknown: added.filter(isUnknown) };
  }

  /** As `done`, where nothing may be made: of tables that are not there, no step has been done. */
  async asTheyAre(knex: Knex): Promise<Done> {
    const versionsIn = async (table: string): Promise<number[]> => {
      if (!(await this.#dialect.hasTable(knex, table))) return [];
      return (await knex<DoneStep>(table).select('version').orderBy('version')).map(({ version }) => version);
    };
    return this.#doneOf(await versionsIn(this.#ledger), await versionsIn(this.#additions));
  }

  /** Before any step: additions that a later step builds on must be known from now on. Those of tables that are gone with their ledger count no more. */
  async require(trx: Knex.Transaction): Promise<void> {
    await trx.raw(`DELETE FROM ${this.#additions} WHERE NOT EXISTS (SELECT 1 FROM ${this.#ledger})`);
    const built = (columns: string): string => `SELECT ${columns} FROM ${this.#additions} WHERE version <= ?`;
    await trx.raw(
      `INSERT INTO ${this.#ledger} (version, name, applied_at) ${built('version, name, applied_at')} ON CONFLICT DO NOTHING`,
      [this.#mustKnow],
    );
    await trx(this.#additions).where('version', '<=', this.#mustKnow).delete();
  }

  async record(trx: Knex.Transaction, { version, name }: LedgerStep): Promise<void> {
    await trx(version <= this.#mustKnow ? this.#ledger : this.#additions).insert({
      version,
      name,
      applied_at: this.#dialect.time(this.#now()),
    });
  }

  #refuseNewer(unknown: readonly number[]): void {
    if (unknown.length === 0) return;
    throw new Error(
      `${this.#ledger} holds version ${unknown.join(', ')}, and this program knows up to ${this.#steps.at(-1)?.version ?? 0}: a newer gw has used this database; run that one, or restore a copy made before it`,
    );
  }
}
