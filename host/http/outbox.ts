import type { ServerResponse } from 'node:http';

/** No answer waits for more than so many others. */
const MOST = 32;

/**
 * Sends the answers of one turn of the event loop together, once all that arrived in it has been looked at. Writing is
 * the most expensive thing a request does, and cheaper by a third when nothing else happens in between
 * (docs/decisions/0009).
 */
export class Outbox {
  #waiting: [response: ServerResponse, body: string | Buffer][] = [];

  /** Ends a response whose head has been written; in this turn, after everything else. */
  send(response: ServerResponse, body: string | Buffer): void {
    if (this.#waiting.length === 0) setImmediate(this.#flush);
    this.#waiting.push([response, body]);
    if (this.#waiting.length >= MOST) this.#flush();
  }

  readonly #flush = (): void => {
    const leaving = this.#waiting;
    this.#waiting = [];
    for (const [response, body] of leaving) if (!response.destroyed) response.end(body);
  };
}
