import { KINDS } from './rules.ts';

/** By the first letters of a word: which kinds of attack it may be a sign of, one bit each. */
const KINDS_BY_STEM: ReadonlyMap<number, number> = tableOf();

/** Marks that are not words, and the bit of their kind: fake role markers. */
const MARKS = ['<|', '<<', '_of_turn'];
const MARKERS = 1 << 3;

/** The kinds of attack that a text in lower case may hold, one bit each: one pass over it, instead of one per kind. */
export function kindsIn(text: string): number {
  let kinds = MARKS.some((mark) => text.includes(mark)) ? MARKERS : 0;
  let letters = 0;
  let key = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const letter = text.charCodeAt(at) - 96;
    if (letter >= 1 && letter <= 26) {
      letters += 1;
      if (letters <= 4) key = key * 32 + letter;
      if (letters === 4) kinds |= KINDS_BY_STEM.get(key) ?? 0;
    } else if (letters > 0) {
      if (letters === 3) kinds |= KINDS_BY_STEM.get(key) ?? 0;
      letters = 0;
      key = 0;
    }
  }
  return kinds;
}

function keyOf(stem: string): number {
  let key = 0;
  for (let at = 0; at < stem.length; at += 1) key = key * 32 + stem.charCodeAt(at) - 96;
  return key;
}

function tableOf(): ReadonlyMap<number, number> {
  const table = new Map<number, number>();
  for (const [bit, { stems }] of KINDS.entries()) for (const stem of stems) table.set(keyOf(stem), (table.get(keyOf(stem)) ?? 0) | (1 << bit));
  return table;
}
