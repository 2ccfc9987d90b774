/**
 * What a scan says of a text that may still grow: a match, or how many characters at its end could
 * become part of one. Too small a `keep` lets the first half of a match through; too large a one
 * only makes the client wait.
 */
export interface Scan {
  /** True where the text holds what must not be delivered. */
  readonly isMatch: boolean;
  /**
   * Characters at the end of the text that could be the beginning of a match: they are held back.
   */
  readonly keep: number;
}

/**
 * One text of a stream on its way: takes the next piece, and gives back what may go on now.
 * `isLast` is the end of the text: it gives back the rest. `undefined` ends the stream. It may
 * change the text, and need not give back as much as it took. Pieces end anywhere, between the
 * halves of a surrogate pair too.
 */
export interface TextFilter {
  (piece: string, isLast: boolean): string | undefined;
  /**
   * Gives out all that is held, because something else follows it in the answer, and goes on with
   * the same text, knowing what went before: a match that began there ends the stream with its last
   * piece. `undefined` ends the stream at once. A filter without it is ended where something else
   * follows, and what the text goes on with gets a new one.
   */
  release?(): string | undefined;
}

/**
 * Most characters that are held of one text: beyond them it is decided as if it ended. Without it a
 * model that never ends a word could fill the memory of the process.
 */
export const MOST_HELD = 1024 * 1024;

/**
 * Holds back what `scan` says could become a match. What was released stays in its sight.
 *
 * @param scan sees what is held, the new piece, and as much of what was released as it still wants
 * to keep. It must not take time out of proportion to that text.
 * @returns a filter for one text; it changes nothing, and ends the stream at a match.
 */
export function windowFilter(scan: (text: string) => Scan): TextFilter {
  let released = '';
  let held = '';
  const filter = (piece: string, isLast: boolean): string | undefined => {
    if (isLast) return held;
    const text = released + held + piece;
    const { isMatch, keep } = scan(text);
    if (isMatch) return undefined;
    const begin = released.length;
    const cut = cutBefore(text, text.length - Math.min(keep, text.length));
    const from = text.length - begin > MOST_HELD ? text.length : Math.max(cut, begin);
    released = cut < from ? text.slice(cut, begin) : '';
    held = text.slice(from);
    return text.slice(begin, from);
  };
  const release = (): string => {
    const out = held;
    released += held;
    held = '';
    return out;
  };
  return Object.assign(filter, { release });
}

/** Never between the halves of a surrogate pair. */
function cutBefore(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
