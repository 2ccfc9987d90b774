import type { Clock, Timer } from '../../../host/common/clock.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

export interface OneConnectionDeps {
  readonly clock: Clock;
  readonly open: () => Promise<SqliteConnection>;
  /** Milliseconds that a statement waits for those before it. */
  readonly waitMs: number;
}

interface Waiting {
  readonly resolve: (connection: SqliteConnection) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: Timer;
}

/** A pool of one connection, as knex knows pools. It is opened for the first that asks, and lent to one after another. */
export class OneConnection {
  readonly #deps: OneConnectionDeps;
  readonly #waiting = new Set<Waiting>();
  #connection: SqliteConnection | undefined;
  #isLent = false;
  #closing: PromiseWithResolvers<void> | undefined;

  constructor(deps: OneConnectionDeps) {
    this.#deps = deps;
  }

  /** What is open now. */
  get connection(): SqliteConnection | undefined {
    return this.#connection;
  }

  acquire(): { readonly promise: Promise<SqliteConnection> } {
    const { clock, waitMs } = this.#deps;
    const { promise, resolve, reject } = Promise.withResolvers<SqliteConnection>();
    if (this.#closing) {
      reject(new Error('the database is closed'));
      return { promise };
    }
    if (this.#connection && !this.#isLent) {
      this.#isLent = true;
      resolve(this.#connection);
      return { promise };
    }
    const timer = clock.timer(waitMs, () => {
      this.#waiting.delete(waiting);
      reject(new Error(`the file was busy with other statements for ${waitMs} ms`));
    });
    const waiting = { resolve, reject, timer };
    this.#waiting.add(waiting);
    if (!this.#isLent) void this.#lend();
    return { promise };
  }

  release(): boolean {
    this.#isLent = false;
    this.#closing?.resolve();
    if (this.#waiting.size > 0) void this.#lend();
    return true;
  }

  /** Waits for what is under way. */
  async destroy(): Promise<void> {
    this.#closing ??= Promise.withResolvers();
    for (const waiting of this.#waiting) this.#end(waiting).reject(new Error('the database is being closed'));
    if (this.#isLent) await this.#closing.promise;
    const connection = this.#connection;
    this.#connection = undefined;
    if (!connection) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    connection.close((error) => (error ? reject(error) : resolve()));
    await promise;
  }

  numFree(): number {
    return this.#connection && !this.#isLent ? 1 : 0;
  }

  numUsed(): number {
    return this.#isLent ? 1 : 0;
  }

  numPendingAcquires(): number {
    return this.#waiting.size;
  }

  /** Who waited for the opening until it had enough is passed over. */
  async #lend(): Promise<void> {
    this.#isLent = true;
    try {
      const connection = (this.#connection ??= await this.#deps.open());
      const [first] = this.#waiting;
      if (first) this.#end(first).resolve(connection);
      else this.release();
    } catch (error) {
      for (const waiting of this.#waiting) this.#end(waiting).reject(error);
      this.release();
    }
  }

  #end(waiting: Waiting): Waiting {
    waiting.timer.cancel();
    this.#waiting.delete(waiting);
    return waiting;
  }
}
