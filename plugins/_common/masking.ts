import {
  atOnce,
  editTexts,
  type Exchange,
  isChat,
  mask,
  reject,
  type Steps,
  SURFACES,
  type TextFilter,
  texts,
  textsIn,
  type Verdict,
} from 'gw/contract';
import { type Detector, type Found, STEP } from './detector.ts';
import { isContainer, look, mayBeEscaped, StringTracker } from './json-text.ts';
import type { Placeholders } from './placeholders.ts';
import { Pace } from './turns.ts';

/** Characters in front of the held text that a detector sees again: whether a word begins there, and which came before it. */
const CONTEXT = 512;
/** From this size on, held text is looked at again only once it has grown by an eighth: the work stays in proportion. */
const LARGE = 512;
const HEAD = 64;
/** Longer than anything that is looked for; text without an end is not held for ever, and a look at it is short. */
const MOST_HELD = 128 * 1024;

/** What stands in the place of something found; `undefined` refuses the text. */
type Replace = (kind: string, value: string) => string | undefined;

/** Whether anything is found in the exchange's texts, or in those of another body of it. */
export function* isFound(exchange: Exchange, detector: Detector, body?: unknown): Steps<boolean> {
  const pace = new Pace();
  for (const text of body === undefined ? texts(exchange) : textsIn(exchange, body)) {
    if ((yield* detector.find(text)).length > 0) return true;
    if (pace.isDue(text)) yield;
  }
  return false;
}

/** Masks what is found in a request or an answer; refuses where a body is not rewritten, and what no rewriting of single texts reaches. */
export function* maskExchange(
  exchange: Exchange,
  detector: Detector,
  placeholders: Placeholders,
  what: string,
): Steps<Verdict | undefined> {
  if (!(yield* isFound(exchange, detector))) return undefined;
  if (!isChat(exchange)) return reject(`${what} found, which cannot be masked on ${SURFACES[exchange.surface].tag}`);
  const edits = yield* editsOf(exchange, detector, placeholders);
  const body = editTexts(exchange, (text) => edits.get(text) ?? text);
  if (!body || (yield* isFound(exchange, detector, body))) return reject(`${what} found where it cannot be masked`);
  return mask(body, `${what} masked`);
}

/** What becomes of the texts in which something is found, in their order. */
function* editsOf(
  exchange: Exchange,
  detector: Detector,
  placeholders: Placeholders,
): Steps<ReadonlyMap<string, string>> {
  const all = new Set<string>();
  editTexts(exchange, (text) => {
    all.add(text);
    return text;
  });
  const edits = new Map<string, string>();
  const pace = new Pace();
  for (const text of all) {
    const edited = yield* masked(text, detector, placeholders);
    if (edited !== text) edits.set(text, edited);
    if (pace.isDue(text)) yield;
  }
  return edits;
}

function* masked(text: string, detector: Detector, placeholders: Placeholders): Steps<string> {
  const head = text.slice(0, HEAD);
  const { found } = yield* look(detector, text, mayBeEscaped(head));
  const replacing = new Replacing((kind, value) => placeholders.of(kind, value));
  return (yield* replacing.run(text, found, 0, isContainer(head))) ?? text;
}

/** One text, in which what is found is replaced. In JSON a placeholder that does not stand inside a string is written as one. */
class Replacing {
  readonly #replace: Replace;
  readonly #strings = new StringTracker();

  constructor(replace: Replace) {
    this.#replace = replace;
  }

  /** The next piece of the text, which begins at `offset` of the places that are given. */
  *run(text: string, found: readonly Found[], offset: number, isJson: boolean): Steps<string | undefined> {
    let out = '';
    let at = 0;
    let replaced = 0;
    for (const { start, end, kind, value } of found) {
      out += yield* this.#plain(text.slice(at, start - offset), isJson);
      const placeholder = this.#replace(kind, value ?? text.slice(start - offset, end - offset));
      if (placeholder === undefined) return undefined;
      out += isJson && !this.#strings.isInside ? JSON.stringify(placeholder) : placeholder;
      at = end - offset;
      replaced += 1;
      if (replaced % 1024 === 0) yield;
    }
    return out + (yield* this.#plain(text.slice(at), isJson));
  }

  *#plain(piece: string, isJson: boolean): Steps<string> {
    if (!isJson) return piece;
    for (let at = 0; at < piece.length; at += STEP) {
      this.#strings.follow(piece.slice(at, at + STEP));
      if (at + STEP < piece.length) yield;
    }
    return piece;
  }
}

/** One text of a stream: holds back what may still become something that is found, and replaces what is. */
export function spanFilter(detector: Detector, replace: Replace): TextFilter {
  const replacing = new Replacing(replace);
  let head = '';
  let before = '';
  let held = '';
  let lookAgainAt = 0;
  /** Characters that have gone on, and how many of them were released before it was clear what they begin. */
  let passed = 0;
  let released = 0;

  /** Gives out the held text, all of it or what nothing can change any more; `undefined` where something found begins in what has been released. */
  const giveOut = (isAll: boolean): string | undefined => {
    const offset = before.length;
    const seen = atOnce(look(detector, before + held, mayBeEscaped(head)));
    const boundary = released - passed + offset;
    if (released > 0 && seen.found.some(({ start, end }) => start < boundary && end > boundary)) return undefined;
    const found = seen.found.filter(({ start }) => start >= offset);
    const cut = isAll ? offset + held.length : cutOf(seen.open, found, offset);
    const text = held.slice(0, cut - offset);
    const inside = found.filter(({ end }) => end <= cut);
    const out = atOnce(replacing.run(text, inside, offset, isContainer(head)));
    before = (before + text).slice(-CONTEXT);
    held = held.slice(text.length);
    passed += text.length;
    lookAgainAt = held.length < LARGE ? 0 : held.length + (held.length >> 3);
    return out;
  };

  const filter = (piece: string, isLast: boolean): string | undefined => {
    held += piece;
    if (head.length < HEAD) head += piece.slice(0, HEAD);
    if (!isLast && held.length < lookAgainAt && held.length <= MOST_HELD) return '';
    const out = giveOut(isLast);
    return out === undefined || held.length <= MOST_HELD ? out : joined(out, giveOut(true));
  };
  const release = (): string | undefined => {
    if (held === '') return '';
    const out = giveOut(true);
    released = passed;
    return out;
  };
  return Object.assign(filter, { release });
}

const joined = (before: string, rest: string | undefined): string | undefined =>
  rest === undefined ? undefined : before + rest;

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
