import type { Steps } from 'gw/contract';
import { KINDS } from './rules.ts';
import { kindsIn } from './stems.ts';

/** Signs that are not seen, and letters that only look different: removed before a text is read. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g;
/** A run of one alphabet that is long enough to hold an instruction. */
const SHORTEST = 24;
const HEX = /^(?:[\da-f]{2})+$/i;
/** Encoded texts of one text that are read, and characters of each. */
const MOST_ENCODED = 8;
const MOST_CHARACTERS = 8192;
/** Characters of a text from which on each look at it takes noticeable time. */
const LONG = 16 * 1024;

/** How sure it is that a text attacks the model's instructions: 0 to 1. What it encodes counts as much as what it says. Others may be served between two looks at a long text. */
export function* scoreOf(text: string): Steps<number> {
  const plain = readable(text);
  let score = yield* plainScore(plain);
  if (score < 1)
    for (const hidden of encodedTexts(text, plain)) score = Math.max(score, yield* plainScore(readable(hidden)));
  return Math.round(score * 1000) / 1000;
}

/** Independent signs add up to certainty, never beyond. */
function* plainScore(text: string): Steps<number> {
  const isLong = text.length > LONG;
  let doubt = 1;
  if (isLong) yield;
  const seen = yield* kindsIn(text);
  for (const [at, { rules }] of KINDS.entries()) {
    if ((seen & (1 << at)) === 0) continue;
    for (const { pattern, weight } of rules) {
      if (isLong) yield;
      if (pattern.test(text)) doubt *= 1 - weight;
    }
  }
  return 1 - doubt;
}

function readable(text: string): string {
  const isPlain = !/[^\x00-\x7f]/.test(text);
  return (isPlain ? text : text.normalize('NFKC').replace(INVISIBLE, '')).toLowerCase();
}

function* encodedTexts(text: string, plain: string): Generator<string> {
  let left = MOST_ENCODED;
  for (const encoded of longRuns(text)) {
    for (const encoding of HEX.test(encoded) ? (['hex', 'base64'] as const) : (['base64'] as const)) {
      const decoded = Buffer.from(encoded, encoding).toString('utf8');
      if (isText(decoded)) yield decoded;
    }
    if ((left -= 1) === 0) return;
  }
  if (plain.includes('rot13') || plain.includes('rot-13')) yield rot13(text.slice(0, MOST_CHARACTERS));
}

/** Runs of base64 characters. A long one reaches over one of every so many places, so only those are looked at. */
function* longRuns(text: string): Generator<string> {
  for (let at = SHORTEST - 1; at < text.length; at += SHORTEST) {
    if (!isEncoded(text.charCodeAt(at))) continue;
    let start = at;
    let end = at + 1;
    while (start > 0 && isEncoded(text.charCodeAt(start - 1))) start -= 1;
    while (isEncoded(text.charCodeAt(end))) end += 1;
    if (end - start >= SHORTEST) yield text.slice(start, Math.min(end, start + MOST_CHARACTERS));
    at = Math.max(at, end - SHORTEST);
  }
}

function isEncoded(code: number): boolean {
  return (
    (code >= 48 && code <= 57) ||
    ((code | 32) >= 97 && (code | 32) <= 122) ||
    code === 0x2b ||
    code === 0x2f ||
    code === 0x5f ||
    code === 0x2d
  );
}

/** Mostly letters and spaces, as sentences are. */
function isText(decoded: string): boolean {
  const letters = decoded.match(/[\p{L} ]/gu)?.length ?? 0;
  return letters > decoded.length * 0.8 && decoded.includes(' ');
}

function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const first = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
  });
}
