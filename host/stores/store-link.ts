import { GatewayError, type Log } from '../contract/index.ts';
import { type Clock, within } from '../common/clock.ts';

/** A store did not answer, or could not do what it was asked. What the driver said is the cause, for the log alone. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** Milliseconds that a caller waits for a store. A driver that gives up sooner says why. */
export const STORE_LIMIT_MS = 10_000;
/** The same for a credential, and for a ping. */
export const LOOKUP_LIMIT_MS = 2000;
/** Milliseconds after a failure in which what memory can answer does not try the store again. */
const REST_MS = 1000;

export interface LinkDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Name of what runs there, in the operator's word: `sqlite`. */
  readonly backend: () => string;
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

  /** A `GatewayError` is an answer. Whatever else is thrown, or takes too long, is a `StoreUnavailable`. */
  async ask<T>(call: () => Promise<T>, limitMs: number = STORE_LIMIT_MS): Promise<T> {
    const { clock } = this.#deps;
    try {
      const answer = await within(call(), limitMs, clock, this.#what);
      this.#heard();
      return answer;
    } catch (error) {
      if (error instanceof GatewayError) {
        this.#heard();
        throw error;
      }
      this.lose(error);
      throw new StoreUnavailable(`${this.#what} does not answer`, { cause: error });
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

  #heard(): void {
    this.#hasAnswered = true;
    this.#heardAt = this.#deps.clock.monotonic();
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#deps.log.info(`${this.#what} answers again`, { backend: this.#deps.backend() });
  }
}
