import type { PlaceAsk } from '../state/shared-places.ts';

/** Who holds places: a process. */
export type Holder = object;

interface Waiting {
  readonly holder: Holder;
  readonly number: number;
  readonly decide: (isHeld: boolean) => void;
}

interface Line {
  limit: number;
  total: number;
  readonly held: Map<Holder, number>;
  waiting: readonly Waiting[];
}

/** The places of all processes: each name has a limit, and a line of those that wait, first come first served. */
export class PlaceBook {
  readonly #lines = new Map<string, Line>();

  /** Places that are held, over all names. */
  get held(): number {
    return this.#lines.values().reduce((sum, { total }) => sum + total, 0);
  }

  tryAll(holder: Holder, asks: readonly PlaceAsk[]): number | undefined {
    const lines = asks.map(({ key, limit }) => this.#line(key, limit));
    const full = lines.findIndex(({ total, limit, waiting }) => total >= limit || waiting.length > 0);
    if (full >= 0) {
      for (const { key } of asks) this.#forget(key);
      return full;
    }
    for (const line of lines) take(line, holder);
    return undefined;
  }

  /** `queueSize`: how many of this holder may wait. */
  wait(
    holder: Holder,
    { key, limit, queueSize, number }: PlaceAsk & { readonly queueSize: number; readonly number: number },
  ): boolean | Promise<boolean> {
    const line = this.#line(key, limit);
    admit(line);
    if (line.waiting.length === 0 && line.total < limit) {
      take(line, holder);
      return true;
    }
    if (line.waiting.filter((each) => each.holder === holder).length >= queueSize) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    line.waiting = [...line.waiting, { holder, number, decide: resolve }];
    return promise;
  }

  /** Waits no longer. */
  leave(holder: Holder, key: string, number: number): void {
    const line = this.#lines.get(key);
    const left = line?.waiting.find((each) => each.holder === holder && each.number === number);
    if (!line || !left) return;
    line.waiting = line.waiting.filter((each) => each !== left);
    left.decide(false);
    this.#forget(key);
  }

  giveBack(holder: Holder, keys: readonly string[]): void {
    for (const key of keys) {
      const line = this.#lines.get(key);
      const held = line?.held.get(holder) ?? 0;
      if (!line || held === 0) continue;
      line.held.set(holder, held - 1);
      line.total -= 1;
      admit(line);
      this.#forget(key);
    }
  }

  /** The process has ended: what it held is free. */
  gone(holder: Holder): void {
    for (const [key, line] of this.#lines) {
      line.total -= line.held.get(holder) ?? 0;
      line.held.delete(holder);
      for (const each of line.waiting) if (each.holder === holder) each.decide(false);
      line.waiting = line.waiting.filter((each) => each.holder !== holder);
      admit(line);
      this.#forget(key);
    }
  }

  #line(key: string, limit: number): Line {
    const known = this.#lines.get(key);
    if (known) {
      known.limit = limit;
      return known;
    }
    const made: Line = { limit, total: 0, held: new Map(), waiting: [] };
    this.#lines.set(key, made);
    return made;
  }

  #forget(key: string): void {
    const line = this.#lines.get(key);
    if (line && line.total === 0 && line.waiting.length === 0) this.#lines.delete(key);
  }
}

function take(line: Line, holder: Holder): void {
  line.total += 1;
  line.held.set(holder, (line.held.get(holder) ?? 0) + 1);
}

/** Lets in who waits, as far as there is room. */
function admit(line: Line): void {
  while (line.total < line.limit) {
    const [first, ...others] = line.waiting;
    if (!first) return;
    line.waiting = others;
    take(line, first.holder);
    first.decide(true);
  }
}
