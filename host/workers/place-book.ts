import type { PlaceAsk, PlacesHeld, PlacesTaken, Resource, SharedPlaces } from '../state/shared-places.ts';

/** Milliseconds after its last question for which a process that was refused is waited for. */
const PATIENCE_MS = 200;

/** Who holds places: a process. */
export type Holder = object;

/** A process that waits, since when, and when it last asked. */
interface Ticket {
  readonly since: number;
  readonly askedAt: number;
}

interface Line {
  readonly of: Pick<Resource, 'group' | 'key'>;
  /** Names of the places that are held, by who holds them. */
  readonly held: Map<string, Holder>;
  readonly tickets: Map<Holder, Ticket>;
}

export interface PlaceBookDeps {
  /** Milliseconds that never jump. */
  readonly monotonic: () => number;
  /** A place is free that a process waits for. */
  readonly freed: (holder: Holder, of: Pick<Resource, 'group' | 'key'>) => void;
}

/** The places of all processes of a gateway, kept in the memory of one of them. */
export class PlaceBook {
  readonly #lines = new Map<string, Line>();
  readonly #deps: PlaceBookDeps;
  #count = 0;

  constructor(deps: PlaceBookDeps) {
    this.#deps = deps;
  }

  /** Places that are held, over all resources. */
  get held(): number {
    return this.#lines.values().reduce((sum, { held }) => sum + held.size, 0);
  }

  take(holder: Holder, { of, wanted, isQueued }: PlaceAsk): PlacesTaken {
    const held: PlacesHeld[] = [];
    while (held.length < wanted) {
      const refusedAt = of.findIndex((resource) => !this.#hasRoom(holder, resource, isQueued));
      if (refusedAt >= 0) {
        if (isQueued) this.#wait(holder, of);
        return { held, refusedAt };
      }
      this.#count += 1;
      const id = String(this.#count);
      for (const resource of of) this.#line(resource).held.set(id, holder);
      held.push({ of, id });
    }
    for (const resource of of) this.#lines.get(nameOf(resource))?.tickets.delete(holder);
    return { held, refusedAt: undefined };
  }

  giveBack(holder: Holder, { of, id }: PlacesHeld): void {
    for (const resource of of) {
      const name = nameOf(resource);
      const line = this.#lines.get(name);
      if (line?.held.get(id) !== holder) continue;
      line.held.delete(id);
      this.#free(name, line);
    }
  }

  /** The process has ended: what it held is free. */
  gone(holder: Holder): void {
    for (const [name, line] of this.#lines) {
      for (const [id, who] of line.held) if (who === holder) line.held.delete(id);
      line.tickets.delete(holder);
      this.#free(name, line);
    }
  }

  /** Who has waited longer goes first, where they wait at all. */
  #hasRoom(holder: Holder, resource: Resource, isQueued: boolean): boolean {
    const { held, tickets } = this.#line(resource);
    if (held.size >= resource.most) return false;
    const first = isQueued ? this.#firstOf(tickets) : undefined;
    return first === undefined || first === holder;
  }

  #firstOf(tickets: Map<Holder, Ticket>): Holder | undefined {
    const now = this.#deps.monotonic();
    let first: readonly [Holder, Ticket] | undefined;
    for (const [holder, ticket] of tickets) {
      if (now - ticket.askedAt > PATIENCE_MS) tickets.delete(holder);
      else if (!first || ticket.since < first[1].since) first = [holder, ticket];
    }
    return first?.[0];
  }

  #wait(holder: Holder, of: readonly Resource[]): void {
    const now = this.#deps.monotonic();
    for (const resource of of) {
      const { tickets } = this.#line(resource);
      tickets.set(holder, { since: tickets.get(holder)?.since ?? now, askedAt: now });
    }
  }

  #free(name: string, line: Line): void {
    const first = this.#firstOf(line.tickets);
    if (first) this.#deps.freed(first, line.of);
    else if (line.held.size === 0) this.#lines.delete(name);
  }

  #line(resource: Resource): Line {
    const name = nameOf(resource);
    const known = this.#lines.get(name);
    if (known) return known;
    const { group, key } = resource;
    const made: Line = { of: { group, key }, held: new Map(), tickets: new Map() };
    this.#lines.set(name, made);
    return made;
  }
}

const nameOf = ({ group, key }: Pick<Resource, 'group' | 'key'>): string => JSON.stringify([group, key]);

/** What one process holds, by resource, and who wants to hear that a place is free. */
export class OwnPlaces {
  readonly #held = new Map<string, Set<string>>();
  readonly #listeners = new Map<string, Set<() => void>>();
  #count = 0;

  note({ of, id }: PlacesHeld): void {
    for (const resource of of) {
      const name = nameOf(resource);
      const ids = this.#held.get(name) ?? new Set<string>();
      this.#held.set(name, ids.add(id));
    }
  }

  forget({ of, id }: PlacesHeld): void {
    for (const resource of of) {
      const name = nameOf(resource);
      const ids = this.#held.get(name);
      ids?.delete(id);
      if (ids?.size === 0) this.#held.delete(name);
    }
  }

  /** One that the book does not know of. */
  made(of: readonly Resource[]): PlacesHeld {
    this.#count += 1;
    const place = { of, id: `own ${this.#count}` };
    this.note(place);
    return place;
  }

  heldOf(resource: Resource): number {
    return this.#held.get(nameOf(resource))?.size ?? 0;
  }

  readonly onFree: NonNullable<SharedPlaces['onFree']> = (of, then) => {
    const name = nameOf(of);
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(then));
    return () => {
      listeners.delete(then);
      if (listeners.size === 0) this.#listeners.delete(name);
    };
  };

  freed(of: Pick<Resource, 'group' | 'key'>): void {
    for (const listener of this.#listeners.get(nameOf(of)) ?? []) listener();
  }
}
