import { isRawNumber } from '../json/json-numbers.ts';

/** UTF-16 code units of a client's text that a message shows. */
const MOST = 64;

/**
 * A client's value as messages show it: texts in quotation marks and in part, lists and objects by
 * their kind only. What a client sends may be as long as a body.
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
 */
export function inPart(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).replace(/\S+$/, '')}…` : text;
}
