import type pg from 'pg';
import { IDLE_IN_TRANSACTION_MS, type LaneLimits } from './lanes.ts';

/** Milliseconds for a connection. */
export const CONNECT_MS = 2000;
/** Milliseconds of silence after which this machine's TCP begins to ask whether the server is still there. */
const KEEP_ALIVE_MS = 5000;

/** Numbers of the types that arrive as plain text or as numbers, whatever the process's own parsers are. */
const TIMESTAMPTZ = 1184;
const INT8 = 20;

/** Equal for DSNs that reach the same database as the same user in the same way, however they are written. */
export async function addressOf(dsn: string): Promise<string> {
  const { Client } = (await import('pg')).default;
  const { host, port, database, user, ssl } = new Client({ connectionString: dsn });
  return JSON.stringify([host.toLowerCase(), port, database, user, ssl]);
}

/** Settings of every connection: a database that hangs must not hold anybody up for long. */
export function connectionOf(dsn: string): pg.ClientConfig {
  return {
    connectionString: dsn,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'gw',
  };
}

/** Bounds that the server keeps, as a connection begins with them. A pooler may refuse them. */
export function startedWith({ statementMs, lockMs }: LaneLimits): pg.ClientConfig {
  return {
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  };
}

/** These bounds for one transaction, where the connection could not begin with them. They go with the beginning of the transaction, in one message. */
export function begunWith({ statementMs, lockMs }: LaneLimits): string {
  return `SET LOCAL statement_timeout = ${statementMs}; SET LOCAL lock_timeout = ${lockMs}; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS};`;
}

/** How values arrive. */
export function typesOf({ types }: typeof pg): pg.CustomTypesConfig {
  const known = types.getTypeParser as (oid: number, format?: string) => (text: string) => unknown;
  return {
    getTypeParser: ((oid: number, format?: string) => {
      if (oid === TIMESTAMPTZ) return (text: string) => text;
      return oid === INT8 ? Number : known(oid, format);
    }) as typeof types.getTypeParser,
  };
}

/**
 * Whether an address refuses settings that a connection begins with, as poolers do: 08P01 of PgBouncer (`unsupported startup parameter`),
 * 0A000 of Amazon's RDS Proxy (its guide, "Quotas and limitations for RDS Proxy", 2026-11-27).
 */
export function refusesSettings(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  return code === '08P01' || code === '0A000' || /startup parameter/i.test(String(message));
}
