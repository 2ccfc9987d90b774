import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import { SPEND_COUNTS, SPEND_TEXTS, type SpendRow } from '../../../host/stores/spend/spend-row.ts';
import { arrayOf, type Part } from '../database/numbered-writes.ts';

const NAMES = ['hour', 'span', 'digest', ...SPEND_TEXTS, ...SPEND_COUNTS];
const COLUMNS = NAMES.join(', ');
/** Rows that one statement of SQLite writes: it takes no more than some thousand values. */
const BATCH = 100;
/** Code units of the longest text that is kept: names of models come from clients. */
const LONGEST = 1024;

/** What adds to a row that is there. */
export const ADDS = `ON CONFLICT (hour, span, digest) DO UPDATE SET ${SPEND_COUNTS.map(
  (name) => `${name} = spend.${name} + excluded.${name}`,
).join(', ')}`;

const isNumber = (name: string): boolean =>
  name === 'hour' || name === 'span' || (SPEND_COUNTS as readonly string[]).includes(name);

/** The values of a row in the order of its columns. Texts lose the one character that Postgres does not hold. */
function valuesOf(row: SpendRow): readonly (string | number)[] {
  const texts = SPEND_TEXTS.map((name) => row[name].replaceAll('\0', '\ufffd').slice(0, LONGEST));
  return [row.hour, row.span, digestOf(texts), ...texts, ...SPEND_COUNTS.map((name) => row[name])];
}

/** Stands for all texts of a row together. */
export const digestOf = (texts: readonly string[]): string =>
  hash('sha256', JSON.stringify(texts), 'base64url').slice(0, 22);

/** The part of a statement of Postgres that keeps rows of spend; empty without any. Rows are taken in one order everywhere, so that two processes do not wait for each other's. */
export function spendTogether(rows: readonly SpendRow[], isFirst: string): Part {
  if (rows.length === 0) return { sql: '', bindings: [] };
  const values = alikeOnce(rows.map(valuesOf));
  const types = NAMES.map((name) => (isNumber(name) ? '?::bigint[]' : '?::text[]')).join(', ');
  return {
    sql: `,
  spent AS (INSERT INTO spend (${COLUMNS}) SELECT ${COLUMNS} FROM unnest(${types}) AS given (${COLUMNS}) WHERE ${isFirst} ORDER BY hour, span, digest ${ADDS})`,
    bindings: NAMES.map((_name, at) => arrayOf(values.map((row) => row[at] ?? 0))),
  };
}

/** In a transaction of SQLite. */
export async function insertSpend(trx: Knex.Transaction, rows: readonly SpendRow[]): Promise<void> {
  const one = `(${NAMES.map(() => '?').join(', ')})`;
  for (let at = 0; at < rows.length; at += BATCH) {
    const values = rows.slice(at, at + BATCH).map(valuesOf);
    await trx.raw(`INSERT INTO spend (${COLUMNS}) VALUES ${values.map(() => one).join(', ')} ${ADDS}`, values.flat());
  }
}

/** One statement of Postgres adds to a row once: what became alike as it was cut is one. */
function alikeOnce(rows: readonly (readonly (string | number)[])[]): readonly (readonly (string | number)[])[] {
  const known = new Map<string, readonly (string | number)[]>();
  const first = NAMES.length - SPEND_COUNTS.length;
  for (const row of rows) {
    const key = row.slice(0, 3).join(' ');
    const earlier = known.get(key);
    known.set(key, earlier ? row.map((value, at) => (at < first ? value : Number(value) + Number(earlier[at]))) : row);
  }
  return [...known.values()];
}
