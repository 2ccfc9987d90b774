/** Uniform in [0, 1), the same everywhere for the same seed: Mulberry32. */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What generated tests throw. It has a seed, so that a case that fails can be made again. */
export class Dice {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seeded(seed);
  }

  /** A whole number from 0, less than this. */
  below(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }
}

/**
 * How many of so many generated cases to run: all of them in the soak, the first fortieth otherwise, or the first of every so
 * many. The seeds are the same, so a case that fails in the one can be made again in the other.
 */
export function cases(all: number, every = 40): number {
  return process.env['GW_TEST_CASES'] === 'all' ? all : Math.ceil(all / every);
}

/** Whether everything runs, whatever it takes; what only the soak runs has an asker of this around it. */
export const isSoak = (): boolean => cases(10) === 10;

/** Some of a list whose members are tried one by one: every sixth, or every so many from a place on. In the soak all of them. */
export function some<T>(all: readonly T[], { every = 6, from = 0 } = {}): readonly T[] {
  return all.filter((_each, at) => at % every === from || isSoak());
}

/** A test that only the soak runs: it takes seconds, and tests of other kinds hold most of what it does. */
export function inSoak(title: string, run: Mocha.AsyncFunc): void {
  if (isSoak()) it(title, run);
}
