import { type Clock, TookTooLong, within } from '../common/clock.ts';
import { GatewayError, type Log } from '../contract/index.ts';
import type { Attributes } from '../contract/services.ts';
import type { StoresEnd } from './stores-end.ts';
import { isFault, type WriteFault } from './write-fault.ts';

/** A store did not answer, or could not do what it was asked. What the driver said is the cause, for the log alone. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The caller waits for the answer of a call no longer, for reasons of its own: that says nothing of the store. */
export class GivenUp extends StoreUnavailable {}

/** Milliseconds that a caller waits for a store. A driver that gives up sooner says why. */
export const STORE_LIMIT_MS = 10_000;
/** Milliseconds that a look-up of a credential, or a ping, may take. */
export const LOOKUP_LIMIT_MS = 2000;
/** Milliseconds after a failure in which what memory can answer does not try the store again. */
const REST_MS = 1000;
/** How often a call that met another writer is repeated at once. */
const REPEATS = 3;

export interface LinkDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Name of what runs there, in the operator's word: `sqlite`. */
  readonly backend: () => string;
  readonly end?: StoresEnd | undefined;
}

/** How one store is reached: each call has a limit, and what fails is one kind of error. The log says when it is lost and when it is back. */
export class StoreLink {
  readonly #what: string;
  readonly #deps: LinkDeps;
  #hasAnswered = false;
  #isAway = false;
  #restsUntil = Number.NEGATIVE_INFINITY;
  #heardAt = Number.NEGATIVE_INFINITY;

  /** `what` as messages name it: `the key store`. */
  constructor(what: string, deps: LinkDeps) {
    this.#what = what;
    this.#deps = deps;
  }

  /** As messages name it. */
  get what(): string {
    return this.#what;
  }

  /** Whether it has answered since the start. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** Whether the last call failed. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** It failed a moment ago: asking again would only take time. */
  isResting(at: number): boolean {
    return this.#isAway && at < this.#restsUntil;
  }

  /** Monotonic milliseconds of the last answer. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /**
   * A `GatewayError` is an answer, and so is the refusal of a row. A call that met another writer is repeated. Whatever else is thrown, or
   * takes too long, is a `StoreUnavailable`.
   */
  async ask<T>(call: () => Promise<T>, limitMs: number = STORE_LIMIT_MS): Promise<T> {
    const { clock, end } = this.#deps;
    if (end?.leftMs === 0) throw new StoreUnavailable(`${this.#what} does not answer`); // it is not asked any more
    let isWaiting = true;
    try {
      const answer = await within(
        untilEnd(
          repeated(call, () => isWaiting),
          end,
        ),
        limitMs,
        clock,
        this.#what,
      );
      this.#heard();
      return answer;
    } catch (error) {
      if (error instanceof GatewayError || isFault(error, 'refused')) {
        this.#heard();
        throw error;
      }
      if (error instanceof GivenUp) throw error;
      this.lose(error);
      throw new StoreUnavailable(`${this.#what} does not answer`, { cause: error });
    } finally {
      isWaiting = false;
    }
  }

  /** Something else than a call noticed that it is away. */
  lose(error: unknown): void {
    const { clock, log, backend } = this.#deps;
    this.#restsUntil = clock.monotonic() + REST_MS;
    if (this.#isAway) return;
    this.#isAway = true;
    log.error(`${this.#what} does not answer`, { backend: backend(), error });
  }

  /** Logs a row that the store does not take, whatever it is written with. */
  refused(row: Attributes, fault: WriteFault): void {
    this.#deps.log.error('a row was refused by its store', { store: this.#what, ...row, error: fault.cause });
  }

  #heard(): void {
    this.#hasAnswered = true;
    this.#heardAt = this.#deps.clock.monotonic();
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#deps.log.info(`${this.#what} answers again`, { backend: this.#deps.backend() });
  }
}

/** The call's result, or a failure at the end of all stores. */
async function untilEnd<T>(call: Promise<T>, end: StoresEnd | undefined): Promise<T> {
  if (!end) return call;
  const ended = Promise.withResolvers<never>();
  const leave = end.wait(() => ended.reject(new TookTooLong('the process ends')));
  try {
    return await Promise.race([call, ended.promise]);
  } finally {
    leave();
  }
}

/** The caller may have given up meanwhile: then it sends the same again itself. */
async function repeated<T>(call: () => Promise<T>, isWaiting: () => boolean): Promise<T> {
  for (let left = REPEATS; ; left -= 1) {
    try {
      return await call();
    } catch (error) {
      if (left === 0 || !isWaiting() || !isFault(error, 'conflict')) throw error;
    }
  }
}
