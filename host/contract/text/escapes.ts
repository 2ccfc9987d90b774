/**
 * A text without its JSON escapes, and where each character stood. For guardrails that look into
 * JSON while it arrives, such as the arguments of a call, and must say which characters to hold
 * back.
 */
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
 * yet is left out. An escape that JSON does not know gives the character behind its backslash. A
 * whole JSON text may be given: what stands outside of its strings has no escapes.
 *
 * @param escaped a text that may begin and end anywhere.
 * @returns the text as a reader of the JSON sees it, and where each of its UTF-16 code units came
 * from.
 * @example
 * ```ts
 * import { escapesOf } from 'gw/contract';
 *
 * const { text, places } = escapesOf(String.raw`a\u0062c`); // text: 'abc'
 * export const beginOfC = places[text.indexOf('c')]; // 7
 * ```
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
