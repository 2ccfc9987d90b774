import type { ServerResponse } from 'node:http';
import type { Clock, Timer } from '../clock.ts';
import type { StreamOutput } from '../pipeline/stream.ts';
import { contextOf } from './context.ts';
import { type FlatHeaders, writeHead } from './reply.ts';

/** Longest time a write may take to leave. Source: specification 6.2 rule 5. */
const WRITE_LIMIT_MS = 15_000;

/** Writes one event stream, one write per upstream read; ends the connection of a client that stops reading. */
export class SseWriter implements StreamOutput {
  /** Called when the client takes bytes again after a refused write. */
  onDrain: (() => void) | undefined;
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  #deadline: Timer | undefined;

  constructor(response: ServerResponse, clock: Clock) {
    this.#response = response;
    this.#clock = clock;
  }

  open(headers: FlatHeaders): void {
    // Node itself says keep-alive, and close to clients that asked for it.
    writeHead(this.#response, 200, ['Content-Type', 'text/event-stream', 'Cache-Control', 'no-cache', ...headers]);
  }

  write(bytes: string): boolean {
    contextOf(this.#response).bytes += bytes.length;
    if (this.#response.write(bytes, 'latin1')) return true;
    this.#await('drain', () => this.onDrain?.());
    return false;
  }

  /** Sends the last bytes and closes the body. */
  end(bytes: string): void {
    contextOf(this.#response).bytes += bytes.length;
    this.#response.end(bytes, 'latin1');
    if (!this.#response.writableFinished) this.#await('finish', () => {});
  }

  #await(event: 'drain' | 'finish', then: () => void): void {
    if (this.#deadline) return;
    const deadline = this.#clock.timer(WRITE_LIMIT_MS, () => this.#response.destroy());
    this.#deadline = deadline;
    const done = (): void => {
      deadline.cancel();
      this.#deadline = undefined;
      this.#response.off('close', done);
      then();
    };
    this.#response.once(event, done);
    this.#response.once('close', done);
  }
}
