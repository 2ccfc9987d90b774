import type { Knex } from 'knex';
import { MOST_SUM } from '../../../host/common/bounded-sum.ts';
import { type Clock, systemClock } from '../../../host/common/clock.ts';
import { PG_CONNECTIONS } from '../../../host/environment/store-settings.ts';
import { AddressPool } from '../postgres/address-pool.ts';
import { type LaneLimits, laneSizes } from '../postgres/lanes.ts';
import type { PooledConnection } from '../postgres/pooled-connection.ts';
import { type Database, type Dialect, type Lane, SILENT } from './database.ts';

const LANES: readonly Lane[] = ['lookups', 'changes', 'ledger', 'log', 'state', 'reads'];

export const POSTGRES: Dialect = {
  name: 'postgres',
  moment: 'TIMESTAMPTZ',
  serial: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  integer: 'BIGINT',
  time: (ms) => {
    const text = new Date(ms).toISOString();
    return text.startsWith('0000') ? `0001${text.slice(4)} BC` : text; // it has no year 0
  },
  ago: (ms) => `(statement_timestamp() - interval '${Math.round(ms)} milliseconds')`,
  down: (column) => `${column} DESC NULLS LAST`,
  lock: async (trx, table) => {
    await trx.raw('SELECT pg_advisory_xact_lock(hashtext(?))', [`gw ${table}`]);
  },
  hasTable: (db, table) => db.schema.hasTable(table),
  position: 'strpos',
  holds: (column) => `strpos(lower(${column} COLLATE "C"), lower(? COLLATE "C")) > 0`,
  // Two numbers that the type holds may have a sum that it does not hold.
  plus: (column, more) => `greatest(least(greatest(${column}, 0)::numeric + ${more}, ${MOST_SUM}), 0)`,
  milliseconds: (column) => `floor(extract(epoch FROM ${column}) * 1000)::bigint`,
};

export interface PostgresOptions {
  readonly clock?: Clock;
  readonly connections?: number;
  /** Bounds of statements, where they are not those of their purposes. */
  readonly limits?: LaneLimits;
  /** What is known of the address already: whether a pooler stands there. */
  readonly isPooled?: boolean | undefined;
}

/** Opens a database with connections of its own. The stores of a gateway share theirs (`openSharedPostgres`). */
export async function openPostgres(
  dsn: string,
  { clock = systemClock, connections = PG_CONNECTIONS.unlessSaid, limits, isPooled }: PostgresOptions = {},
): Promise<Database> {
  const { default: driver } = await import('pg');
  const sizes = laneSizes(connections, ['keys', 'configuration', 'log']);
  const pool = new AddressPool(dsn, driver, { clock, sizes: () => sizes, limits, isPooled });
  return databaseOn(pool, () => pool.close());
}

/** For migrations: their statements take as long as they need. */
export const openForMigrations = (dsn: string, isPooled: boolean | undefined): Promise<Database> =>
  openPostgres(dsn, { limits: { statementMs: 0, lockMs: 0, clientMs: 0, waitMs: 0 }, isPooled });

export async function databaseOn(pool: AddressPool, close: () => Promise<void>): Promise<Database> {
  const { default: knex } = await import('knex');
  const through = (lane: Lane, signal?: AbortSignal): Knex =>
    knex({ client: 'pg', log: SILENT, connectionPool: viewOf(pool, lane, signal) });
  const lanes = new Map(LANES.map((lane) => [lane, through(lane)]));
  const changes = through('changes');
  const on: Database['on'] = (lane, signal) => (signal ? through(lane, signal) : (lanes.get(lane) ?? changes));
  return {
    on,
    read: async (work, signal) => {
      signal?.throwIfAborted();
      return on('reads', signal).transaction((trx) => work(trx), { readOnly: true });
    },
    knex: changes,
    dialect: POSTGRES,
    get isPooled() {
      return pool.isPooled ?? false;
    },
    close,
  };
}

/** A pool as knex knows one. Knex decides by the last three that it may use the rest as it is. */
function viewOf(pool: AddressPool, lane: Lane, signal: AbortSignal | undefined): Knex.TarnPoolLike {
  const view = {
    acquire: () => ({ promise: pool.acquire(lane, signal) }),
    release: (connection: PooledConnection) => {
      pool.release(connection);
      return true;
    },
    destroy: () => Promise.resolve(),
    numFree: () => pool.counts.idle,
    numUsed: () => pool.counts.used,
    numPendingAcquires: () => pool.counts.waiting,
  };
  return view;
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
