import type { ServerResponse } from 'node:http';
import type { Log } from '../contract/index.ts';

/** No answer waits for more than so many others. */
const MOST = 32;

/** Bytes on their way to a client. */
export interface Leaving {
  readonly response: Pick<ServerResponse, 'destroy'>;
  /** Writes what it holds. */
  leave(): void;
}

/**
 * Writes what one turn of the event loop made at the end of the turn, once all that arrived in it has been looked at.
 * Writing is the most expensive thing a request does, and cheaper by a third when nothing else happens in between
 * (docs/decisions/0009).
 */
export class Outbox {
  readonly #log: Log;
  #waiting: Leaving[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** Lets it leave in this turn, after everything else. */
  add(leaving: Leaving): void {
    if (this.#waiting.length === 0) setImmediate(this.#flush);
    this.#waiting.push(leaving);
    if (this.#waiting.length >= MOST) this.#flush();
  }

  readonly #flush = (): void => {
    const all = this.#waiting;
    this.#waiting = [];
    for (const each of all) {
      try {
        each.leave();
      } catch (error) {
        this.#log.error('an answer could not be written', { error }); // and the others still leave
        each.response.destroy();
      }
    }
  };
}
