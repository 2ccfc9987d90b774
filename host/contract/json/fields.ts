/** An object of JSON whose members are not known yet. */
export type Fields = Record<string, unknown>;

/** Whether a value out of JSON is an object: neither a list nor null. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value is a text that holds something. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Whether a value is a place in a list. */
export const isIndex = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/**
 * A count as it is stated from outside: a number above 0 that is exact, and 0 for anything else.
 */
export function countOf(value: unknown): number {
  return typeof value === 'number' && value > 0 && value <= Number.MAX_SAFE_INTEGER ? value : 0;
}

/** A part of an address, decoded; the text as it is where a percent sign encodes nothing. */
export function decodedUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Ids, signatures and sealed data: one run of characters without a meaning in any language. */
export const TOKEN = /^[\w+/=.:-]*$/;

/** Whether a string that stands beside the texts of an answer is an id or a word. */
export const isLabel = (value: unknown): boolean => typeof value === 'string' && TOKEN.test(value);
