import type pg from 'pg';
import { UsageError } from '../../../../host/cli/command.ts';
import { errorMessage } from '../../../../host/common/error-message.ts';
import { type Fields, isFields } from '../../../../host/contract/json/fields.ts';
import { isRead, type SourceTable, TABLES } from './tables.ts';

/** A database of LiteLLM, in one state of it. */
export interface Source {
  /** Names of columns by table; a table that is not there is absent. */
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>;
  /** All rows of a table. Moments are texts without a zone, in UTC. */
  rows(table: string): Promise<readonly Fields[]>;
  /** Whether a table has a row for which a condition holds. */
  has(table: string, condition: string): Promise<boolean>;
}

/** Rows that are fetched at once, and milliseconds that a statement may take. */
const PAGE = 1000;
const STATEMENT_MS = 60_000;
const CONNECT_MS = 15_000;
/** Parameters that Prisma reads of an address, and the driver does not know. */
const PRISMA = ['schema', 'connection_limit', 'pool_timeout', 'socket_timeout', 'connect_timeout', 'pgbouncer'];

/** Reads in one transaction that sees one state and writes nothing. Any failure is said in one line, without the address. */
export async function withSource<T>(dsn: string, work: (source: Source) => Promise<T>): Promise<T> {
  const { Client } = (await import('pg')).default;
  const { connectionString, schema } = addressOf(dsn);
  const client = new Client({ connectionString, connectionTimeoutMillis: CONNECT_MS, application_name: 'gw import' });
  client.on('error', () => {}); // the statement that is under way says so
  try {
    await client.connect();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await client.query(`SET LOCAL statement_timeout = ${STATEMENT_MS}`);
    return await work(await sourceOf(client, schema));
  } catch (error) {
    if (error instanceof UsageError || !isDatabaseError(error)) throw error;
    throw new UsageError(`the database of LiteLLM: ${errorMessage(error)}`, { cause: error });
  } finally {
    await client.end().catch(() => {});
  }
}

/** Errors of the server, and of the way there, have a code. */
const isDatabaseError = (error: unknown): boolean =>
  error instanceof Error && ('code' in error || /timeout|terminated|ended/i.test(error.message));

function addressOf(dsn: string): { readonly connectionString: string; readonly schema: string } {
  const url = URL.parse(dsn);
  if (!url || !/^postgres(ql)?:$/.test(url.protocol))
    throw new UsageError('--dsn must be the address of a Postgres database, such as postgresql://user@host/litellm');
  const schema = url.searchParams.get('schema') ?? 'public';
  for (const name of PRISMA) url.searchParams.delete(name);
  return { connectionString: url.href, schema };
}

async function sourceOf(client: pg.Client, schema: string): Promise<Source> {
  const { rows } = await client.query<{ table: string; column: string }>(
    `SELECT c.relname AS table, a.attname AS column FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v') AND a.attnum > 0 AND NOT a.attisdropped`,
    [schema],
  );
  const columns = new Map<string, Set<string>>();
  for (const { table, column } of rows) columns.set(table, (columns.get(table) ?? new Set()).add(column));
  refuseIncomplete(columns);
  const named = (table: string): string => `"${schema.replaceAll('"', '""')}"."${table.replaceAll('"', '""')}"`;
  return {
    columns,
    rows: (table) => {
      const read = [...(columns.get(table) ?? [])].filter((column) => isRead(table, column));
      return read.length === 0 ? Promise.resolve([]) : fetchAll(client, named(table), read);
    },
    has: async (table, condition) => {
      if (!columns.has(table)) return false;
      return (await client.query(`SELECT 1 FROM ${named(table)} WHERE ${condition} LIMIT 1`)).rows.length > 0;
    },
  };
}

/** Before anything is read. */
function refuseIncomplete(columns: Source['columns']): void {
  const missing = Object.entries<SourceTable>(TABLES).flatMap(([table, { required }]) => {
    const known = columns.get(table);
    if (!known) return required.length > 0 ? [`the table ${table}`] : [];
    return required.filter((name) => !known.has(name)).map((name) => `${table}.${name}`);
  });
  if (missing.length > 0)
    throw new UsageError(`this is not a database of LiteLLM that can be read; it lacks ${missing.join(', ')}`);
}

/** Rows as JSON, so that no type of the driver stands between. */
async function fetchAll(client: pg.Client, table: string, columns: readonly string[]): Promise<readonly Fields[]> {
  const list = columns.map((column) => `"${column.replaceAll('"', '""')}"`).join(', ');
  await client.query(
    `DECLARE rows NO SCROLL CURSOR FOR SELECT to_jsonb(given) AS row FROM (SELECT ${list} FROM ${table}) AS given`,
  );
  const pages: (readonly Fields[])[] = [];
  for (let isMore = true; isMore;) {
    const { rows } = await client.query<{ row: unknown }>(`FETCH ${PAGE} FROM rows`);
    pages.push(rows.map(({ row }) => row).filter(isFields));
    isMore = rows.length === PAGE;
  }
  await client.query('CLOSE rows');
  return pages.flat();
}
