/** The bytes of a text in UTF-8, one character each, so that a place in them is one place in the text, whatever was encoded there. */
export interface Unescaped {
  readonly bytes: string;
  /** Where in the text the piece begins that each byte comes from. */
  readonly places: readonly number[];
}

/** A character that is percent-encoded, however often, one that JSON escapes as its writers please, or one that is neither. */
const PIECES = /%(?:25)*([0-9a-f]{2})|\\+u([0-9a-f]{4})|\\+(\/)|[^]/giu;
const ESCAPES = /\\+(?:u([0-9a-f]{4})|\/)/gi;

export function latinOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

const charOf = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/** A text without those escapes of JSON that writers may leave away: `\u002b`, `\/`. */
export function withoutEscapes(text: string): string {
  return text.replace(ESCAPES, (_escape, unit?: string) => (unit === undefined ? '/' : charOf(unit)));
}

export function unescaped(text: string): Unescaped {
  const pieces: string[] = [];
  const places: number[] = [];
  for (const { 0: piece, 1: byte, 2: unit, 3: slash, index } of text.matchAll(PIECES)) {
    const bytes = byte === undefined ? latinOf(unit === undefined ? (slash ?? piece) : charOf(unit)) : charOf(byte);
    pieces.push(bytes);
    for (let at = 0; at < bytes.length; at += 1) places.push(index);
  }
  return { bytes: pieces.join(''), places };
}
