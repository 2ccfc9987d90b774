import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../common/clock.ts';
import type { Activity } from '../activity.ts';

/** What is still read, and thrown away, of a connection whose last answer is known, or of a body whose request is answered. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Longest silence once that answer has left. */
const SILENCE_MS = 5000;
/** Longest time in all from then on. */
const LONGEST_MS = 30_000;

/** What a connection needs to end well. */
export interface Ending {
  readonly services: { readonly clock: Clock };
  readonly activity: Activity;
}

/** Counts what is read in vain. Cuts the connection off when it is too much, or takes too long. */
class Leftovers {
  readonly #socket: Socket;
  readonly #limit: number;
  #seen: number;
  #timers: readonly Timer[] | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#seen = socket.bytesRead;
    this.#limit = this.#seen + MOST_BYTES;
  }

  get isWatched(): boolean {
    return this.#timers !== undefined;
  }

  /** Bounds the time from now on. */
  watch(clock: Clock): void {
    const cut = (): void => {
      this.#socket.destroy();
    };
    this.#timers = [clock.timer(SILENCE_MS, cut), clock.timer(LONGEST_MS, cut)];
    this.#socket.on('close', this.stop);
  }

  /** To be called whenever something may have been read. */
  readonly came = (): void => {
    const { bytesRead } = this.#socket;
    if (bytesRead === this.#seen) return;
    this.#seen = bytesRead;
    if (bytesRead > this.#limit) this.#socket.destroy();
    else this.#timers?.[0]?.refresh();
  };

  readonly stop = (): void => {
    for (const timer of this.#timers ?? []) timer.cancel();
    this.#timers = undefined;
    this.#socket.off('close', this.stop);
  };
}

const ending = Symbol('ending');
const dropping = Symbol('dropping');

interface EndingSocket extends Socket {
  /** Watches the body that is dropped on a connection that serves on. */
  [dropping]?: Leftovers;
  /** There once the last answer of a connection is known. */
  [ending]?: Leftovers;
}

/** Deals with the rest of a body whose request is answered already. Call it before the answer ends: Node would read on without a bound. */
export function dropBody(response: ServerResponse, host: Ending): void {
  const { req: request } = response;
  const socket = request.socket as EndingSocket;
  if (response.shouldKeepAlive && socket[ending] === undefined) {
    socket[dropping]?.stop(); // that body has come to its end, and this is the next one
    const leftovers = (socket[dropping] = new Leftovers(socket));
    leftovers.watch(host.services.clock);
    request.on('data', leftovers.came).on('end', leftovers.stop).resume();
    return;
  }
  endInStages(response, host);
  readInVain(request);
}

function readInVain(request: IncomingMessage): void {
  request.on('data', () => hasLeftovers(request.socket)).resume();
}

/** Nothing that is requested on this connection from now on is served. The answer that is pending must say that it is the last. */
export function announceEnd(socket: Socket): void {
  (socket as EndingSocket)[ending] ??= new Leftovers(socket);
}

/**
 * Makes this answer the last of its connection, which is then closed as RFC 9112 9.6 says: our side first, the other one once the
 * client has closed its own, or sent too much. A socket that is closed while bytes wait in it unread is reset by the kernel, and a
 * reset takes the answer with it if the client has not read that far.
 */
export function endInStages({ req: { socket } }: ServerResponse, host: Ending): void {
  announceEnd(socket);
  // What Node calls after the last answer; its own closes both sides at once.
  socket.destroySoon = () => {
    linger(socket, host);
  };
}

/** Whether the last answer of the connection is known. */
export function isEnding(socket: Socket): boolean {
  return (socket as EndingSocket)[ending] !== undefined;
}

/** True for a request that came after the last answer of its connection was announced: it is not served, only read. */
export function isTooLate(request: IncomingMessage): boolean {
  if (!isEnding(request.socket)) return false;
  readInVain(request);
  return true;
}

/** Closes our side of a connection, and reads on until the client has closed its own. A shutdown waits for that. */
export function linger(socket: Socket, { services, activity }: Ending): void {
  announceEnd(socket);
  const leftovers = (socket as EndingSocket)[ending];
  if (!leftovers || leftovers.isWatched || socket.destroyed) return;
  leftovers.watch(services.clock);
  activity.begin();
  socket.on('close', () => activity.end());
  socket.end();
  socket.resume();
}

/** Counts what was read of a connection that ends. False for any other. */
export function hasLeftovers(socket: Socket): boolean {
  const leftovers = (socket as EndingSocket)[ending];
  leftovers?.came();
  return leftovers !== undefined;
}
