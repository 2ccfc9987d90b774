import {
  editTexts,
  type Exchange,
  isChat,
  mask,
  reject,
  SURFACES,
  type TextFilter,
  texts,
  textsIn,
  type Verdict,
} from 'gw/contract';
import type { Detector, Found } from './detector.ts';
import { isContainer, look, mayBeEscaped, StringTracker } from './json-text.ts';
import type { Placeholders } from './placeholders.ts';

/** Characters in front of the held text that a detector sees again: whether a word begins there, and which came before it. */
const CONTEXT = 512;
/** From this size on, held text is looked at again only once it has grown by an eighth: the work stays in proportion. */
const LARGE = 512;
const HEAD = 64;
/** Longer than anything that is looked for; text without an end is not held for ever. */
const MOST_HELD = 1024 * 1024;

/** What stands in the place of something found; `undefined` refuses the text. */
type Replace = (kind: string, value: string) => string | undefined;

/** Whether anything is found in the exchange's texts. */
export function isFound(exchange: Exchange, detector: Detector, body?: unknown): boolean {
  for (const text of body === undefined ? texts(exchange) : textsIn(exchange, body))
    if (detector.find(text).length > 0) return true;
  return false;
}

/** Masks what is found in a request or an answer; refuses where a body is not rewritten, and what no rewriting of single texts reaches. */
export function maskExchange(
  exchange: Exchange,
  detector: Detector,
  placeholders: Placeholders,
  what: string,
): Verdict | undefined {
  if (!isFound(exchange, detector)) return undefined;
  if (!isChat(exchange)) return reject(`${what} found, which cannot be masked on ${SURFACES[exchange.surface].tag}`);
  const body = editTexts(exchange, (text) => masked(text, detector, placeholders));
  if (!body || isFound(exchange, detector, body)) return reject(`${what} found where it cannot be masked`);
  return mask(body, `${what} masked`);
}

function masked(text: string, detector: Detector, placeholders: Placeholders): string {
  const filter = spanFilter(detector, (kind, value) => placeholders.of(kind, value));
  return filter(text, true) ?? text;
}

/**
 * One text of a stream: holds back what may still become something that is found, and replaces what is. In JSON a placeholder
 * that does not stand inside a string is written as one.
 */
export function spanFilter(detector: Detector, replace: Replace): TextFilter {
  const strings = new StringTracker();
  let head = '';
  let before = '';
  let held = '';
  let lookAgainAt = 0;
  /** Characters that have gone on, and how many of them were released before it was clear what they begin. */
  let passed = 0;
  let released = 0;

  const replaced = (text: string, found: readonly Found[], offset: number): string | undefined => {
    const isJson = isContainer(head);
    let out = '';
    let at = 0;
    const plain = (end: number): void => {
      const piece = text.slice(at, end);
      if (isJson) strings.follow(piece);
      out += piece;
    };
    for (const { start, end, kind, value } of found) {
      plain(start - offset);
      const placeholder = replace(kind, value ?? text.slice(start - offset, end - offset));
      if (placeholder === undefined) return undefined;
      out += isJson && !strings.isInside ? JSON.stringify(placeholder) : placeholder;
      at = end - offset;
    }
    plain(text.length);
    return out;
  };

  /** Gives out the held text, all of it or what nothing can change any more; `undefined` where something found begins in what has been released. */
  const giveOut = (isAll: boolean): string | undefined => {
    const offset = before.length;
    const seen = look(detector, before + held, mayBeEscaped(head));
    const boundary = released - passed + offset;
    if (released > 0 && seen.found.some(({ start, end }) => start < boundary && end > boundary)) return undefined;
    const found = seen.found.filter(({ start }) => start >= offset);
    const cut = isAll ? offset + held.length : cutOf(seen.open, found, offset);
    const text = held.slice(0, cut - offset);
    const out = replaced(
      text,
      found.filter(({ end }) => end <= cut),
      offset,
    );
    before = (before + text).slice(-CONTEXT);
    held = held.slice(text.length);
    passed += text.length;
    lookAgainAt = held.length < LARGE ? 0 : held.length + (held.length >> 3);
    return out;
  };

  const filter = (piece: string, isLast: boolean): string | undefined => {
    held += piece;
    if (head.length < HEAD) head += piece.slice(0, HEAD);
    const isWhole = isLast || held.length > MOST_HELD;
    if (!isWhole && held.length < lookAgainAt) return '';
    return giveOut(isWhole);
  };
  const release = (): string | undefined => {
    if (held === '') return '';
    const out = giveOut(true);
    released = passed;
    return out;
  };
  return Object.assign(filter, { release });
}

/** Not within something found, nor between the halves of a surrogate pair, which no detector begins with. */
function cutOf(open: number, found: readonly Found[], offset: number): number {
  let cut = open;
  for (const { start, end } of found) if (start < cut && end > cut) cut = start;
  return Math.max(cut, offset);
}

/** One text of a stream: puts values in the places of their placeholders. */
export function restoreFilter(placeholders: Placeholders, onRestored: () => void): TextFilter {
  let held = '';
  const giveOut = (cut: number): string => {
    const text = held.slice(0, cut);
    held = held.slice(cut);
    const restored = placeholders.restored(text);
    if (restored !== text) onRestored();
    return restored;
  };
  const filter = (piece: string, isLast: boolean): string => {
    held += piece;
    return giveOut(isLast ? held.length : placeholders.open(held));
  };
  return Object.assign(filter, { release: () => giveOut(held.length) }); // a placeholder that is cut there stays as it is written
}
