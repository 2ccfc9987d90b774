import { seeded } from '../kit/random.ts';

/** Chance with a seed, in the forms a generator of documents needs. */
export class Chance {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seeded(seed);
  }

  below(count: number): number {
    return Math.floor(this.#next() * count);
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  isTrue(share: number): boolean {
    return this.#next() < share;
  }

  /** Members that are left out but for this share of the documents. */
  maybe(share: number, members: () => object): object {
    return this.isTrue(share) ? members() : {};
  }

  list<T>(least: number, most: number, make: (at: number) => T): readonly T[] {
    return Array.from({ length: least + this.below(most - least + 1) }, (_none, at) => make(at));
  }

  some<T>(list: readonly T[], share: number): readonly T[] {
    return list.filter(() => this.isTrue(share));
  }

  shuffled<T>(list: readonly T[]): readonly T[] {
    return list
      .map((value) => ({ value, at: this.#next() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ value }) => value);
  }
}
