/** The bytes of a text in UTF-8, one character each, so that a place in them is one place in the text, whatever was encoded there. */
export interface Unescaped {
  readonly bytes: string;
  /** Where in the text the piece begins that each byte comes from. */
  readonly places: readonly number[];
}

/** A character that is percent-encoded, however often, or one that is not. */
const PIECES = /%(?:25)*([0-9a-f]{2})|[^]/giu;

export function latinOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

export function unescaped(text: string): Unescaped {
  const pieces: string[] = [];
  const places: number[] = [];
  for (const { 0: piece, 1: hex, index } of text.matchAll(PIECES)) {
    const bytes = hex === undefined ? latinOf(piece) : String.fromCharCode(Number.parseInt(hex, 16));
    pieces.push(bytes);
    for (let at = 0; at < bytes.length; at += 1) places.push(index);
  }
  return { bytes: pieces.join(''), places };
}
