import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '../../host/common/error-message.ts';
import { Missing } from './missing.ts';
import { complaintOf, placeForPostgres, type PostgresPlace, run } from './postgres-programs.ts';

/** Nothing outlives a test, so nothing need reach the disk. */
const FLAGS = ['fsync=off', 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'].flatMap(
  (setting) => ['-c', setting],
);
/** Settings of a new data directory, the same on every machine. */
const INITDB_FLAGS = [
  '--username=postgres',
  '--auth=password',
  '--encoding=UTF8',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
  '--no-sync',
  '--no-instructions',
];
/** Below those that systems give to connections, so that no connection takes the port while a test has the server stopped. */
const PORTS = [20_000, 32_000] as const;
const PORTS_TRIED = 5;

export interface LaunchedPostgres {
  readonly dsn: string;
  start(): Promise<void>;
  /** Ends the server and with it every connection, at once. */
  stop(): Promise<void>;
  /** Stops it, and removes what it kept. */
  remove(): Promise<void>;
}

/** A new server, running. Throws a `Missing` where there can be none. */
export async function launchPostgres(find: () => Promise<PostgresPlace> = placeForPostgres): Promise<LaunchedPostgres> {
  const place = await find();
  const server = new Server(place);
  try {
    await server.initialise();
    await server.startOnFreePort();
    return server;
  } catch (cause) {
    await server.remove();
    throw new Missing('Postgres', complaintOf(cause), { cause });
  }
}

class Server implements LaunchedPostgres {
  readonly #place: PostgresPlace;
  readonly #password = randomBytes(12).toString('hex');
  readonly #data: string;
  #port = 0;
  #child: ChildProcess | undefined;

  constructor(place: PostgresPlace) {
    this.#place = place;
    this.#data = join(place.folder, 'data');
  }

  get dsn(): string {
    return `postgres://postgres:${this.#password}@127.0.0.1:${this.#port}/postgres`;
  }

  async initialise(): Promise<void> {
    const { folder, user, initdb } = this.#place;
    const passwordFile = join(folder, 'password');
    await mkdir(this.#data, { mode: 0o700 });
    await writeFile(passwordFile, this.#password, { mode: 0o600 });
    if (user) for (const path of [this.#data, passwordFile]) await chown(path, user.uid, user.gid);
    await run(initdb, [`--pgdata=${this.#data}`, `--pwfile=${passwordFile}`, ...INITDB_FLAGS], this.#options());
    await rm(passwordFile);
  }

  async startOnFreePort(): Promise<void> {
    for (let tried = 1; ; tried += 1) {
      this.#port = randomInt(...PORTS);
      try {
        return await this.start();
      } catch (error) {
        if (tried === PORTS_TRIED || !/could not bind/.test(errorMessage(error))) throw error;
      }
    }
  }

  async start(): Promise<void> {
    const child = spawn(this.#place.postgres, ['-D', this.#data, '-p', String(this.#port), ...FLAGS], {
      ...this.#options(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const endWithProcess = (): void => this.#endAtOnce(child);
    process.once('exit', endWithProcess);
    child.once('close', () => process.off('exit', endWithProcess));
    this.#child = child;
    await untilReady(child);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGINT');
    await closed;
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.#place.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Where this process ends before its tests do. */
  #endAtOnce(child: ChildProcess): void {
    child.kill('SIGQUIT');
    rmSync(this.#place.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #options(): { readonly uid?: number; readonly gid?: number; readonly cwd: string; readonly env: NodeJS.ProcessEnv } {
    const { folder, user } = this.#place;
    const { PATH } = process.env;
    // What root's environment holds is not for another user.
    return user
      ? { uid: user.uid, gid: user.gid, cwd: folder, env: { PATH, LC_ALL: 'C' } }
      : { cwd: folder, env: { ...process.env, LC_ALL: 'C' } };
  }
}

/** Rejects with all that the server said when it ends, or cannot be started at all. */
async function untilReady(child: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let said = '';
  let isReady = false;
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (isReady) return; // what it says from here on is only taken from the pipe
    said += text;
    isReady = said.includes('ready to accept connections');
    if (isReady) resolve();
  });
  child.on('error', reject);
  child.once('close', () => reject(new Error(`Postgres did not start:\n${said}`)));
  await promise;
}
