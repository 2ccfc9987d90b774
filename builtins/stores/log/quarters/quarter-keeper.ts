import type { Knex } from 'knex';
import { type Database, exclusively, timeOf } from '../../database/database.ts';
import type { Row } from '../../key-rows.ts';
import { IS_TERMINAL, rawColumns, sumOf, SUMS, TIMES } from '../row-sums.ts';
import { DIMENSIONS, type Dimension, KINDS } from './quarter-kinds.ts';
import { QUARTERS, ROWS, SLOT_MS, slotIn, STALE, SUMMED } from './quarter-schema.ts';

/** Milliseconds after its end at which a quarter is summed up: nearly all of its rows are there by then. */
const LAG_MS = 60_000;
/** Rows that one statement sums up at most, where a slot has no more by itself. */
const MOST_ROWS = 20_000;
/** Slots that one transaction sums up. */
const MOST_SLOTS = 96;
const LOCK_MS = 500;
const SUM_NAMES: readonly string[] = [...Object.keys(SUMS), ...Object.keys(TIMES)];
const NAMES = Object.keys(DIMENSIONS) as Dimension[];

interface State {
  readonly from: number;
  readonly to: number;
  readonly upTo: number;
}

/** Keeps the sums of quarters: adds those that are over, those of before there were sums, and makes those anew whose rows have changed. */
export class QuarterKeeper {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** One step, of which each takes a fraction of a second. Whether there is more to do by now. `now` in Unix milliseconds. */
  async step(now: number): Promise<boolean> {
    const state = await this.#state(this.#database.knex);
    if (!state) return false;
    const end = Math.floor((now - LAG_MS) / SLOT_MS);
    if (end > state.to || state.upTo === 0) {
      const newest = await this.#newestId();
      if (newest === 0 && end <= state.to) return false; // there are no rows
      await this.#within((trx, held) => this.#goOn(trx, held, newest, Math.max(end, held.to)));
      return true;
    }
    const [stale] = (await this.#database
      .knex(STALE)
      .where('slot', '>=', state.from)
      .where('slot', '<', state.to)
      .orderBy('slot')
      .limit(1)) as Row[];
    if (stale) {
      const slot = Number(stale['slot']);
      await this.#within((trx, { upTo }) => this.#sum(trx, slot, slot + 1, upTo));
      return true;
    }
    return state.upTo > 0 && state.from > 0 ? this.#within((trx, held) => this.#goBack(trx, held)) : false;
  }

