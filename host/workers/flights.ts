import type { SharedFlight } from '../contract/services.ts';
import { type Clock, within } from '../common/clock.ts';
import { PRIMARY_LIMIT_MS } from '../stores/state-trips.ts';
import type { Channel } from './channel.ts';
import type { PrimaryTeam } from './team.ts';

const TOPIC = { begin: 'flight.begin', wait: 'flight.wait', land: 'flight.land' } as const;

/** Milliseconds that others wait for a process that does not say how its work ended. */
const LONGEST_MS = 600_000;

interface Flight {
  readonly holder: object;
  readonly landed: PromiseWithResolvers<boolean>;
  readonly beganAt: number;
}

/** Which process does which work for all. What a process does not finish before it ends, another one begins anew. */
export class FlightBook {
  readonly #flights = new Map<string, Flight>();
  readonly #monotonic: () => number;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Whether the caller is to do it. */
  begin(holder: object, key: string): boolean {
    const known = this.#flights.get(key);
    if (known && this.#monotonic() - known.beganAt < LONGEST_MS) return false;
    known?.landed.resolve(true);
    this.#flights.set(key, { holder, landed: Promise.withResolvers(), beganAt: this.#monotonic() });
    return true;
  }

  wait(key: string): Promise<boolean> {
    return this.#flights.get(key)?.landed.promise ?? Promise.resolve(false);
  }

  land(holder: object, key: string, isLeft: boolean): void {
    const flight = this.#flights.get(key);
    if (flight?.holder !== holder) return;
    this.#flights.delete(key);
    flight.landed.resolve(isLeft);
  }

  gone(holder: object): void {
    for (const [key, flight] of this.#flights) if (flight.holder === holder) this.land(holder, key, true);
  }
}

/** For workers, and for what the primary serves itself. */
export function serveFlights(team: PrimaryTeam, book: FlightBook): (key: string) => Promise<SharedFlight> {
  team.on(TOPIC.begin, (key, seat) => book.begin(seat, String(key)));
  team.on(TOPIC.wait, (key) => book.wait(String(key)));
  team.on(TOPIC.land, (value, seat) => {
    const { key, isLeft } = value as { readonly key: string; readonly isLeft: boolean };
    book.land(seat, key, isLeft);
  });
  team.onGone((seat) => book.gone(seat));
  return async (key) =>
    book.begin(book, key) ? { land: (isLeft) => book.land(book, key, isLeft) } : { landed: book.wait(key) };
}

/** While the primary does not answer, each process does its own work. */
export const remoteFlight =
  (channel: Channel, clock: Clock) =>
  async (key: string): Promise<SharedFlight> => {
    const asked = channel.ask<boolean>(TOPIC.begin, key);
    const isFirst = await within(asked, PRIMARY_LIMIT_MS, clock, 'the primary').catch(() => true);
    if (isFirst) return { land: (isLeft) => channel.tell(TOPIC.land, { key, isLeft }) };
    return { landed: channel.ask<boolean>(TOPIC.wait, key).catch(() => true) };
  };
