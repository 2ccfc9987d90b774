import { atOnce, type Steps } from 'gw/contract';
import { type Detector, type Found, STEP, withoutOverlaps } from '../_common/detector.ts';
import { seeingPlain } from '../_common/plain-text.ts';
import { isRandom } from './entropy.ts';
import { findPasswords, openPassword } from './passwords.ts';
import { KEYS } from './keys.ts';

/** Shorter than any credential that is known by its form, and than tokens that are judged by how random they are. */
const SHORTEST = 16;
const SHORTEST_RANDOM = 20;
const PEM = '-----BEGIN ';
const PEM_HEADER = /-----BEGIN (?:[A-Z\d]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----/y;
/** One that has not ended. */
const OPEN_HEADER = /^-----BEGIN [A-Z\d ]*-{0,5}$/;
const LONGEST_HEADER = 80;
const PEM_END = /-----END (?:[A-Z\d]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----/g;
/** What stands between the lines of a key whose end is missing: base64, line ends (escaped too) and header fields. */
const PEM_BODY = /(?:[A-Za-z\d+/=\s\\:,-])*/y;
const DASH = 0x2d;
/** Places that are looked at before others may be served. */
const LOOKS = 64;

/** Finds credentials. `entropy` is in bits per character; 0 leaves tokens without a known form alone. */
export function secretDetector(entropy: number): Detector {
  return seeingPlain({
    *find(text) {
      return yield* withoutOverlaps(yield* findPem(text), yield* findPasswords(text), yield* findTokens(text, entropy));
    },
    open: (text) => Math.min(openFrom(text), openPassword(text)),
  });
}

function* findPem(text: string): Steps<readonly Found[]> {
  const found: Found[] = [];
  let looked = 1;
  let isEndAhead = true; // once none is, none is looked for any more
  for (let at = text.indexOf(PEM); at >= 0; looked += 1) {
    const body = lastOf(PEM_HEADER, text, at);
    const end: number | undefined = body !== undefined && isEndAhead ? lastOf(PEM_END, text, body) : undefined;
    isEndAhead = body === undefined || end !== undefined;
    const stop = end ?? (body === undefined ? undefined : lastOf(PEM_BODY, text, body));
    if (stop !== undefined) found.push({ start: at, end: stop, kind: 'SECRET' });
    at = text.indexOf(PEM, stop ?? at + 1);
    if (looked % LOOKS === 0) yield;
  }
  return found;
}

/** Where a match ends that begins here, or with a global pattern further on. */
function lastOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Runs of the characters that credentials are made of, long enough to be one. */
function* findTokens(text: string, entropy: number): Steps<readonly Found[]> {
  const found: Found[] = [];
  let stop = STEP;
  let begin = -1;
  for (let at = 0; at <= text.length; at += 1) {
    const isInside = at < text.length && isTokenSign(text.charCodeAt(at));
    if (at >= stop) {
      stop = at + STEP;
      yield;
    }
    if (isInside && begin < 0) begin = at;
    if (isInside || begin < 0) continue;
    if (at - begin >= SHORTEST) yield* judge(text, begin, at, entropy, found);
    begin = -1;
  }
  return found;
}

function* judge(text: string, begin: number, end: number, entropy: number, into: Found[]): Steps<void> {
  const token = text.slice(begin, end);
  const known = yield* knownKey(token);
  if (known) {
    into.push({ start: begin + known[0], end: begin + known[1], kind: 'SECRET' });
    return;
  }
  if (entropy === 0 || end - begin < SHORTEST_RANDOM || isAddress(text, begin, end)) return;
  let start = begin;
  for (const part of token.split('.')) {
    if (part.length >= SHORTEST_RANDOM && (yield* isRandom(part, entropy)))
      into.push({ start, end: start + part.length, kind: 'SECRET' });
    start += part.length + 1;
  }
}

/** Characters of a longer token that are searched at a time, and how many of them once more: no key is that long. */
const LONG_TOKEN = 512 * 1024;
const OVERLAP = 64 * 1024;

/** Where the first key of a known form stands in a token. One that a piece cuts off is found in the next, unless it is longer than what they share. */
function* knownKey(token: string): Steps<readonly [start: number, end: number] | undefined> {
  for (let at = 0; ; at += LONG_TOKEN - OVERLAP) {
    const offset = Math.max(0, at - 1); // whether a key may begin depends on what is in front of it
    const end = Math.min(at + LONG_TOKEN, token.length);
    const known = firstFrom(KEYS, token.slice(offset, end), at - offset);
    const start = offset + (known?.index ?? 0);
    const stop = start + (known?.[0].length ?? 0);
    if (known && (stop < end || end === token.length || start < end - OVERLAP)) return [start, stop];
    if (end === token.length) return undefined;
    yield;
  }
}

function firstFrom(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const MOST_ADDRESS = 512;

/** Whether a token is part of an address: paths and file names in it are random to the eye, and no secret. */
function isAddress(text: string, start: number, end: number): boolean {
  let begin = start;
  while (begin > 0 && start - begin < MOST_ADDRESS && text.charCodeAt(begin - 1) > 0x20) begin -= 1;
  return /:\/\/|\bwww\.|^data:/.test(text.slice(begin, Math.min(end, start + MOST_ADDRESS)));
}

/** `A-Za-z0-9+/=_-`, and the dots that some forms have between their parts. */
function isTokenSign(code: number): boolean {
  return (
    (code >= 48 && code <= 57) ||
    ((code | 32) >= 97 && (code | 32) <= 122) ||
    code === 0x5f ||
    code === DASH ||
    code === 0x2b ||
    code === 0x2f ||
    code === 0x3d ||
    code === 0x2e
  );
}

/** The last token; a key of several lines from its beginning on. */
function openFrom(text: string): number {
  let open = text.length;
  while (open > 0 && isTokenSign(text.charCodeAt(open - 1))) open -= 1;
  const last = atOnce(findPem(text)).at(-1);
  if (last?.end === text.length) open = Math.min(open, last.start);
  const header = text.lastIndexOf(PEM);
  return header >= 0 &&
    OPEN_HEADER.test(text.slice(header, header + LONGEST_HEADER)) &&
    text.length - header < LONGEST_HEADER
    ? Math.min(open, header)
    : open;
}
