/**
 * An object of JSON whose members are not known yet. Members that are not there read as
 * `undefined`, and so do those that every object inherits only with `memberOf`: a name from outside
 * may be `constructor`.
 */
export type Fields = Record<string, unknown>;

/**
 * Whether a value out of JSON is an object: neither a list nor null. True also for numbers that
 * were kept as they were written (see `isRawNumber`), because those are objects: ask for them first
 * where they matter.
 */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether a value is a text that holds something. For ids and names, of which an empty one is as
 * good as none.
 */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/**
 * Whether a value is a place in a list. 0 and above, and exact: vendors send fractions, texts and
 * negative numbers in such places.
 */
export const isIndex = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/**
 * A count as it is stated from outside: a number above 0 that is exact, and 0 for anything else.
 * For token counts and sizes of an upstream, where a mistake must not spread into sums: texts,
 * `NaN`, infinities and numbers beyond 2^53 - 1 count as nothing. A fraction stays.
 */
export function countOf(value: unknown): number {
  return typeof value === 'number' && value > 0 && value <= Number.MAX_SAFE_INTEGER ? value : 0;
}

/**
 * A part of an address, decoded; the text as it is where a percent sign encodes nothing.
 *
 * @param text a part between two separators. One that holds an escaped separator gets it back, so
 * split before you decode.
 * @returns the text; never throws, unlike `decodeURIComponent`.
 */
export function decodedUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Ids, signatures and sealed data: one run of characters without a meaning in any language. An
 * empty text is one as well, and so is a single word: what looks like this is not worth a
 * guardrail's look where the wire defines the place.
 */
export const TOKEN = /^[\w+/=.:-]*$/;

/** Whether a string that stands beside the texts of an answer is an id or a word. */
export const isLabel = (value: unknown): boolean => typeof value === 'string' && TOKEN.test(value);
