import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Activity } from './activity.ts';

/** What is still read, and thrown away, once an answer was given. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Longest silence meanwhile. */
const SILENCE_MS = 5000;
/** Longest time in all. */
const LONGEST_MS = 30_000;

/** What a connection needs to end well. */
export interface Ending {
  readonly services: { readonly clock: Clock };
  readonly activity: Activity;
}

/** Watches what is read in vain. */
interface Watch {
  /** To be called whenever something may have been read. */
  readonly came: () => void;
  readonly stop: () => void;
}

const ending = Symbol('ending');

interface EndingSocket extends Socket {
  /** Set once the last answer of a connection is known: what is requested after it is not served. */
  [ending]?: Watch | 'announced';
}

/** Cuts the connection off when too much is read in vain, or for too long. */
function watchLeftovers(socket: Socket, clock: Clock): Watch {
  const limit = socket.bytesRead + MOST_BYTES;
  let seen = socket.bytesRead;
  let isOver = false;
  const cut = (): void => { socket.destroy(); };
  const timers = [clock.timer(SILENCE_MS, cut), clock.timer(LONGEST_MS, cut)] as const;
  const stop = (): void => {
    isOver = true;
    for (const timer of timers) timer.cancel();
    socket.off('close', stop);
  };
  socket.on('close', stop);
  return {
    stop,
    came: () => {
      if (isOver || socket.bytesRead === seen) return;
      seen = socket.bytesRead;
      if (seen > limit) cut();
      else timers[0].refresh();
    },
  };
}

/** Deals with the rest of a body whose request is answered already. Call it before the answer ends. */
export function dropBody(response: ServerResponse, host: Ending): void {
  const { req: request } = response;
  if (!response.shouldKeepAlive) {
    endInStages(response, host);
    return;
  }
  const { came, stop } = watchLeftovers(request.socket, host.services.clock);
  request.on('data', came).on('end', stop).resume();
}

/**
 * Makes this answer the last of its connection, which is then closed as RFC 9112 9.6 says: our side first, the other one
 * once the client has closed its own, or sent too much. A socket that is closed while bytes wait in it unread is reset by the kernel, and a
 * reset takes the answer with it if the client has not read that far.
 */
export function endInStages(response: ServerResponse, host: Ending): void {
  const { req: request } = response;
  const socket = request.socket as EndingSocket;
  if (socket[ending]) return;
  socket[ending] = 'announced';
  // What Node calls after the last answer; its own closes both sides at once.
  socket.destroySoon = () => { linger(socket, host, request); };
}

/** True for a request that came after the last answer of its connection was announced: it is not served, only read. */
export function isTooLate(request: IncomingMessage): boolean {
  const socket = request.socket as EndingSocket;
  if (socket[ending] === undefined) return false;
  request.on('data', () => hasLeftovers(socket)).resume();
  return true;
}

/** Closes our side of a connection, and reads on until the client has closed its own. */
export function linger(socket: Socket, { services, activity }: Ending, request?: IncomingMessage): void {
  if (socket.destroyed) return;
  const watch = watchLeftovers(socket, services.clock);
  (socket as EndingSocket)[ending] = watch;
  activity.begin(); // a shutdown waits for it
  socket.on('close', () => activity.end());
  socket.end();
  request?.on('data', watch.came).resume();
  socket.resume();
}

/** False unless the connection lingers: then something more has been read of it. */
export function hasLeftovers(socket: Socket): boolean {
  const watch = (socket as EndingSocket)[ending];
  if (watch === undefined || watch === 'announced') return false;
  watch.came();
  return true;
}
