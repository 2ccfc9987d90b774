import type { Dice } from '../kit/index.ts';

/** Amounts that no upstream can mean, in micro-dollars. */
export const HOSTILE: readonly number[] = [
  Number.MAX_SAFE_INTEGER,
  2 ** 53,
  2 ** 63,
  2 ** 64,
  1e21,
  1e23,
  1e300,
  Number.MAX_VALUE,
  Infinity,
  NaN,
  -1,
  -0.5,
  -1e9,
  -Number.MAX_VALUE,
  -Infinity,
  1e9 + 1e-6,
  1e9 + 1,
  1e12,
];

/** Amounts that are spent every day, in millionths of a micro-dollar; and those of them that are whole micro-dollars. */
const DAILY: readonly number[] = [1, 250_000, 1e6, 3e6, 123_456_789, 5e13, 999_999_999_999_999, 1e15];
export const WHOLE: readonly number[] = DAILY.filter((parts) => parts % 1e6 === 0);

const PARTS = 1_000_000n;
const MOST_BOOKING = 1_000_000_000n * PARTS;
const MOST_SUM = 2n ** 53n - 1n;

/**
 * What keys have spent, by whole numbers that have no end: the oracle of tests that book. Every tenth amount it makes up is a hostile
 * one; of the others each is a number of millionths of a micro-dollar.
 */
export class Truth {
  readonly #dice: Dice;
  readonly #daily: readonly number[];
  /** Millionths of a micro-dollar. */
  readonly #parts = new Map<string, bigint>();

  constructor(dice: Dice, daily = DAILY) {
    this.#dice = dice;
    this.#daily = daily;
  }

  /** An amount that the key spends from now on, to be booked. */
  spend(key: string): number {
    const amount = this.#dice.below(10) === 0 ? this.#dice.pick(HOSTILE) : this.#dice.pick(this.#daily) / 1e6;
    this.#parts.set(key, (this.#parts.get(key) ?? 0n) + believed(amount));
    return amount;
  }

  /** What a key has spent before. */
  begin(key: string, committed: bigint): void {
    this.#parts.set(key, committed * PARTS);
  }

  /** Whole micro-dollars. */
  of(key: string): bigint {
    const sum = (this.#parts.get(key) ?? 0n) / PARTS;
    return sum < MOST_SUM ? sum : MOST_SUM;
  }
}

function believed(amount: number): bigint {
  if (Number.isNaN(amount) || amount <= 0) return 0n;
  return amount >= 1e9 ? MOST_BOOKING : BigInt(Math.round(amount * 1e6));
}
