import { type Detector, type Found, withoutOverlaps } from './detector.ts';

/** A text as a reader takes it, and where each of its characters stands. */
interface PlainText {
  readonly text: string;
  /** By place in `text`, the place in the text as it is written; one more for its end. */
  readonly places: readonly number[];
}

/** What is not seen: soft hyphens, joiners, marks of direction, variation selectors. Source: Unicode, `Default_Ignorable_Code_Point`. */
const UNSEEN = String.raw`\p{Default_Ignorable_Code_Point}`;
/** Digits of every script, wide and small forms of ASCII, the dots of Chinese and Japanese, which domains may be written with (RFC 3490, 3.1). */
const VARIANT = String.raw`[[\p{Nd}--[0-9]]\ufe50-\ufe6b\uff01-\uff5e\u3002\uff61]`;
const BEYOND_ASCII = /[^\x00-\x7f]/;
const ODD = new RegExp(`(${UNSEEN}+)|(${VARIANT})`, 'gv');

/** What a detector finds in a text as it is written, and as a reader takes it: digits of any script are digits, what is not seen is not there. */
export function seeingPlain(detector: Detector): Detector {
  return {
    find: (written) => {
      const found = detector.find(written);
      const plain = plainText(written);
      return plain
        ? withoutOverlaps([...found, ...detector.find(plain.text).map((each) => asWritten(each, plain, written))])
        : found;
    },
    open: (text) => {
      const written = text.slice(0, /[\ud800-\udbff]$/.test(text) ? -1 : undefined); // half a character may be a digit once it is whole
      const open = detector.open(written);
      const plain = plainText(written);
      return plain ? Math.min(open, plain.places[detector.open(plain.text)] ?? open) : open;
    },
  };
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
function plainText(written: string): PlainText | undefined {
  if (!BEYOND_ASCII.test(written) || written.search(ODD) < 0) return undefined;
  const places: number[] = [];
  let text = '';
  let at = 0;
  const plain = (end: number): void => {
    text += written.slice(at, end);
    for (; at < end; at += 1) places.push(at);
  };
  for (const { index, 0: odd, 2: variant } of written.matchAll(ODD)) {
    plain(index);
    if (variant !== undefined) {
      text += signOf(variant);
      places.push(index);
    }
    at = index + odd.length;
  }
  plain(written.length);
  places.push(written.length);
  return { text, places };
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
