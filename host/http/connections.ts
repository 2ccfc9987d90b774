import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Counters } from '../contract/index.ts';

type State = 'new' | 'active' | 'idle' | 'hijacked' | 'closed';

/** The labels of each move, made once. */
const MOVES = Object.freeze({
  new: { state: 'new' }, active: { state: 'active' }, idle: { state: 'idle' }, hijacked: { state: 'hijacked' }, closed: { state: 'closed' },
}) satisfies Readonly<Record<State, { readonly state: State }>>;

/**
 * The client connections of one host, by what they do: `active` from the head of a request to the end of its answer, `idle`
 * between requests. One that has asked nothing yet is neither, and so is one that serves another protocol by now.
 */
export class Connections {
  active = 0;
  idle = 0;
  readonly #counters: Counters;
  /** How many requests each connection has under way: a client may send the next one before the answer. */
  readonly #underWay = new Map<Socket, number>();

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  watch(server: Server): void {
    server.on('connection', (socket) => {
      this.#count('new');
      socket.once('close', () => {
        this.#leave(socket);
        this.#count('closed');
      });
    });
  }

  /** A request has arrived. */
  begin(socket: Socket): void {
    const before = this.#underWay.get(socket);
    this.#underWay.set(socket, (before ?? 0) + 1);
    if (before !== undefined && before > 0) return;
    if (before === 0) this.idle -= 1;
    this.active += 1;
    this.#count('active');
  }

  /** Its answer is over. A connection that ends with it does not become idle. */
  end(socket: Socket): void {
    const before = this.#underWay.get(socket);
    if (before === undefined || before === 0) return;
    if (before === 1 && (socket.destroyed || socket.writableEnded)) return; // active until it is closed
    this.#underWay.set(socket, before - 1);
    if (before > 1) return;
    this.active -= 1;
    this.idle += 1;
    this.#count('idle');
  }

  /** The connection is no longer HTTP's. */
  hijack(socket: Socket): void {
    this.#leave(socket);
    this.#count('hijacked');
  }

  #leave(socket: Socket): void {
    const underWay = this.#underWay.get(socket);
    if (underWay === undefined) return;
    this.#underWay.delete(socket);
    if (underWay > 0) this.active -= 1;
    else this.idle -= 1;
  }

  #count(state: State): void {
    this.#counters.add('gateway_server_connection_transitions_total', MOVES[state]);
  }
}
