import type { ServerResponse } from 'node:http';
import type { Clock, Timer } from '../common/clock.ts';
import type { StreamOutput } from '../answer/stream.ts';
import type { ClientStream } from '../wire/client-wire.ts';
import { contextOf } from './context.ts';
import type { Leaving } from './outbox.ts';
import { type FlatHeaders, UNBUFFERED, writeHead } from './reply.ts';
import { whenTaken } from './body/when-taken.ts';
import { endWith } from './body/whole-body.ts';

/** Characters that wait for the end of the turn; beyond them it must show whether the client takes more. */
const MOST_HELD = 16_384;

/** Characters that are written at once. A larger event leaves in pieces, so that a client that takes it slowly shows that it takes it. */
const MOST_AT_ONCE = 131_072;

/** After so much silence an event says that the answer goes on, where the wire has one for clients that wait for events. */
const MINUTE_MS = 60_000;

/** Writes one streamed answer, one write a turn of the event loop; ends the connection of a client that stops reading. */
export class SseWriter implements StreamOutput, Leaving {
  /** Called when the client takes bytes again after a refused write. */
  onDrain: (() => void) | undefined;
  readonly response: ServerResponse;
  readonly #clock: Clock;
  #held = '';
  /** Ends the wait for a client that has yet to take what was written. */
  #stopWaiting: (() => void) | undefined;
  /** Bytes of the answer are among those that wait. */
  #hasWaiting = false;
  #hasBegun = false;
  #isEnding = false;
  /** Stands in the outbox. */
  #isQueued = false;
  /** Runs while nothing is written. */
  #quiet: Timer | undefined;
  /** Milliseconds since the last event, counted by the timer. */
  #silentMs = 0;

  constructor(response: ServerResponse, clock: Clock) {
    this.response = response;
    this.#clock = clock;
  }

  open(contentType: string, headers: FlatHeaders): void {
    // Node itself says keep-alive, and close to clients that asked for it.
    const own = ['Content-Type', contentType, 'Cache-Control', 'no-cache', ...UNBUFFERED];
    writeHead(this.response, 200, [...own, ...headers]);
  }

  /** Whether anything of the answer was written; what only says that it goes on does not count. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Has the wire say that the answer goes on whenever nothing was written for so long, until the end or `stop`. */
  keepAlive(encoder: Pick<ClientStream, 'keepAlive'>, everyMs: number): void {
    const timer = this.#clock.timer(everyMs, () => {
      if (this.response.destroyed) return;
      const before = this.#silentMs;
      this.#silentMs += everyMs;
      const isMinute = Math.floor(before / MINUTE_MS) < Math.floor(this.#silentMs / MINUTE_MS);
      if (!this.#stopWaiting) this.#hold(encoder.keepAlive({ hasBegun: this.#hasBegun, isMinute }));
      timer.refresh();
    });
    this.#quiet = timer;
  }

  /** Says nothing more by itself, and waits for the client no longer. */
  stop(): void {
    this.#quiet?.cancel();
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
  }

  /** Sends what is not part of the answer. */
  note(bytes: string): void {
    this.#quiet?.refresh();
    this.#hold(bytes);
  }

  write(bytes: string): boolean {
    this.#hasBegun = true;
    this.#silentMs = 0;
    this.#hasWaiting = true;
    this.note(bytes);
    return this.#stopWaiting === undefined;
  }

  /** Sends the last bytes, if there are any, and closes the body. */
  end(bytes: string): void {
    this.#isEnding = true;
    this.stop();
    this.#hold(bytes);
  }

  leave(): void {
    this.#isQueued = false;
    if (this.response.destroyed) return;
    if (this.#isEnding) {
      const bytes = this.#held;
      this.#held = '';
      this.#isEnding = false; // once: it may stand in the outbox as well
      endWith(this.response, bytes, 'latin1', this.#clock);
      return;
    }
    while (this.#held !== '' && !this.#stopWaiting) this.#leavePiece();
  }

  #leavePiece(): void {
    const piece = this.#held.slice(0, MOST_AT_ONCE);
    this.#held = this.#held.slice(MOST_AT_ONCE);
    if (!this.response.write(piece, 'latin1'))
      this.#stopWaiting = whenTaken(this.response, 'drain', this.#clock, () => this.#taken());
    else if (this.#held === '') this.#hasWaiting = false;
  }

  #hold(bytes: string): void {
    const context = contextOf(this.response);
    context.bytes += bytes.length;
    this.#held += bytes;
    if (this.#stopWaiting) return; // it follows what the client has yet to take
    if (this.#held.length > MOST_HELD) this.leave();
    else if (!this.#isQueued) {
      this.#isQueued = true;
      context.gateway.outbox.add(this);
    }
  }

  #taken(): void {
    this.#stopWaiting = undefined;
    const isOfAnswer = this.#hasWaiting;
    this.leave();
    if (this.#stopWaiting) return;
    this.#hasWaiting = false;
    if (isOfAnswer) this.onDrain?.(); // what only kept the connection open moves no time limit of the upstream
  }
}
