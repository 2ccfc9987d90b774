import type { Socket } from 'node:net';

/** Requests that one connection serves, and how long it does, before it ends with an answer: few long connections would stay with the process that took them. */
const MOST_REQUESTS = 1000;
const LONGEST_MS = 5 * 60_000;
/** Part of both by which connections differ, so that they do not all come back at once. */
const SPREAD = 0.2;

interface Age {
  requestsLeft: number;
  readonly endsAt: number;
}

export interface ConnectionAgesDeps {
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** How much each client connection has served, where several processes share a port. */
export class ConnectionAges {
  readonly #ages = new WeakMap<Socket, Age>();
  readonly #deps: ConnectionAgesDeps;

  constructor(deps: ConnectionAgesDeps) {
    this.#deps = deps;
  }

  /** Counts a request, and says whether the connection ends with its answer. */
  isOver(socket: Socket): boolean {
    const { monotonic, random } = this.#deps;
    const now = monotonic();
    let age = this.#ages.get(socket);
    if (!age) {
      const part = 1 - SPREAD + 2 * SPREAD * random();
      age = { requestsLeft: Math.round(MOST_REQUESTS * part), endsAt: now + LONGEST_MS * part };
      this.#ages.set(socket, age);
    }
    age.requestsLeft -= 1;
    return age.requestsLeft <= 0 || now >= age.endsAt;
  }
}
