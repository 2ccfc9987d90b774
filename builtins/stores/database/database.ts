import type { Knex } from 'knex';
import { parseJson } from '../../../host/contract/index.ts';
import type { PendingChange } from '../../../host/stores/changes.ts';
import { WriteFault } from '../../../host/stores/write-fault.ts';
import { isAnswer, kindOf } from './driver-faults.ts';

/** What differs between the databases, for those who write statements. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** Column types. */
  readonly moment: string;
  readonly serial: string;
  readonly integer: string;
  /** A moment, in Unix milliseconds, as it is bound. */
  readonly time: (ms: number) => string;
  /** SQL for the moment so many milliseconds ago: by the database's own clock where several processes use it, else before `now`, in Unix milliseconds. */
  readonly ago: (ms: number, now: number) => string;
  /** Descending order with what is absent at the end, which one of them does by itself. */
  readonly down: (column: string) => string;
  /** The first statement of a transaction that reads before it writes: from then on no other connection writes the table, also of another process. */
  readonly lock: (trx: Knex.Transaction, table: string) => Promise<void>;
  readonly hasTable: (db: Knex, table: string) => Promise<boolean>;
  /** The function that says where a text stands in another, upper and lower case apart; 0 for nowhere. */
  readonly position: string;
  /** Whether a column holds a bound text; of the letters A to Z the case does not matter, of others it does. */
  readonly holds: (column: string) => string;
  /** The sum of a column of whole numbers and `more`, from 0 to `MOST_SUM`, also where the column holds what is beyond that or is not a number. */
  readonly plus: (column: string, more: string) => string;
  /** Unix milliseconds of a column of moments, as a whole number. */
  readonly milliseconds: (column: string) => string;
}

/** What drivers and pools would write to the console; what fails is thrown, and the stores tell it. */
export const SILENT: Knex.Logger = { warn: () => {}, error: () => {}, deprecate: () => {}, debug: () => {} };

/**
 * What connections are for. On Postgres each purpose has its own, so that none waits for what another does: `lookups` of credentials and of
 * what a request waits for, `changes` by administrators, the `ledger` and whatever else of keys is written behind, rows of the `log`, the
 * `state` that replicas share, beats above all, and `reads` of lists and figures. See docs/stores.md#connections.
 */
export type Lane = 'lookups' | 'changes' | 'ledger' | 'log' | 'state' | 'reads';

/** One open database. */
export interface Database {
  /** Where a database of SQLite is, for messages. */
  readonly file?: string;
  /** Its connections for one purpose. With a signal: what is asked, or under way, when it is aborted ends with an error, and the database stops working on it. */
  readonly on: (lane: Lane, signal?: AbortSignal) => Knex;
  /** Those for changes. */
  readonly knex: Knex;
  readonly dialect: Dialect;
  /** Fails where the file is not the one that was opened any more. */
  verify?(): Promise<void>;
  /** Whether a pooler stands before it: what is set on a connection may then be gone, or another's, with the next statement. */
  readonly isPooled: boolean;
  /** Runs what only reads, a page or statistics, so that nothing that is written waits for it. With the signal it ends, in the database too; what it gives or throws then is of no use. */
  read<T>(work: (db: Knex) => Promise<T>, signal?: AbortSignal): Promise<T>;
  close(): Promise<void>;
}

/**
 * Runs `work` while no other connection writes `table`. A change that is too late, once it has the lock or before it decides, does nothing. One that met
 * another writer throws a `WriteFault`.
 */
export async function exclusively<T>(
  { knex, dialect }: Database,
  table: string,
  work: (trx: Knex.Transaction) => Promise<T>,
  change?: PendingChange,
): Promise<T> {
  try {
    return await knex.transaction(async (trx) => {
      await dialect.lock(trx, table);
      change?.goOn();
      const result = await work(trx);
      change?.decide();
      return result;
    });
  } catch (error) {
    if (dialect.name === 'sqlite' || isAnswer(error)) change?.refused(); // a file answers always
    throw kindOf(error) === 'conflict' ? new WriteFault('conflict', error) : error;
  }
}

/** As databases write moments, with what some programs add to their zone. */
const MOMENT = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s*(Z|[+-]\d\d(?::?\d\d)?)?(?: UTC)?( BC)?$/;

/** Unix milliseconds of what a database gives back, also where a person or another program wrote it. `undefined` for nothing. */
export function timeOf(value: unknown): number | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'number') return value < 1e11 ? value * 1000 : value; // seconds, as programs with epochs write them
  const text = typeof value === 'string' ? value : '';
  const [, date, time, offset, era] = MOMENT.exec(text) ?? [];
  const ms = Date.parse(`${era ? yearZero(date ?? '') : date}T${time}${zone(offset)}`);
  if (Number.isNaN(ms)) throw new Error(`"${text.slice(0, 40)}" is not a moment`);
  return ms;
}

/** Years before the first have no sign there, and count from 1. */
const yearZero = (date: string): string => (date.startsWith('0001') ? `0000${date.slice(4)}` : date);

function zone(offset: string | undefined): string {
  if (offset === undefined || offset === 'Z') return 'Z';
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0');
  return `${offset[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

/** A JSON array of texts; what does not hold one allows nothing. `undefined` for nothing. */
export function listOf(value: unknown): readonly string[] | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    const parsed = parseJson(value);
    return Array.isArray(parsed) ? parsed.filter((item) => typeof item === 'string') : [];
  } catch {
    return [];
  }
}

/** Bound values of a list or a number that may be absent. */
export const listText = (list: readonly unknown[] | undefined): string | null => (list ? JSON.stringify(list) : null);

/** The rows of a raw statement: drivers hand them out in different places. */
export function rowsOf(result: unknown): readonly Record<string, unknown>[] {
  return (Array.isArray(result) ? result : (result as { readonly rows: unknown[] }).rows) as Record<string, unknown>[];
}

/** Where a row stands in a list by moments and ids, as the database writes them: it may know moments finer than records do. */
export function placeIn(
  row: Readonly<Record<string, unknown>> | undefined,
): { readonly createdAt: string | number; readonly id: string } | undefined {
  const createdAt = row?.['created_at'];
  return row && { createdAt: typeof createdAt === 'number' ? createdAt : String(createdAt), id: String(row['id']) };
}
