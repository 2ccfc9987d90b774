import type { Knex } from 'knex';
import type {
  SpendAnswer,
  SpendFilters,
  SpendQuestion,
  SpendRepository,
  SpendSums,
} from '../../../host/stores/spend/spend-ledger.ts';
import { exactSums } from '../../../host/stores/spend/sum-spend.ts';
import { SPEND_COUNTS, SPEND_TEXTS } from '../../../host/stores/spend/spend-row.ts';
import { type Database, rowsOf } from '../database/database.ts';
import { ADDS } from './spend-insert.ts';

const TABLE = 'spend';
const LAST = '(hour + span - 1)';
const DAY = 24;
const TEXTS = SPEND_TEXTS.join(', ');
const COUNTS = SPEND_COUNTS.join(', ');
const KEPT = `digest, ${TEXTS}, ${COUNTS}`;
const SUMS = SPEND_COUNTS.map((name) => `SUM(${name}) AS ${name}`).join(', ');

/** Spend in one table of SQLite or Postgres. */
export class SqlSpend implements SpendRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  read(question: SpendQuestion, signal?: AbortSignal): Promise<SpendAnswer> {
    return this.#database.read(async (db) => {
      const { by, edges } = question;
      const columns = by.length > 0 ? `, ${by.join(', ')}` : '';
      const query = this.#asked(db, question).select(
        db.raw(
          `${bucketOf(edges)} AS bucket${columns}, ${SUMS}, MAX(CASE WHEN span > 1 THEN hour + span END) AS merged`,
        ),
      );
      void query.groupByRaw(['1', ...by].join(', '));
      const rows = (await query) as readonly Readonly<Record<string, unknown>>[];
      const merged = rows.map(({ merged: at }) => Number(at ?? 0)).reduce((most, at) => Math.max(most, at), 0);
      const groups = rows.filter(({ requests }) => requests !== null).map((row) => exactSums(sumsOf(row, question)));
      return { groups, mergedUntil: merged > 0 ? merged : undefined };
    }, signal);
  }

  async mergeDay(before: number): Promise<boolean> {
    const db = this.#database.on('ledger');
    const first = (await db(TABLE).where({ span: 1 }).where('hour', '<', before).min({ hour: 'hour' }).first()) as
      | { readonly hour: unknown }
      | undefined;
    if (first?.hour === null || first?.hour === undefined) return false;
    const day = Math.floor(Number(first.hour) / DAY) * DAY;
    if (day + DAY > before) return false;
    await db.transaction((trx) => mergeInto(trx, day, this.#database.dialect.name));
    return true;
  }

  async purge(before: number, most: number): Promise<number> {
    const sql = `DELETE FROM ${TABLE} WHERE (hour, span, digest) IN (SELECT hour, span, digest FROM ${TABLE} WHERE hour + span <= ? LIMIT ?) RETURNING hour`;
    return rowsOf(await this.#database.on('ledger').raw(sql, [before, most])).length;
  }

  #asked(db: Knex, { from, to, filters }: SpendQuestion): Knex.QueryBuilder {
    const query = db(TABLE)
      .where('hour', '>=', from - DAY + 1)
      .where('hour', '<', to)
      .whereRaw(`${LAST} >= ? AND ${LAST} < ?`, [from, to]);
    this.#filter(query, filters);
    return query;
  }

  #filter(query: Knex.QueryBuilder, { account, tag, ...exact }: SpendFilters): void {
    const { position } = this.#database.dialect;
    if (account === '') void query.where({ account });
    else if (account !== undefined && account !== '/')
      void query.whereRaw('(account = ? OR substr(account, 1, ?) = ?)', [account, account.length + 1, `${account}/`]);
    if (tag === '') void query.where({ tags: '' });
    else if (tag !== undefined) void query.whereRaw(`${position}(',' || tags || ',', ?) > 0`, [`,${tag},`]);
    for (const [name, value] of Object.entries(exact)) if (value !== undefined) void query.where({ [name]: value });
  }
}

/** The index of the bucket that a row's last hour lies in. */
function bucketOf(edges: readonly number[]): string {
  const [first = 0, second = first + 1] = edges;
  if (edges.length < 2) return '0';
  const step = second - first;
  const end = first + (edges.length - 1) * step; // the last bucket has no end of its own
  if (edges.every((edge, at) => edge === first + at * step))
    return `CASE WHEN ${LAST} >= ${end} THEN ${edges.length - 1} ELSE (${LAST} - ${first}) / ${step} END`;
  return between(edges, 0, edges.length);
}

/** A search by halves, as SQL: of some hundred edges each row is compared with nine. */
function between(edges: readonly number[], low: number, high: number): string {
  if (high - low === 1) return String(low);
  const middle = Math.floor((low + high) / 2);
  return `CASE WHEN ${LAST} < ${edges[middle]} THEN ${between(edges, low, middle)} ELSE ${between(edges, middle, high)} END`;
}

function sumsOf(row: Readonly<Record<string, unknown>>, { by }: SpendQuestion): SpendSums {
  const texts = by.map((name) => [name, String(row[name])] as const);
  const counts = SPEND_COUNTS.map((name) => [name, Number(row[name])] as const);
  return { bucket: Number(row['bucket']), ...Object.fromEntries([...texts, ...counts]) } as SpendSums;
}

/** Rows of a day that came late are merged into it by a later call. */
async function mergeInto(trx: Knex.Transaction, day: number, dialect: 'sqlite' | 'postgres'): Promise<void> {
  const hours = 'span = 1 AND hour >= ? AND hour < ?';
  const bounds = [day, day + DAY];
  const inserting = (from: string): string =>
    `INSERT INTO ${TABLE} (hour, span, digest, ${TEXTS}, ${COUNTS}) SELECT ${day}, ${DAY}, digest, ${TEXTS}, ${SUMS} FROM ${from} GROUP BY digest, ${TEXTS} ORDER BY digest ${ADDS}`;
  if (dialect === 'postgres') {
    await trx.raw(`WITH gone AS (DELETE FROM ${TABLE} WHERE ${hours} RETURNING ${KEPT}) ${inserting('gone')}`, bounds);
    return;
  }
  await trx.raw(inserting(`(SELECT ${KEPT} FROM ${TABLE} WHERE ${hours})`), bounds);
  await trx.raw(`DELETE FROM ${TABLE} WHERE ${hours}`, bounds);
}
