import { escapesOf } from 'gw/contract';
import { type Detector, type Found, withoutOverlaps } from './detector.ts';

/** A text that may hold JSON escapes. */
const ESCAPED = /^\s*[{["]/;
/** The beginning of a JSON object or array, whole or cut off. */
const CONTAINER = /^\s*(?:\{\s*(?:["}]|$)|\[\s*(?:["{[\]\d-]|$))/;

/** Whether escapes count in a text that begins so. */
export const mayBeEscaped = (head: string): boolean => ESCAPED.test(head);

/** Whether a text that begins so is JSON in which a placeholder needs quotes outside of strings. */
export const isContainer = (head: string): boolean => CONTAINER.test(head);

export interface Seen {
  readonly found: readonly Found[];
  /** From where on more text may change what is found. */
  readonly open: number;
}

/** What a detector finds in a text as it is written, and as it reads once the escapes of JSON are resolved; places are those of the written text. */
export function look(detector: Detector, text: string, isEscaped: boolean): Seen {
  const found = detector.find(text);
  const open = detector.open(text);
  if (!isEscaped || !text.includes('\\')) return { found, open };
  const escapes = escapesOf(text);
  const placed = (at: number): number => escapes.places[at] ?? text.length;
  const more = detector.find(escapes.text).map(({ start, end, kind }): Found => ({
    start: placed(start),
    end: placed(end),
    kind,
    value: escapes.text.slice(start, end),
  }));
  return { found: withoutOverlaps([...more, ...found]), open: Math.min(open, placed(detector.open(escapes.text))) };
}

/** Follows a JSON text, to know whether a place in it is inside a string. */
export class StringTracker {
  isInside = false;
  #isAfterBackslash = false;

  follow(text: string): void {
    for (const character of text) {
      if (this.#isAfterBackslash) this.#isAfterBackslash = false;
      else if (character === '"') this.isInside = !this.isInside;
      else if (character === '\\') this.#isAfterBackslash = this.isInside;
    }
  }
}