  #within<T>(work: (trx: Knex.Transaction, state: State) => Promise<T>): Promise<T | false> {
    return exclusively(this.#database, SUMMED, async (trx) => {
      const state = await this.#state(trx);
      return state ? work(trx, state) : false;
    });
  }

  async #state(db: Knex): Promise<State | undefined> {
    const row = (await db(SUMMED).select('from_slot', 'to_slot', 'up_to').first()) as Row | undefined;
    return row && { from: Number(row['from_slot']), to: Number(row['to_slot']), upTo: Number(row['up_to']) };
  }

  /** No row with this id or a lower one comes any more. In Postgres ids are given before a transaction ends, so that those that write are waited for. */
  #newestId(): Promise<number> {
    const { knex, dialect } = this.#database;
    return knex.transaction(async (trx) => {
      if (dialect.name === 'postgres') {
        await trx.raw(`SET LOCAL lock_timeout = ${LOCK_MS}`);
        await trx.raw(`LOCK TABLE ${ROWS} IN SHARE MODE`);
      }
      const { id } = (await trx(ROWS).max({ id: 'id' }).first()) as Row;
      return Number(id ?? 0);
    });
  }

  /** Rows that came meanwhile into slots that are summed up make them stale; then slots that are over by now follow. */
  async #goOn(trx: Knex.Transaction, { from, to, upTo }: State, newest: number, end: number): Promise<void> {
    const { name, time } = this.#database.dialect;
    const next = Math.max(newest, upTo);
    const behind = Math.min(end, await this.#behind(trx, to, next));
    await trx.raw(
      `INSERT INTO ${STALE} (slot) SELECT DISTINCT ${slotIn[name]('created_at')} FROM ${ROWS}
       WHERE id > ? AND id <= ? AND created_at >= ? AND created_at < ?`,
      [upTo, next, time(from * SLOT_MS), time(to * SLOT_MS)],
    );
    if (behind > to) await this.#sum(trx, to, behind, next);
    await trx(SUMMED).update({ to_slot: behind, up_to: next });
  }

  /** The newest of what is before. Where nothing is older, everything is. */
  async #goBack(trx: Knex.Transaction, { from, upTo }: State): Promise<boolean> {
    const { time } = this.#database.dialect;
    const older = (): Knex.QueryBuilder =>
      trx(ROWS)
        .where('created_at', '<', time(from * SLOT_MS))
        .orderBy('created_at', 'desc')
        .select('created_at');
    const newest = (await older().first()) as Row | undefined;
    if (!newest) {
      await trx(SUMMED).update({ from_slot: 0 });
      return false;
    }
    const last = slotOf(newest);
    const far = (await older().offset(MOST_ROWS).first()) as Row | undefined;
    const first = Math.max(far ? slotOf(far) + 1 : 0, last - MOST_SLOTS + 1);
    const begin = Math.min(first, last);
    await this.#sum(trx, begin, last + 1, upTo);
    await trx(SUMMED).update({ from_slot: begin });
    return true;
  }

  /** The slot behind those that are summed up together, from one on: one at least. */
  async #behind(trx: Knex.Transaction, slot: number, upTo: number): Promise<number> {
    const far = (await trx(ROWS)
      .where('created_at', '>=', this.#database.dialect.time(slot * SLOT_MS))
      .where('id', '<=', upTo)
      .orderBy('created_at')
      .select('created_at')
      .offset(MOST_ROWS)
      .first()) as Row | undefined;
    return far ? Math.max(slotOf(far), slot + 1) : Infinity;
  }

  /** Sums of these slots, in the place of those that are there. What changes while it runs has marked its slot by then, or will. */
  async #sum(trx: Knex.Transaction, from: number, to: number, upTo: number): Promise<void> {
    const { name, time } = this.#database.dialect;
    await trx(STALE).where('slot', '>=', from).where('slot', '<', to).delete();
    await trx(QUARTERS)
      .whereIn('kind', [...KINDS.keys()])
      .where('slot', '>=', from)
      .where('slot', '<', to)
      .delete();
    const rows = trx(ROWS)
      .where('created_at', '>=', time(from * SLOT_MS))
      .where('created_at', '<', time(to * SLOT_MS))
      .where('id', '<=', upTo)
      .select(...rawColumns(trx, { slot: slotIn[name]('created_at'), ...DIMENSIONS, ...SUMS, ...TIMES }))
      .groupByRaw([0, ...NAMES].map((_name, at) => at + 1).join(', '));
    const parts = KINDS.map((kept, kind) => partOf(kind, kept)).join(' UNION ALL ');
    const { sql, bindings } = rows.toSQL();
    const columns = ['slot', 'kind', ...NAMES, ...SUM_NAMES].join(', ');
    await trx.raw(
      `WITH base AS ${name === 'postgres' ? 'MATERIALIZED ' : ''}(${sql}) INSERT INTO ${QUARTERS} (${columns}) ${parts}`,
      [...bindings],
    );
  }
}

/** The lines of a kind. What it does not keep is empty. */
function partOf(kind: number, kept: readonly Dimension[]): string {
  const isKept = (name: Dimension): boolean => kept.includes(name);
  const names = NAMES.map((name) => (isKept(name) ? name : `${name === 'status' ? '0' : "''"} AS ${name}`));
  const sums = SUM_NAMES.map((name) => `${sumOf(name)} AS ${name}`);
  const where = isKept('stage') ? '' : ` WHERE ${IS_TERMINAL}`;
  return `SELECT slot, ${kind} AS kind, ${[...names, ...sums].join(', ')} FROM base${where} GROUP BY slot, ${kept.join(', ')}`;
}

const slotOf = (row: Row): number => Math.floor((timeOf(row['created_at']) ?? 0) / SLOT_MS);
