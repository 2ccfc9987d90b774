/** What is read of an event that goes on as it came: its JSON where that is small, else what its end says of its use. */
import { type Fields, isFields, tryParseJson } from '../../contract/index.ts';

/** Characters of an event that are parsed at most, from its end on: before them stands an image. */
export const MAX_PARSED = 64 * 1024;

/** Members that are looked at, from the last one: each may take a walk to the end. */
const MOST_TRIES = 8;

const USAGE = '"usage"';
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** The members of an event's data; of a long one `usage` alone, where that stands in its end. */
export function membersOf(data: string): Readonly<Fields> | undefined {
  if (data.length > MAX_PARSED) return usageIn(data.slice(-MAX_PARSED));
  const value = tryParseJson(data);
  return isFields(value) ? value : undefined;
}

/** The last member of this name. Inside of a text its quotes would have a backslash before them. */
function usageIn(tail: string): Readonly<Fields> | undefined {
  let tries = 0;
  for (let at = tail.lastIndexOf(USAGE); at >= 0; at = at === 0 ? -1 : tail.lastIndexOf(USAGE, at - 1)) {
    tries += 1;
    if (tries > MOST_TRIES) return undefined;
    const begin = /^\s*:\s*(?=\{)/.exec(tail.slice(at + USAGE.length, at + USAGE.length + 64))?.[0].length;
    if (begin === undefined || tail.charCodeAt(at - 1) === BACKSLASH) continue;
    const start = at + USAGE.length + begin;
    const usage = tryParseJson(tail.slice(start, endOfObject(tail, start)));
    if (isFields(usage)) return { usage, ...lookIn('size', SIZE, tail), ...lookIn('quality', QUALITY, tail) };
  }
  return undefined;
}

/** Members of an image that say what it looks like, beside its usage. */
const SIZE = /(?<!\\)"size"\s*:\s*"([^"\\]{1,32})"/;
const QUALITY = /(?<!\\)"quality"\s*:\s*"([^"\\]{1,32})"/;

function lookIn(name: string, member: RegExp, tail: string): Readonly<Fields> {
  const found = member.exec(tail)?.[1];
  return found === undefined ? {} : { [name]: found };
}

/** Behind the brace that closes the object at `start`; 0 where none does. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let isInside = false;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isInside && code === BACKSLASH) at += 1;
    else if (code === QUOTE) isInside = !isInside;
    else if (isInside) continue;
    else if (code === OPEN) depth += 1;
    else if (code === CLOSE) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return 0;
}
