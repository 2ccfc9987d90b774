import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Counters } from '../../contract/index.ts';

type State = 'new' | 'active' | 'idle' | 'hijacked' | 'closed';

const underWay = Symbol('requests under way');

/** With how many requests it has under way: a client may send the next one before the answer. On the socket itself, as every request asks for it. */
type CountedSocket = Socket & { [underWay]?: number | undefined };

/**
 * The client connections of one host, by what they do: `active` from the head of a request to the end of its answer, `idle`
 * between requests. One that has asked nothing yet is neither, and so is one that serves another protocol by now.
 */
export class Connections {
  active = 0;
  idle = 0;
  /** Moves that have not been reported: every request makes two, so they are only counted. */
  readonly #moves = new Map<State, number>();

  /** `event`: over TLS a connection is there once the handshake is over. */
  watch(server: Server, event: 'connection' | 'secureConnection'): void {
    server.on(event, (socket: Socket) => {
      this.#count('new');
      socket.once('close', () => {
        this.#leave(socket);
        this.#count('closed');
      });
    });
  }

  /** A request has arrived. */
  begin(socket: CountedSocket): void {
    const before = socket[underWay];
    socket[underWay] = (before ?? 0) + 1;
    if (before !== undefined && before > 0) return;
    if (before === 0) this.idle -= 1;
    this.active += 1;
    this.#count('active');
  }

  /** Its answer is over. A connection that ends with it does not become idle. */
  end(socket: CountedSocket): void {
    const before = socket[underWay];
    if (before === undefined || before === 0) return;
    if (before === 1 && (socket.destroyed || socket.writableEnded)) return; // active until it is closed
    socket[underWay] = before - 1;
    if (before > 1) return;
    this.active -= 1;
    this.idle += 1;
    this.#count('idle');
  }

  /** The connection is no longer HTTP's. */
  hijack(socket: CountedSocket): void {
    this.#leave(socket);
    this.#count('hijacked');
  }

  /** Reports the moves since the last time; called whenever figures are read. */
  report(counters: Counters): void {
    for (const [state, moves] of this.#moves)
      counters.add('gateway_server_connection_transitions_total', { state }, moves);
    this.#moves.clear();
  }

  #leave(socket: CountedSocket): void {
    const requests = socket[underWay];
    if (requests === undefined) return;
    socket[underWay] = undefined;
    if (requests > 0) this.active -= 1;
    else this.idle -= 1;
  }

  #count(state: State): void {
    this.#moves.set(state, (this.#moves.get(state) ?? 0) + 1);
  }
}
