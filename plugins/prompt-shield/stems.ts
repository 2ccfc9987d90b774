import type { Steps } from 'gw/contract';
import { KINDS } from './rules.ts';

interface Stem {
  readonly text: string;
  /** The kind of attack that it may be a sign of, as a bit. */
  readonly kind: number;
}

/** By the first letters of a word, four at most: how the words go on that may be signs. */
const STEMS: ReadonlyMap<number, readonly Stem[]> = tableOf();
const MOST_LETTERS = 4;
/** Whether a stem may have these last three letters: most words are ruled out by one look at a small table. */
const LAST_LETTERS = 32 ** 3 - 1;
const MAY_BE = lastLettersOf(STEMS);

/** Marks that are not words, and the bit of their kind: fake role markers. */
const MARKS = ['<|', '<<', '_of_turn'];
const MARKERS = 1 << 3;

/** Characters that are looked at before others may be served. */
const STEP = 256 * 1024;

/** The kinds of attack that a text in lower case may hold, one bit each: one pass over it, instead of one for each sign. Others may be served while a long one is read. */
export function* kindsIn(text: string): Steps<number> {
  const words = new Words(text);
  words.kinds = MARKS.some((mark) => text.includes(mark)) ? MARKERS : 0;
  for (let at = 0; at <= text.length; at += STEP) {
    if (at > 0) yield;
    words.read(at, Math.min(at + STEP, text.length + 1));
  }
  return words.kinds;
}

/** The words of a text, which is read part by part. */
class Words {
  kinds = 0;
  readonly #text: string;
  /** Letters of the word that goes on, and its first ones as a number. */
  #letters = 0;
  #key = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(from: number, to: number): void {
    const text = this.#text;
    let kinds = this.kinds;
    let letters = this.#letters;
    let key = this.#key;
    for (let at = from; at < to; at += 1) {
      const letter = text.charCodeAt(at) - 96;
      if (letter >= 1 && letter <= 26) {
        letters += 1;
        if (letters <= MOST_LETTERS) key = key * 32 + letter;
        if (letters === MOST_LETTERS) kinds |= kindsAt(text, at + 1 - letters, key);
      } else if (letters > 0) {
        if (letters === MOST_LETTERS - 1) kinds |= kindsAt(text, at - letters, key);
        letters = 0;
        key = 0;
      }
    }
    this.kinds = kinds;
    this.#letters = letters;
    this.#key = key;
  }
}

function kindsAt(text: string, word: number, key: number): number {
  if (MAY_BE[key & LAST_LETTERS] === 0) return 0;
  let kinds = 0;
  for (const stem of STEMS.get(key) ?? []) if (text.startsWith(stem.text, word)) kinds |= stem.kind;
  return kinds;
}

/** The first letters of a stem as one number. */
function keyOf(stem: string): number {
  let key = 0;
  for (const letter of /^[a-z]{3,4}/.exec(stem)?.[0] ?? '') key = key * 32 + letter.charCodeAt(0) - 96;
  return key;
}

function tableOf(): ReadonlyMap<number, readonly Stem[]> {
  const stems = KINDS.flatMap(({ stems: texts }, at) => texts.map((text): Stem => ({ text, kind: 1 << at })));
  return Map.groupBy(stems, ({ text }) => keyOf(text));
}

function lastLettersOf(stems: ReadonlyMap<number, unknown>): Uint8Array {
  const table = new Uint8Array(LAST_LETTERS + 1);
  for (const key of stems.keys()) table[key & LAST_LETTERS] = 1;
  return table;
}
