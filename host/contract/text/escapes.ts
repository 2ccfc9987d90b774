/** A text without its JSON escapes, and where each character stood. */
export interface Escapes {
  /** The text with its escapes resolved. */
  readonly text: string;
  /** By place in `text`: the place in the escaped text; one more for its end. */
  readonly places: readonly number[];
}

const CONTROLS: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', '\b'],
  ['f', '\f'],
]);
const ESCAPE = /\\(?:u([\da-f]{4})|([^]))/gi;

/**
 * Resolves the escapes of JSON strings, wherever they stand in a text. An escape that has not ended
 * yet is left out.
 */
export function escapesOf(escaped: string): Escapes {
  const places: number[] = [];
  let text = '';
  let at = 0;
  const plain = (end: number): void => {
    text += escaped.slice(at, end);
    for (; at < end; at += 1) places.push(at);
  };
  for (const { index, 0: escape, 1: code, 2: character = '' } of escaped.matchAll(ESCAPE)) {
    plain(index);
    if (code === undefined && /u/i.test(character) && index + 6 > escaped.length) break;
    text +=
      code === undefined ? (CONTROLS.get(character) ?? character) : String.fromCharCode(Number.parseInt(code, 16));
    places.push(index);
    at = index + escape.length;
  }
  plain(unfinishedFrom(escaped, at));
  places.push(at);
  return { text, places };
}

/** Where an escape begins that the text's end cuts off. */
function unfinishedFrom(escaped: string, at: number): number {
  const begin = escaped.indexOf('\\', at);
  return begin < 0 ? escaped.length : begin;
}
