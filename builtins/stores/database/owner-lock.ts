import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename } from 'node:path';
import type sqlite3 from 'sqlite3';
import type { Clock } from '../../../host/common/clock.ts';
import { isFields, type Log, tryParseJson } from '../../../host/contract/index.ts';
import { type FileIdentity, identityOf, isSameFile } from './file-identity.ts';
import { createOwned } from './owned-file.ts';
import { isBusy } from './sqlite-connection.ts';

/** Milliseconds that a start waits for the process before it, which may be ending. */
const WAIT_MS = 30_000;
const TELL_MS = 5000;
const POLL_MS = 250;
const LONGEST_NAME = 64;

export interface OwnerDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Whether the start is to end. */
  readonly isStopped?: () => boolean;
}

/** Who has a file open, for messages alone: what counts is the lock. */
interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
}

/**
 * One process has a file of SQLite: what another one changes would not be noticed in the memory of this one. The lock is that of the operating system on a
 * second file of SQLite beside it, so that none outlives its process, and programs that read the first one, or copy it, are not locked out.
 */
export class OwnerLock {
  readonly #file: string;
  readonly #deps: OwnerDeps;
  #connection: sqlite3.Database;
  #identity: FileIdentity | undefined;
  #closing: Promise<void> | undefined;

  private constructor(file: string, connection: sqlite3.Database, deps: OwnerDeps) {
    this.#file = file;
    this.#connection = connection;
    this.#deps = deps;
  }

  /** `file` is the path without links. Throws when another process has it for longer than a start waits. */
  static async take(file: string, deps: OwnerDeps): Promise<OwnerLock> {
    const { clock, log, isStopped } = deps;
    const begun = clock.monotonic();
    for (let toldAt = Number.NEGATIVE_INFINITY; ;) {
      const connection = await tryLock(lockOf(file));
      if (connection) {
        const lock = new OwnerLock(file, connection, deps);
        await lock.#sign();
        return lock;
      }
      const at = clock.monotonic();
      const owner = await ownerOf(file);
      if (at - begun >= WAIT_MS || isStopped?.()) throw new Error(refusal(file, owner));
      if (at - toldAt >= TELL_MS) {
        log.info('waiting for the process that has the file open', {
          file,
          ...owner,
          seconds: Math.round((at - begun) / 1000),
        });
        toldAt = at;
      }
      await elapsed(clock, POLL_MS);
    }
  }

  /** Takes the lock again where its file was removed, as if it had been left behind. Throws where another process was quicker. */
  async verify(): Promise<void> {
    const path = lockOf(this.#file);
    if (isSameFile(await identityOf(path), this.#identity)) return;
    const connection = await tryLock(path);
    if (!connection) throw new Error(`the lock ${path} was removed, and another process has taken it`);
    const before = this.#connection;
    this.#connection = connection;
    await this.#sign();
    await closed(before);
    this.#deps.log.warn('the lock of a file was removed and is taken again', { file: path });
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#letGo());
  }

  async #letGo(): Promise<void> {
    await rm(signOf(this.#file), { force: true }).catch(() => {});
    await closed(this.#connection);
  }

  async #sign(): Promise<void> {
    this.#identity = await identityOf(lockOf(this.#file));
    const owner: Owner = {
      pid: process.pid,
      host: hostname().slice(0, LONGEST_NAME),
      since: new Date(this.#deps.clock.now()).toISOString(),
    };
    await writeFile(signOf(this.#file), `${JSON.stringify(owner)}\n`, { mode: 0o600 }).catch(() => {}); // the lock holds without it
  }
}

/** What a message says of the process that has the file open; `undefined` while none has. */
export async function heldBy(file: string): Promise<string | undefined> {
  if ((await identityOf(lockOf(file))) === undefined) return undefined;
  const { default: driver } = await import('sqlite3');
  const connection = await opened(lockOf(file), driver.OPEN_READONLY);
  try {
    await run(connection, 'SELECT 1 FROM sqlite_master');
    return undefined;
  } catch (error) {
    if (!isBusy(error)) throw error;
    return processOf(await ownerOf(file));
  } finally {
    await closed(connection);
  }
}

const lockOf = (file: string): string => `${file}-owner`;
const signOf = (file: string): string => `${file}-owner.json`;

/** The transaction stays open as long as the connection, and writes nothing. */
async function tryLock(path: string): Promise<sqlite3.Database | undefined> {
  await createOwned(path);
  const { default: driver } = await import('sqlite3');
  const connection = await opened(path, driver.OPEN_READWRITE);
  try {
    await run(connection, 'PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
    return connection;
  } catch (error) {
    await closed(connection);
    if (isBusy(error)) return undefined;
    throw new Error(`the lock ${path} cannot be taken`, { cause: error });
  }
}

async function opened(path: string, mode: number): Promise<sqlite3.Database> {
  const { default: driver } = await import('sqlite3');
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const connection = new driver.Database(path, mode, (error) => (error ? reject(error) : resolve()));
  await promise;
  connection.configure('busyTimeout', 0);
  return connection;
}

const run = (connection: sqlite3.Database, sql: string): Promise<void> =>
  new Promise((resolve, reject) => {
    connection.exec(sql, (error) => (error ? reject(error) : resolve()));
  });

const closed = (connection: sqlite3.Database): Promise<void> =>
  new Promise((resolve, reject) => {
    connection.close((error) => (error ? reject(error) : resolve()));
  });

async function ownerOf(file: string): Promise<Owner | undefined> {
  const found = tryParseJson(await readFile(signOf(file), 'utf8').catch(() => ''));
  if (!isFields(found)) return undefined;
  const { pid, host, since } = found;
  if (typeof pid !== 'number' || typeof host !== 'string' || typeof since !== 'string') return undefined;
  return { pid, host, since };
}

function refusal(file: string, owner: Owner | undefined): string {
  return `${basename(file)} is open in ${processOf(owner)}; a file of SQLite is for one process: end that one, name another file, or use Postgres, which processes share`;
}

function processOf(owner: Owner | undefined): string {
  return owner ? `process ${owner.pid} on ${owner.host} since ${owner.since}` : 'another process';
}

const elapsed = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.timer(ms, resolve);
  });
