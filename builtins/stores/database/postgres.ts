import type { Knex } from 'knex';
import { MOST_SUM } from '../../../host/common/bounded-sum.ts';
import { type Database, type Dialect, rowsOf, SILENT } from './database.ts';

const MAX_CONNECTIONS = 10;
const MAX_IDLE = 5;
const IDLE_MS = 5 * 60 * 1000;
const LIFETIME_MS = 30 * 60 * 1000;
/** Milliseconds for a connection, and for one statement. */
const CONNECT_MS = 2000;
const STATEMENT_MS = 5000;

/** Numbers of the types that arrive as plain text or as numbers, whatever the process's own parsers are. */
const TIMESTAMPTZ = 1184;
const INT8 = 20;

export const POSTGRES: Dialect = {
  name: 'postgres',
  moment: 'TIMESTAMPTZ',
  serial: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  integer: 'BIGINT',
  time: (ms) => {
    const text = new Date(ms).toISOString();
    return text.startsWith('0000') ? `0001${text.slice(4)} BC` : text; // it has no year 0
  },
  down: (column) => `${column} DESC NULLS LAST`,
  lock: async (trx, table, deadline) => {
    const [row] = rowsOf(
      await trx.raw(
        `WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(hashtext(?)))
        SELECT coalesce(clock_timestamp() < ?::timestamptz, TRUE) AS in_time FROM locked`,
        [`gw ${table}`, deadline === undefined ? null : POSTGRES.time(deadline)],
      ),
    );
    return row?.['in_time'] === true;
  },
  hasTable: (db, table) => db.schema.hasTable(table),
  position: 'strpos',
  // Two numbers that the type holds may have a sum that it does not hold.
  plus: (column, more) => `greatest(least(greatest(${column}, 0)::numeric + ${more}, ${MOST_SUM}), 0)`,
  milliseconds: (column) => `floor(extract(epoch FROM ${column}) * 1000)::bigint`,
};

/** Settings of every connection: a database that hangs must not hold anybody up for long. */
export function connectionOf(dsn: string): object {
  return {
    connectionString: dsn,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    keepAlive: true,
    application_name: 'gw',
  };
}

export async function openPostgres(dsn: string): Promise<Database> {
  const [{ default: knex }, { default: pg }] = await Promise.all([import('knex'), import('pg')]);
  const types = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      parserOf(oid) ??
      (pg.types.getTypeParser as (oid: number, format?: string) => (text: string) => unknown)(oid, format),
  };
  const db = knex({
    client: 'pg',
    log: SILENT,
    connection: { ...connectionOf(dsn), types } as Knex.PgConnectionConfig,
    acquireConnectionTimeout: CONNECT_MS + STATEMENT_MS,
    pool: { min: 0, max: MAX_CONNECTIONS, idleTimeoutMillis: IDLE_MS },
  });
  limitLifetime(db);
  limitIdle(db);
  replaceNul(db);
  return { knex: db, dialect: POSTGRES, close: () => db.destroy() };
}

function parserOf(oid: number): ((text: string) => unknown) | undefined {
  if (oid === TIMESTAMPTZ) return (text) => text;
  return oid === INT8 ? Number : undefined;
}

/** The pool asks before it hands a connection out; one that is too old is closed. */
function limitLifetime({ client }: Knex): void {
  const bornAt = new WeakMap<object, number>();
  const isOpen = client.validateConnection.bind(client) as (connection: object) => boolean | Promise<boolean>;
  client.validateConnection = (connection: object) => {
    const born = bornAt.get(connection) ?? performance.now();
    bornAt.set(connection, born);
    return performance.now() - born < LIFETIME_MS && isOpen(connection);
  };
}

interface IdleConnection {
  /** Since when it is idle, in milliseconds of the pool's clock. */
  timestamp: number;
}

/** The pool looks once a second for connections that were idle for too long. Of more than it may keep idle, those that were used longest ago are over. */
function limitIdle({ client }: Knex): void {
  const pool = client.pool as { readonly free: IdleConnection[]; check: () => void };
  const check = pool.check.bind(pool);
  pool.check = () => {
    for (const surplus of pool.free.slice(0, -MAX_IDLE)) surplus.timestamp = Number.NEGATIVE_INFINITY;
    check();
  };
}

/** Its texts hold every character but one; the server refuses a text with it. */
function replaceNul({ client }: Knex): void {
  const prepare = client.prepBindings.bind(client) as (bindings: readonly unknown[]) => readonly unknown[];
  client.prepBindings = (bindings: readonly unknown[]) =>
    prepare(bindings).map((value) => (typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value));
}

/** Whether what is sent to this database can be read on its way: no TLS, and neither this machine nor a private network. */
export function isExposed(dsn: string): boolean {
  const url = URL.parse(dsn);
  if (!url) return false;
  const mode = url.searchParams.get('sslmode') ?? (url.searchParams.get('ssl') === 'true' ? 'require' : 'disable');
  const host = (url.searchParams.get('host') ?? decodeURIComponent(url.hostname)).replace(/^\[|\]$/g, '');
  return (mode === 'disable' || mode === 'allow') && !isPrivate(host);
}

/** A socket, a name without dots, a name of a private zone, an address of a private network. */
function isPrivate(host: string): boolean {
  if (
    host === '' ||
    host.startsWith('/') ||
    !/[.:]/.test(host) ||
    /\.(local|localhost|internal|lan|home\.arpa|svc|cluster\.local)$/i.test(host)
  )
    return true;
  return /^(10\.|127\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|::1$|f[cd][\da-f]{2}:|fe80:)/i.test(
    host,
  );
}
