import type { ServerResponse } from 'node:http';
import type { Clock, Timer } from '../common/clock.ts';
import type { StreamOutput } from '../answer/stream.ts';
import { contextOf } from './context.ts';
import type { Leaving } from './outbox.ts';
import { type FlatHeaders, writeHead } from './reply.ts';
import { whenTaken } from './body/when-taken.ts';
import { endWith } from './body/whole-body.ts';

/** Characters that wait for the end of the turn; beyond them it must show whether the client takes more. */
const MOST_HELD = 16_384;

/** Longest time without an event on wires that send one to say that the answer goes on. See docs/reference/ingress.md#messages-events. */
const QUIET_MS = 15_000;

/** Writes one streamed answer, one write a turn of the event loop; ends the connection of a client that stops reading. */
export class SseWriter implements StreamOutput, Leaving {
  /** Called when the client takes bytes again after a refused write. */
  onDrain: (() => void) | undefined;
  readonly response: ServerResponse;
  readonly #clock: Clock;
  #held = '';
  /** Ends the wait for a client that has yet to take what was written. */
  #stopWaiting: (() => void) | undefined;
  #isEnding = false;
  #quiet: Timer | undefined;

  constructor(response: ServerResponse, clock: Clock) {
    this.response = response;
    this.#clock = clock;
  }

  open(contentType: string, headers: FlatHeaders): void {
    // Node itself says keep-alive, and close to clients that asked for it.
    writeHead(this.response, 200, ['Content-Type', contentType, 'Cache-Control', 'no-cache', ...headers]);
  }

  /** Sends these bytes whenever nothing else was for a while, until the end. */
  keepAlive(bytes: string): void {
    const timer = this.#clock.timer(QUIET_MS, () => {
      this.#hold(bytes);
      timer.refresh();
    });
    this.#quiet = timer;
    this.response.on('close', () => timer.cancel());
  }

  write(bytes: string): boolean {
    this.#quiet?.refresh();
    this.#hold(bytes);
    return this.#stopWaiting === undefined;
  }

  /** Sends the last bytes, if there are any, and closes the body. */
  end(bytes: string): void {
    this.#isEnding = true;
    this.#quiet?.cancel();
    this.#hold(bytes);
  }

  leave(): void {
    const bytes = this.#held;
    this.#held = '';
    if ((bytes === '' && !this.#isEnding) || this.response.destroyed) return;
    if (this.#isEnding) {
      this.#stopWaiting?.();
      endWith(this.response, bytes, 'latin1', this.#clock);
    } else if (!this.response.write(bytes, 'latin1'))
      this.#stopWaiting ??= whenTaken(this.response, 'drain', this.#clock, () => this.#taken());
  }

  #hold(bytes: string): void {
    const context = contextOf(this.response);
    context.bytes += bytes.length;
    const isWaiting = this.#held !== '';
    this.#held += bytes;
    if (this.#held.length > MOST_HELD) this.leave();
    else if (!isWaiting) context.gateway.outbox.add(this);
  }

  #taken(): void {
    this.#stopWaiting = undefined;
    this.onDrain?.();
  }
}
