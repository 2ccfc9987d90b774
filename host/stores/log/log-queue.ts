import type { GivenRow } from './row-values.ts';

/** What waits to be written: a row, or the error of a row at another stage, which is a row of its own where that one is not there. */
export interface WaitingRow {
  row: GivenRow;
  readonly isTerminal: boolean;
  readonly annotates: string | undefined;
  /** Order of arrival over all rows. */
  readonly number: number;
}

/** First in, first out, at the cost of a step whatever stands in it. What has been taken is not kept alive: rows that grow old cost the garbage collector most. */
class Line {
  #items: (WaitingRow | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  get first(): WaitingRow | undefined {
    return this.#items[this.#head];
  }

  push(item: WaitingRow): void {
    this.#items.push(item);
  }

  shift(): WaitingRow | undefined {
    const item = this.first;
    if (!item) return undefined;
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head === this.#items.length || (this.#head >= 1024 && this.#head * 2 >= this.#items.length)) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  findLast(matches: (item: WaitingRow) => boolean): WaitingRow | undefined {
    for (let at = this.#items.length - 1; at >= this.#head; at -= 1) {
      const item = this.#items[at];
      if (item && matches(item)) return item;
    }
    return undefined;
  }
}

/** Rows that wait for their store, bounded. Of too many the oldest that end no request are dropped first. */
export class LogQueue {
  readonly #terminal = new Line();
  readonly #others = new Line();
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get length(): number {
    return this.#terminal.length + this.#others.length;
  }

  /** The number of the row that came last. */
  get newest(): number {
    return this.#count;
  }

  /** Whether a row waits that had come by the time `newest` was this number. */
  holdsUpTo(number: number): boolean {
    return [this.#terminal.first, this.#others.first].some((first) => first !== undefined && first.number <= number);
  }

  /** Gives back what was dropped for it. */
  add(row: GivenRow, { isTerminal, annotates }: Pick<WaitingRow, 'isTerminal' | 'annotates'>): WaitingRow | undefined {
    (isTerminal ? this.#terminal : this.#others).push({ row, isTerminal, annotates, number: (this.#count += 1) });
    if (this.length <= this.#most) return undefined;
    return this.#others.length > 0 ? this.#others.shift() : this.#terminal.shift();
  }

  /** As many as there are up to `most`, in the order of their arrival. */
  take(most: number): WaitingRow[] {
    const taken: WaitingRow[] = [];
    while (taken.length < most) {
      const [ending, other] = [this.#terminal.first, this.#others.first];
      const next = ending && (!other || ending.number < other.number) ? this.#terminal.shift() : this.#others.shift();
      if (!next) break;
      taken.push(next);
    }
    return taken;
  }

  /** The row of a trace at a stage that has no error, while it waits. */
  find(traceId: string, stage: string): WaitingRow | undefined {
    return this.#terminal.findLast(
      ({ row, annotates }) =>
        row.trace_id === traceId && row.stage === stage && annotates === undefined && !row.error_message,
    );
  }
}
