import type { Steps } from 'gw/contract';
import { STEP } from '../_common/detector.ts';

/** Random letters and digits change between upper case, lower case and digits at more places than names do. */
const LEAST_CHANGES = 0.3;
/** The least share of the bits that so many characters can carry: names repeat letters, random tokens hardly do. */
const LEAST_SHARE = 0.88;
const MOST_BITS = 6;

/** Words with signs between them: of one case or with a capital in front of each, and at most a short number behind. */
const NAME_WORD = /^(?:(?:[a-z]+|[A-Z]+|[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,})*)\d{0,4}|\d{1,8})$/;
const LEAST_WORDS = 3;

/** A constant, a branch or a path, and no random token: pieces of those mix their cases. */
function* isName(token: string): Steps<boolean> {
  let words = 0;
  for (const [word] of token.matchAll(/[^+/=_-]+/g)) {
    if (!NAME_WORD.test(word)) return false;
    words += 1;
    if (words % 4096 === 0) yield;
  }
  return words >= LEAST_WORDS;
}

/** Whether a token mixes upper case, lower case and digits, has so many bits per character, and is not a name of several words. */
export function* isRandom(token: string, leastBits: number): Steps<boolean> {
  const counts = new Uint32Array(128);
  let seen = 0;
  let changes = 0;
  let before = -1;
  for (let at = 0, stop = STEP; at < token.length; at += 1) {
    if (at === stop) {
      stop += STEP;
      yield;
    }
    const code = token.charCodeAt(at);
    const kind = kindOf(code);
    counts[code] = (counts[code] ?? 0) + 1;
    seen |= 1 << kind;
    if (kind !== before && before >= 0 && !(before === UPPER && kind === LOWER)) changes += 1; // a word may begin with a capital
    before = kind;
  }
  if ((seen & MIXED) !== MIXED) return false;
  const bits = entropyOf(counts, token.length);
  if (bits < leastBits) return false;
  if (yield* isName(token)) return false;
  return (
    changes / (token.length - 1) >= LEAST_CHANGES || bits >= LEAST_SHARE * Math.min(Math.log2(token.length), MOST_BITS)
  );
}

const [UPPER, LOWER, DIGIT, SIGN] = [0, 1, 2, 3] as const;
/** A bit for each of them. */
const MIXED = (1 << UPPER) | (1 << LOWER) | (1 << DIGIT);

function kindOf(code: number): number {
  if (code >= 65 && code <= 90) return UPPER;
  if (code >= 97 && code <= 122) return LOWER;
  return code >= 48 && code <= 57 ? DIGIT : SIGN;
}

/** Bits per character (Shannon). */
function entropyOf(counts: Uint32Array, length: number): number {
  let bits = 0;
  for (const count of counts) if (count > 0) bits -= (count / length) * Math.log2(count / length);
  return bits;
}
