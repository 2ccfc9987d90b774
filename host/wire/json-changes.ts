import { type Fields, isFields, parseJson } from '../contract/index.ts';
import { CODE, stringEnd } from '../contract/json/json-shape.ts';

/** A member of an object, or an item of a list, in a JSON text: where it begins, its name included, and where its value stands. */
interface Place {
  readonly name: string;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/**
 * The JSON text of `after`, made from that of `before`: what is the same object in both keeps its bytes, whatever blanks, escapes
 * or digits it was written with. `text` is known to be JSON.
 */
export function changedJson(text: string, before: unknown, after: unknown): string {
  return after === before ? text : rendered(text, before, after, firstOf(text, 0));
}

function rendered(text: string, before: unknown, after: unknown, start: number): string {
  if (Array.isArray(before) && Array.isArray(after)) return listText(text, before, after, start);
  if (isFields(before) && isFields(after) && text.charCodeAt(start) === CODE_BRACE)
    return objectText(text, before, after, start);
  return JSON.stringify(after);
}

const CODE_BRACE = CODE.left | CODE.brace;

/** Members keep their order; what is gone goes with the comma beside it, what is new stands at the end. */
function objectText(text: string, before: Readonly<Fields>, after: Readonly<Fields>, start: number): string {
  const { places, end } = placesIn(text, start, true);
  const last = new Map(places.map((place) => [place.name, place]));
  const pieces: string[] = [];
  for (const place of places) {
    const { name } = place;
    if (!Object.hasOwn(after, name) || after[name] === undefined) continue;
    if (after[name] === before[name]) pieces.push(text.slice(place.start, place.end));
    else if (last.get(name) === place)
      pieces.push(
        text.slice(place.start, place.valueStart) + rendered(text, before[name], after[name], place.valueStart),
      );
  }
  for (const [name, value] of Object.entries(after))
    if (!last.has(name) && value !== undefined) pieces.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return joined(text, start, end, places, pieces);
}

/** Items are the same where they are the same object, or stand in the same place of a list as long. In a list of another length a new one is written from the old one that is gone there. */
function listText(text: string, before: readonly unknown[], after: readonly unknown[], start: number): string {
  const { places, end } = placesIn(text, start, false);
  const known = new Map(before.map((item, at) => [item, at]));
  const kept = new Set(after);
  let next = 0;
  const pieces = after.map((item, at) => {
    const gone = next < before.length && !kept.has(before[next]) ? next : undefined;
    const from = before.length === after.length ? at : (known.get(item) ?? gone);
    const place = from === undefined ? undefined : places[from];
    if (!place || from === undefined) return JSON.stringify(item);
    next = from + 1;
    return before[from] === item
      ? text.slice(place.start, place.end)
      : rendered(text, before[from], item, place.valueStart);
  });
  return joined(text, start, end, places, pieces);
}

/** The blanks between members stay where all of them do. */
function joined(text: string, start: number, end: number, places: readonly Place[], pieces: readonly string[]): string {
  if (pieces.length !== places.length) return text[start] + pieces.join(',') + text[end - 1];
  let out = '';
  let at = start;
  for (const [index, place] of places.entries()) {
    out += text.slice(at, place.start) + pieces[index];
    at = place.end;
  }
  return out + text.slice(at, end);
}

function placesIn(
  text: string,
  start: number,
  isObject: boolean,
): { readonly places: readonly Place[]; readonly end: number } {
  const places: Place[] = [];
  let at = firstOf(text, start + 1);
  while (at < text.length && (text.charCodeAt(at) & ~CODE.brace) !== CODE.right) {
    const begin = at;
    let name = '';
    if (isObject) {
      const nameEnd = stringEnd(text, at) + 1;
      name = nameOf(text.slice(at, nameEnd));
      at = firstOf(text, text.indexOf(':', nameEnd) + 1);
    }
    const end = valueEnd(text, at);
    places.push({ name, start: begin, valueStart: at, end });
    at = firstOf(text, end);
    if (text.charCodeAt(at) === CODE.comma) at = firstOf(text, at + 1);
  }
  return { places, end: at + 1 };
}

/** The first character at or behind `at` that is not a blank. */
function firstOf(text: string, at: number): number {
  let first = at;
  while (text.charCodeAt(first) <= 0x20) first += 1; // NaN behind the end
  return first;
}

function valueEnd(text: string, start: number): number {
  const code = text.charCodeAt(start);
  if (code === CODE.quote) return stringEnd(text, start) + 1;
  if ((code & ~CODE.brace) !== CODE.left) {
    let at = start;
    while (at < text.length && !isEnd(text.charCodeAt(at))) at += 1;
    return at;
  }
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const each = text.charCodeAt(at);
    if (each === CODE.quote) at = stringEnd(text, at);
    else if ((each & ~CODE.brace) === CODE.left) depth += 1;
    else if ((each & ~CODE.brace) === CODE.right) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

const isEnd = (code: number): boolean => code <= 0x20 || code === CODE.comma || (code & ~CODE.brace) === CODE.right;

/** A name as the parser reads it. */
function nameOf(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  return String(parseJson(quoted));
}

/** Whether the outermost object of a JSON text has several members of this name. */
export function repeats(text: string, name: string): boolean {
  const { places } = placesIn(text, firstOf(text, 0), true);
  return places.filter((place) => place.name === name).length > 1;
}
