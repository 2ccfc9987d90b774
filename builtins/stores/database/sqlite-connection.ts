import type { Clock } from '../../../host/common/clock.ts';

/** Milliseconds between two tries of a statement that met another connection's: at first, and at most. */
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 100;
/** Milliseconds after which a statement that was to be interrupted, and had not begun by then, is interrupted again. */
const INTERRUPT_AGAIN_MS = 20;

/** What the driver calls back; `this` holds what a statement changed. */
type Done = (this: unknown, error: unknown, rows?: unknown) => void;

/** What of the driver is used. */
export interface Driver {
  all(sql: string, bindings: unknown, done: Done): unknown;
  run(sql: string, bindings: unknown, done: Done): unknown;
  exec(sql: string, done: Done): unknown;
  close(done: Done): unknown;
  interrupt(): unknown;
}

export interface ConnectionDeps {
  readonly clock: Clock;
  /** Milliseconds for which a statement that meets another connection's lock is tried again. */
  readonly busyMs: number;
  /** Why no statement may run any more; `undefined` while they may. */
  readonly refusal: () => Error | undefined;
}

interface Statement {
  readonly run: (done: Done) => unknown;
  readonly done: Done;
  readonly isUndoing: boolean;
  readonly signal: AbortSignal | undefined;
}

/**
 * One connection, as knex uses it. Each statement runs in a thread of libuv, of which the whole process has a few: so one runs at a time, as the others
 * would wait in theirs, and one that meets a lock leaves its thread and is tried again after 2, 4, 8 … 100 ms.
 */
export class SqliteConnection {
  readonly #driver: Driver;
  readonly #deps: ConnectionDeps;
  readonly #waiting: Statement[] = [];
  #running: Statement | undefined;
  #signal: AbortSignal | undefined;

  constructor(driver: Driver, deps: ConnectionDeps) {
    this.#driver = driver;
    this.#deps = deps;
  }

  all(sql: string, bindings: unknown, done: Done): void {
    this.#add((called) => this.#driver.all(sql, bindings, called), sql, done);
  }

  run(sql: string, bindings: unknown, done: Done): void {
    this.#add((called) => this.#driver.run(sql, bindings, called), sql, done);
  }

  exec(sql: string, done: Done): void {
    this.#add((called) => this.#driver.exec(sql, called), sql, done);
  }

  /** The driver waits for a statement that runs. */
  close(done: Done): void {
    this.#driver.close(done);
  }

  /** Statements that come from now on, until the returned function is called, are given up at the signal. */
  under(signal: AbortSignal): () => void {
    const interrupt = (): void => this.#interrupt(signal);
    this.#signal = signal;
    signal.addEventListener('abort', interrupt);
    return () => {
      this.#signal = undefined;
      signal.removeEventListener('abort', interrupt);
    };
  }

  #add(run: Statement['run'], sql: string, done: Done): void {
    this.#waiting.push({ run, done, isUndoing: sql.startsWith('ROLLBACK'), signal: this.#signal });
    if (!this.#running) this.#next();
  }

  #next(): void {
    const statement = this.#waiting.shift();
    this.#running = statement;
    if (statement) this.#try(statement, this.#deps.clock.monotonic(), FIRST_PAUSE_MS);
  }

  #try(statement: Statement, begun: number, pauseMs: number): void {
    const { clock, busyMs } = this.#deps;
    const refusal = this.#refusalOf(statement);
    if (refusal !== undefined) {
      this.#end(statement, undefined, [refusal]);
      return;
    }
    const again = (): void => this.#try(statement, begun, Math.min(pauseMs * 2, LONGEST_PAUSE_MS));
    const end = (context: unknown, given: readonly [unknown, unknown?]): void => this.#end(statement, context, given);
    statement.run(function called(error, rows) {
      if (isBusy(error) && clock.monotonic() - begun < busyMs) clock.timer(pauseMs, again);
      else end(this, [error, rows]);
    });
  }

  /** What has begun is undone in any case. */
  #refusalOf({ isUndoing, signal }: Statement): unknown {
    if (isUndoing) return undefined;
    return signal?.aborted ? givenUp() : this.#deps.refusal();
  }

  #end({ done, signal }: Statement, context: unknown, [error, rows]: readonly [unknown, unknown?]): void {
    this.#next();
    done.call(context, error && signal?.aborted ? givenUp() : error, rows);
  }

  /** It does nothing to a statement that waits for its thread, so it is repeated until that has ended. */
  #interrupt(signal: AbortSignal): void {
    if (this.#running?.signal !== signal) return;
    this.#driver.interrupt();
    this.#deps.clock.timer(INTERRUPT_AGAIN_MS, () => this.#interrupt(signal));
  }
}

/** One of its own each time: knex writes the statement into the message. */
const givenUp = (): Error => new Error('the statement was given up');

export function isBusy(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null | undefined)?.code === 'SQLITE_BUSY';
}
