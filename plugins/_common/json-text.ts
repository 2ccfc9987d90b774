import { escapesOf, type Steps } from 'gw/contract';
import { type Detector, type Found, type Look, STEP, withoutOverlaps } from './detector.ts';

/** A text that may hold JSON escapes. */
const ESCAPED = /^\s*[{["]/;
/** The beginning of a JSON object or array, whole or cut off. */
const CONTAINER = /^\s*(?:\{\s*(?:["}]|$)|\[\s*(?:["{[\]\d-]|$))/;

/** Whether escapes count in a text that begins so. */
export const mayBeEscaped = (head: string): boolean => ESCAPED.test(head);

/** Whether a text that begins so is JSON in which a placeholder needs quotes outside of strings. */
export const isContainer = (head: string): boolean => CONTAINER.test(head);

/** What a detector finds in a text as it is written, and as it reads once the escapes of JSON are resolved; places are those of the written text. */
export function* look(detector: Detector, text: string, isEscaped: boolean): Steps<Look> {
  const { found, open } = yield* lookAt(detector, text);
  if (!isEscaped || !text.includes('\\')) return { found, open };
  const escapes = yield* unescaped(text);
  const placed = (at: number): number => escapes.places[at] ?? text.length;
  const more: Found[] = [];
  const read = yield* lookAt(detector, escapes.text);
  for (const { start, end, kind } of read.found) {
    more.push({ start: placed(start), end: placed(end), kind, value: escapes.text.slice(start, end) });
    if (more.length % STEP === 0) yield;
  }
  return { found: yield* withoutOverlaps(more, found), open: Math.min(open, placed(read.open)) };
}

function* lookAt(detector: Detector, text: string): Steps<Look> {
  if (detector.look) return yield* detector.look(text);
  return { found: yield* detector.find(text), open: detector.open(text) };
}

interface Unescaped {
  readonly text: string;
  readonly places: Int32Array;
}

/** As `escapesOf` has it, piece by piece: an escape that a piece cuts off begins the next one. */
function* unescaped(text: string): Steps<Unescaped> {
  const places = new Int32Array(text.length + 1);
  let read = '';
  for (let at = 0, end = 0; at < text.length; at = end) {
    const piece = escapesOf(text.slice(at, at + STEP));
    for (let place = 0; place < piece.text.length; place += 1)
      places[read.length + place] = at + (piece.places[place] ?? 0);
    read += piece.text;
    end = at + (piece.places.at(-1) ?? 0);
    places[read.length] = end;
    if (end === at) break; // what is left is the beginning of an escape
    if (end < text.length) yield;
  }
  return { text: read, places: places.subarray(0, read.length + 1) };
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
