import { atOnce, type Steps } from 'gw/contract';
import { type Detector, type Found, STEP, withoutOverlaps } from './detector.ts';

/** A text as a reader takes it, and where each of its characters stands. */
interface PlainText {
  readonly text: string;
  /** By place in `text`, the place in the text as it is written; one more for its end. */
  readonly places: Int32Array;
}

/** What is not seen: soft hyphens, joiners, marks of direction, variation selectors. Source: Unicode, `Default_Ignorable_Code_Point`. */
const UNSEEN = String.raw`\p{Default_Ignorable_Code_Point}`;
/** Digits of every script, wide and small forms of ASCII, the dots of Chinese and Japanese, which domains may be written with (RFC 3490, 3.1). */
const VARIANT = String.raw`[[\p{Nd}--[0-9]]\ufe50-\ufe6b\uff01-\uff5e\u3002\uff61]`;
const BEYOND_ASCII = /[^\x00-\x7f]/;
const ODD = new RegExp(`(${UNSEEN}+)|(${VARIANT})`, 'gv');

/** What a detector finds in a text as it is written, and as a reader takes it: digits of any script are digits, what is not seen is not there. */
export function seeingPlain(detector: Detector): Required<Detector> {
  function* find(written: string, plain: PlainText | undefined): Steps<readonly Found[]> {
    const found = yield* detector.find(written);
    if (!plain) return found;
    return yield* withoutOverlaps(found, yield* allAsWritten(yield* detector.find(plain.text), plain, written));
  }
  const open = (written: string, plain: PlainText | undefined): number => {
    const begin = detector.open(written);
    return plain ? Math.min(begin, plain.places[detector.open(plain.text)] ?? begin) : begin;
  };
  return {
    *find(written) {
      return yield* find(written, yield* plainText(written));
    },
    open: (text) => {
      const written = wholeCharacters(text);
      return open(written, atOnce(plainText(written)));
    },
    *look(text) {
      const written = wholeCharacters(text);
      const plain = yield* plainText(written);
      return { found: yield* find(written, plain), open: open(written, plain) };
    },
  };
}

/** Half a character at the end may be a digit once it is whole. */
const wholeCharacters = (text: string): string => text.slice(0, /[\ud800-\udbff]$/.test(text) ? -1 : undefined);

function* allAsWritten(found: readonly Found[], plain: PlainText, written: string): Steps<readonly Found[]> {
  const all: Found[] = [];
  for (const each of found) {
    all.push(asWritten(each, plain, written));
    if (all.length % STEP === 0) yield;
  }
  return all;
}

/** Up to its last character: what is not seen behind it stays. */
function asWritten({ start, end, kind }: Found, { places }: PlainText, written: string): Found {
  const last = places[end - 1] ?? written.length;
  return {
    start: places[start] ?? written.length,
    end: last + ((written.codePointAt(last) ?? 0) > 0xffff ? 2 : 1),
    kind,
  };
}

/** `undefined` for a text that reads as it is written. */
function* plainText(written: string): Steps<PlainText | undefined> {
  if (!BEYOND_ASCII.test(written)) return undefined;
  let reading: PlainReading | undefined;
  for (let at = 0, end = 0; at < written.length; at = end) {
    end = pieceEnd(written, at);
    const piece = at === 0 && end === written.length ? written : written.slice(at, end);
    if (!reading && piece.search(ODD) >= 0) reading = new PlainReading(written, at);
    reading?.add(piece, at);
    if (end < written.length) yield;
  }
  return reading?.whole();
}

/** Never between the halves of a character. */
function pieceEnd(text: string, at: number): number {
  const end = Math.min(text.length, at + STEP);
  const code = text.charCodeAt(end);
  return code >= 0xdc00 && code <= 0xdfff && end - 1 > at ? end - 1 : end;
}

/** Takes a text piece by piece, from the first one on in which something is odd. */
class PlainReading {
  readonly #places: Int32Array;
  /** How a character reads: the same few come again and again. */
  readonly #signs = new Map<string, string>();
  #text: string;
  #length: number;

  constructor(written: string, begin: number) {
    this.#places = new Int32Array(written.length + 1);
    for (let at = 0; at < begin; at += 1) this.#places[at] = at;
    this.#text = written.slice(0, begin);
    this.#length = begin;
  }

  add(piece: string, offset: number): void {
    let at = 0;
    const plain = (end: number): void => {
      this.#text += piece.slice(at, end);
      for (; at < end; at += 1) this.#place(offset + at);
    };
    for (const { index, 0: odd, 2: variant } of piece.matchAll(ODD)) {
      plain(index);
      if (variant !== undefined) {
        this.#text += this.#signOf(variant);
        this.#place(offset + index);
      }
      at = index + odd.length;
    }
    plain(piece.length);
  }

  whole(): PlainText {
    this.#places[this.#length] = this.#places.length - 1;
    return { text: this.#text, places: this.#places.subarray(0, this.#length + 1) };
  }

  #place(at: number): void {
    this.#places[this.#length] = at;
    this.#length += 1;
  }

  #signOf(variant: string): string {
    let sign = this.#signs.get(variant);
    if (sign === undefined) this.#signs.set(variant, (sign = signOf(variant)));
    return sign;
  }
}

function signOf(variant: string): string {
  if (variant === '\u3002' || variant === '\uff61') return '.';
  const compatible = variant.normalize('NFKC');
  if (compatible.length === 1 && compatible < '\u007f') return compatible;
  return isDigit(variant.codePointAt(0) ?? 0) ? String(digitOf(variant.codePointAt(0) ?? 0)) : variant.charAt(0);
}

const isDigit = (code: number): boolean => /\p{Nd}/u.test(String.fromCodePoint(code));

/** Digits of a script stand side by side, from 0 to 9. Source: Unicode standard, 4.6. */
function digitOf(code: number): number {
  let before = 0;
  while (isDigit(code - before - 1)) before += 1;
  return before % 10;
}
