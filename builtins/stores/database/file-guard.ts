import type { Clock, Timer } from '../../../host/common/clock.ts';
import type { Log } from '../../../host/contract/index.ts';
import { type FileIdentity, identityOf, isSameFile } from './file-identity.ts';

/** Milliseconds between two looks. */
const LOOK_MS = 5000;

export interface GuardedPaths {
  readonly file: string;
  /** Its write-ahead log, which is not there in every mode. */
  readonly journal: string;
}

export interface GuardDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** What is kept in the file, as messages name it: `the key store`. */
  readonly what: string;
  /** Looks after the lock of the file. */
  readonly verifyLock: () => Promise<void>;
}

/**
 * Notices that the file of a database is another one than was opened: removed, renamed, replaced. What is written from then on would be lost, so nothing is
 * written or read any more until a restart, also when the file comes back: another process may have written it meanwhile.
 */
export class FileGuard {
  readonly #paths: GuardedPaths;
  readonly #deps: GuardDeps;
  #opened: ReadonlyMap<string, FileIdentity | undefined> = new Map();
  #fault: Error | undefined;
  #next: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(paths: GuardedPaths, deps: GuardDeps) {
    this.#paths = paths;
    this.#deps = deps;
  }

  /** Why the file may not be used any more. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  /** When the database has been opened: only then its journal is there. */
  async begin(): Promise<void> {
    const { file, journal } = this.#paths;
    this.#opened = new Map([
      [file, await identityOf(file)],
      [journal, await identityOf(journal)],
    ]);
    this.#lookLater();
  }

  /** Looks now. Throws what is wrong. */
  async verify(): Promise<void> {
    this.#fault ??= await this.#look();
    if (this.#fault) throw this.#fault;
  }

  /** Resolves when no look is under way any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#next?.cancel();
    await this.#looking;
  }

  #lookLater(): void {
    if (this.#isClosed || this.#fault) return;
    this.#next = this.#deps.clock.timer(LOOK_MS, () => {
      this.#looking = this.verify()
        .catch(() => {}) // it has been logged
        .then(() => this.#lookLater());
    });
  }

  async #look(): Promise<Error | undefined> {
    const { log, what, verifyLock } = this.#deps;
    try {
      for (const [path, identity] of this.#opened) {
        const now = await identityOf(path);
        if (identity && !(isSameFile(now, identity) && now?.links === identity.links)) {
          log.error(`the file of ${what} was replaced or removed`, { file: path });
          return new Error(
            `${path} is not the file that was opened; restart the gateway when the right one is in its place`,
          );
        }
      }
      await verifyLock();
      return undefined;
    } catch (error) {
      log.error(`the file of ${what} cannot be used any more`, { file: this.#paths.file, error });
      return error instanceof Error ? error : new Error(`${this.#paths.file} cannot be looked at`, { cause: error });
    }
  }
}
