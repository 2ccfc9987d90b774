import type pg from 'pg';
import type { Clock } from '../../../host/common/clock.ts';
import { type CancelKey, sendCancel } from './cancel.ts';

/** A statement did not end in its time: nothing is known of it, and its connection is gone. */
export class StatementTookTooLong extends Error {
  override readonly name = 'StatementTookTooLong';
}

type Done = (error: Error | undefined, result?: pg.QueryResult) => void;

export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** For whom a connection works for now. */
export interface Loan {
  /** Milliseconds for a statement; 0 for none. */
  readonly clientMs: number;
  /** Ends what is under way. */
  readonly signal: AbortSignal | undefined;
}

export interface ConnectionDeps {
  readonly clock: Clock;
  /** Set with each transaction, where a connection could not begin with it. */
  readonly begunWith: string | undefined;
  /** The server has answered. */
  readonly answered: () => void;
  /** A statement ran into the limit of this process. */
  readonly ranOut: () => void;
}

/** Milliseconds in which a connection says goodbye. */
const GOODBYE_MS = 500;
/** Milliseconds in which the server ends what it was asked to stop. */
const STOP_MS = 1000;
const ROLLBACK = /^\s*ROLLBACK\b/i;
const BEGIN = /^\s*BEGIN\b[^;]*;?/i;

/**
 * One connection of a pool, as knex uses it. A statement that takes longer than it may destroys the socket, so that who waits gets an
 * error and the connection is not lent again: the driver alone would leave it half open, and the next statement would wait as well
 * (github.com/brianc/node-postgres/issues/3399).
 */
export class PooledConnection {
  readonly bornAt: number;
  /** Monotonic milliseconds of the last answer, and since when it is idle. */
  heardAt: number;
  idleSince: number;
  readonly #client: pg.Client;
  readonly #deps: ConnectionDeps;
  #fault: Error | undefined;
  #loan: Loan | undefined;
  #asked = 0;
  #key: CancelKey | undefined;

  constructor(client: pg.Client, deps: ConnectionDeps) {
    this.#client = client;
    this.#deps = deps;
    this.bornAt = this.idleSince = this.heardAt = deps.clock.monotonic();
    client.connection.on('backendKeyData', (key: CancelKey) => {
      this.#key = key;
    });
    client.on('error', (error) => {
      this.#fault ??= error;
    });
    client.on('end', () => {
      this.#fault ??= new Error('the connection to the database has ended');
    });
  }

  /** Whether it can be lent again: it is open, asks nothing, and has no transaction. */
  get isFree(): boolean {
    const isIdle = this.#client.getTransactionStatus() === 'I';
    return this.#fault === undefined && this.#asked === 0 && isIdle;
  }

  lend(loan: Loan): void {
    this.#loan = loan;
    loan.signal?.addEventListener('abort', this.#stop);
  }

  takeBack(): void {
    this.#loan?.signal?.removeEventListener('abort', this.#stop);
    this.#loan = undefined;
    this.idleSince = this.#deps.clock.monotonic();
  }

  /** The callback gets one result, or all of them where the text holds several statements. */
  query(statement: Statement, done: Done): void {
    const { text, values = [] } = statement;
    const { clock, begunWith } = this.#deps;
    const refusal = this.#fault ?? (ROLLBACK.test(text) ? undefined : stopped(this.#loan?.signal));
    if (refusal) {
      process.nextTick(done, refusal);
      return;
    }
    const { clientMs = 0 } = this.#loan ?? {};
    const limit = clientMs > 0 ? clock.timer(clientMs, () => this.#runOut(clientMs)) : undefined;
    this.#asked += 1;
    const config = {
      ...statement,
      text:
        begunWith === undefined ? text : text.replace(BEGIN, (begin) => `${begin.replace(/;?$/, ';')} ${begunWith}`),
      values: values.map(withoutNul),
    };
    this.#client.query(config, (error: Error | null, result) => {
      limit?.cancel();
      this.#asked -= 1;
      if (!this.#fault) this.#heard();
      done(error ?? undefined, result);
    });
  }

  /** Rows of a statement that the pool itself asks. Destroyed where no answer comes in time. */
  async ask(text: string, withinMs: number): Promise<readonly pg.QueryResultRow[]> {
    this.lend({ clientMs: withinMs, signal: undefined });
    const { promise, resolve, reject } = Promise.withResolvers<readonly pg.QueryResultRow[]>();
    this.query({ text }, (error, result) => (error ? reject(error) : resolve(result?.rows ?? [])));
    return promise.finally(() => this.takeBack());
  }

  /** The socket goes at once, whatever is under way. */
  destroy(error: Error): void {
    this.#fault ??= error;
    this.#client.connection.stream.destroy(error);
  }

  /** Says goodbye, where it is still there to hear it. */
  async end(): Promise<void> {
    const { clock } = this.#deps;
    const limit = clock.timer(GOODBYE_MS, () => this.#client.connection.stream.destroy());
    await this.#client.end();
    limit.cancel();
  }

  #heard(): void {
    this.heardAt = this.#deps.clock.monotonic();
    this.#deps.answered();
  }

  #runOut(ms: number): void {
    this.#deps.ranOut();
    this.destroy(new StatementTookTooLong(`the database did not answer a statement within ${ms} ms`));
  }

  /** What is under way ends with an answer of the server, or with the connection. */
  readonly #stop = (): void => {
    if (this.#asked === 0) return;
    const loan = this.#loan;
    if (this.#key) sendCancel(this.#client.host, this.#client.port, this.#key);
    this.#deps.clock.timer(STOP_MS, () => {
      if (this.#asked > 0 && this.#loan === loan) this.destroy(new StatementTookTooLong('it was asked to stop'));
    });
  };
}

/** Texts of the database hold every character but one; the server refuses a text with it. */
const withoutNul = (value: unknown): unknown => (typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value);

const stopped = (signal: AbortSignal | undefined): Error | undefined =>
  signal?.aborted ? new Error('it was stopped before it was asked', { cause: signal.reason }) : undefined;
