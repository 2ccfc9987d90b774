import { isRawNumber } from '../json/json-numbers.ts';

/** UTF-16 code units of a client's text that a message shows. */
const MOST = 64;

/**
 * A client's value as messages show it: texts in quotation marks and in part, lists and objects by
 * their kind only. What a client sends may be as long as a body. For the message of a refusal:
 * `temperature is "warm", which is not a number`.
 *
 * @param value anything out of JSON, or `undefined`.
 * @returns at most 64 code units of a text, in JSON's quotation marks, so that no line break or
 * control character gets into a log line.
 */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(inPart(value, MOST));
  if (Array.isArray(value)) return 'a list';
  if (typeof value !== 'object' || value === null) return String(value);
  return isRawNumber(value) ? numberInPart(JSON.stringify(value)) : 'an object';
}

/** One that JavaScript cannot hold may have any number of digits. */
const numberInPart = (written: string): string => (written.length > MOST ? 'a long number' : written);

/**
 * At most so many UTF-16 code units of a text, and an ellipsis where some are left out. A word that
 * would be cut is left out whole: redaction, which comes later, does not know half a credential.
 *
 * @param text of any length, from outside too.
 * @param most how much is shown. A text of one long word is left out whole, and the ellipsis alone
 * remains.
 */
export function inPart(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).replace(/\S+$/, '')}…` : text;
}
