import { type Container, isContainer, isExact, restoreNumbers } from './json-numbers.ts';
import { type JsonBounds, MAX_DEPTH, mayBeTooDeep, shapeProblem, TEXT_BOUNDS, TOO_DEEP } from './json-shape.ts';

/**
 * Characters of a text that is not searched before its values are walked: it is mostly long
 * strings, which a walk passes over.
 */
const LONG = 1_000_000;

/**
 * Parses a JSON text from outside. Throws a `SyntaxError` for what is not JSON, and a `RangeError`
 * that says why for what is nested deeper than 256 levels, or holds more than `bounds` (25,000
 * members of one object, 250,000 of all, 1,000,000 lists and objects): it is not parsed at all
 * where that alone would do harm. Take it for everything that a client or an upstream wrote, in
 * place of `JSON.parse`: what you then do with the value may recurse without asking how deep it
 * goes.
 *
 * @param text the whole JSON; blanks around it do not matter, a mark of byte order is not taken.
 * @param bounds other ones than those of a request, for answers that are known to be large.
 * @returns the value, with `__proto__` as a member like any other. Numbers are doubles: digits
 * beyond 2^53 are lost, see `parseExactJson`.
 */
export function parseJson(text: string, bounds: JsonBounds = TEXT_BOUNDS): unknown {
  const value = parsed(text, bounds);
  if ((text.length > LONG || mayBeTooDeep(text)) && isContainer(value) && look(value, MAX_DEPTH) === DEEP)
    throw new RangeError(TOO_DEEP);
  return value;
}

/**
 * Parses a text as `parseJson` does; integers beyond 2^53 and numbers beyond the range of a double
 * become raw JSON (`JSON.rawJSON`), so that they leave digit for digit. They cost only where they
 * stand; a text that holds more than 250,000 of them is refused as too large. For bodies that go
 * on: an id of twenty digits, a seed of 64 bits. Code that reads numbers of such a value asks
 * `isRawNumber` before it takes an object for one with members.
 */
export function parseExactJson(text: string, bounds: JsonBounds = TEXT_BOUNDS): unknown {
  const value = parsed(text, bounds);
  if (!isContainer(value)) return value;
  const found = look(value, MAX_DEPTH);
  if (found === DEEP) throw new RangeError(TOO_DEEP);
  if (found === INEXACT) restoreNumbers(text, value);
  return value;
}

/**
 * What `parseJson` gives, and `undefined` for what is not JSON, is nested too deep or holds too
 * much. `undefined` is never a value of JSON, so the answer is not ambiguous; the text `null` gives
 * `null`. Use it where a text may be JSON or not, and `parseJson` where the difference has to be
 * reported.
 */
export function tryParseJson(text: string): unknown {
  if (text === '') return undefined; // a failure takes five microseconds, and a stream may hold millions of events without data
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The value of a text whose shape is within the bounds. */
function parsed(text: string, bounds: JsonBounds): unknown {
  const problem = shapeProblem(text, bounds);
  if (problem !== undefined) throw new RangeError(problem);
  return JSON.parse(text);
}

const FINE = 0;
const INEXACT = 1;
const DEEP = 2;

/**
 * One look at every value: is something nested deeper than these levels, is a number not what was
 * written?
 */
function look(value: Container, levels: number): number {
  let found = FINE;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && found < DEEP; at += 1) found = Math.max(found, lookAt(value[at], levels));
    return found;
  }
  for (const name in value) {
    found = Math.max(found, lookAt(value[name], levels));
    if (found === DEEP) return found;
  }
  return found;
}

function lookAt(member: unknown, levels: number): number {
  if (typeof member === 'number') return isExact(member) ? FINE : INEXACT;
  if (!isContainer(member)) return FINE;
  return levels === 1 ? DEEP : look(member, levels - 1);
}
