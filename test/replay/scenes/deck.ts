import type { Dice } from '../../kit/random.ts';

/** A list that is dealt in an order of chance, over and over: each member comes once before any comes again. */
export class Deck<T> {
  readonly #all: readonly T[];
  readonly #dice: Dice;
  #left: T[] = [];

  constructor(all: readonly T[], dice: Dice) {
    if (all.length === 0) throw new Error('a deck needs members');
    this.#all = all;
    this.#dice = dice;
  }

  deal(): T {
    if (this.#left.length === 0) this.#left = [...this.#all];
    const [dealt] = this.#left.splice(this.#dice.below(this.#left.length), 1);
    return dealt as T;
  }
}
