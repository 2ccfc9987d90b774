import { type Detector, type Found, withoutOverlaps } from '../_common/detector.ts';
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

/** Finds credentials. `entropy` is in bits per character; 0 leaves tokens without a known form alone. */
export function secretDetector(entropy: number): Detector {
  return seeingPlain({
    find: (text) => {
      const found: Found[] = [];
      findPem(text, found);
      findPasswords(text, found);
      findTokens(text, entropy, found);
      return withoutOverlaps(found);
    },
    open: (text) => Math.min(openFrom(text), openPassword(text)),
  });
}

function findPem(text: string, into: Found[]): void {
  let isEndAhead = true; // once none is, none is looked for any more
  for (let at = text.indexOf(PEM); at >= 0;) {
    const body = lastOf(PEM_HEADER, text, at);
    const end: number | undefined = body !== undefined && isEndAhead ? lastOf(PEM_END, text, body) : undefined;
    isEndAhead = body === undefined || end !== undefined;
    const stop = end ?? (body === undefined ? undefined : lastOf(PEM_BODY, text, body));
    if (stop !== undefined) into.push({ start: at, end: stop, kind: 'SECRET' });
    at = text.indexOf(PEM, stop ?? at + 1);
  }
}

/** Where a match ends that begins here, or with a global pattern further on. */
function lastOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Runs of the characters that credentials are made of, long enough to be one. */
function findTokens(text: string, entropy: number, into: Found[]): void {
  let begin = -1;
  for (let at = 0; at <= text.length; at += 1) {
    const isInside = at < text.length && isTokenSign(text.charCodeAt(at));
    if (isInside && begin < 0) begin = at;
    if (isInside || begin < 0) continue;
    if (at - begin >= SHORTEST) judge(text, begin, at, entropy, into);
    begin = -1;
  }
}

function judge(text: string, begin: number, end: number, entropy: number, into: Found[]): void {
  const token = text.slice(begin, end);
  const known = KEYS.exec(token);
  if (known) {
    into.push({ start: begin + known.index, end: begin + known.index + known[0].length, kind: 'SECRET' });
    return;
  }
  if (entropy === 0 || end - begin < SHORTEST_RANDOM || isAddress(text, begin, end)) return;
  let start = begin;
  for (const part of token.split('.')) {
    if (part.length >= SHORTEST_RANDOM && isRandom(part, entropy))
      into.push({ start, end: start + part.length, kind: 'SECRET' });
    start += part.length + 1;
  }
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
  const pem: Found[] = [];
  findPem(text, pem);
  const last = pem.at(-1);
  if (last?.end === text.length) open = Math.min(open, last.start);
  const header = text.lastIndexOf(PEM);
  return header >= 0 &&
    OPEN_HEADER.test(text.slice(header, header + LONGEST_HEADER)) &&
    text.length - header < LONGEST_HEADER
    ? Math.min(open, header)
    : open;
}
