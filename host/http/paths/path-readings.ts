/** Longest path that is read: no vendor has one that comes near. Bytes. */
export const MAX_PATH = 8192;

/** How many texts a path may be read as, and how long they may be together, before it counts as unreadable: honest ones have one or two. */
const MAX_READINGS = 64;
const MAX_CHARACTERS = 65_536;

export const DECODES = /%[\da-f]{2}/i;

/** An escape, and the form beside the standard that servers of Microsoft's take. */
const ESCAPE = /%u([\da-f]{4})|%([\da-f]{2})/gi;
const IS_ESCAPED = /%u?[\da-f]{2}/i;
/** ASCII in more bytes than UTF-8 allows: lenient decoders read the character. */
const LONG_FORMS = /[\xc0\xc1][\x80-\xbf]|\xe0[\x80\x81][\x80-\xbf]|\xf0\x80[\x80\x81][\x80-\xbf]/g;
const BEYOND_ASCII = /[\x80-\xff]/;
/** Slashes that the normal form of Unicode leaves as they are, and some servers do not: U+2044, U+2215, U+2216. */
const WIDE_SLASHES = /[\u2044\u2215\u2216]/g;
/** Characters without a width, and bytes that are not UTF-8: some servers drop them. */
const DROPPED = /[\p{Cf}\ufffd]/gu;

/** Percent-decoded once: a character for each byte, and those that stand for plain ones as these. */
export function decoded(path: string): string {
  const bytes = bytesOf(path);
  return BEYOND_ASCII.test(bytes) ? folded(shortened(bytes)) : bytes;
}

/** Percent-decoded once, a character for each byte. */
function bytesOf(path: string): string {
  return path.replace(ESCAPE, (_escape, wide: string | undefined, code: string | undefined) =>
    wide === undefined
      ? String.fromCharCode(Number.parseInt(code ?? '', 16))
      : utf8Of(String.fromCharCode(Number.parseInt(wide, 16))),
  );
}

const shortened = (bytes: string): string => bytes.replace(LONG_FORMS, shortOf);

const utf8Of = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

function shortOf(long: string): string {
  const [last, before] = [long.charCodeAt(long.length - 1), long.charCodeAt(long.length - 2)];
  return String.fromCharCode(((before & 0b11) << 6) | (last & 0b11_1111));
}

/** As servers that normalise Unicode read it, and those that drop what they cannot. */
function folded(bytes: string): string {
  return utf8Of(textOf(bytes).normalize('NFKC').replace(WIDE_SLASHES, '/').replace(DROPPED, ''));
}

const textOf = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

/** As servers read it that keep one byte of each character: U+0163 is `c` to them. */
const narrowed = (bytes: string): string => Buffer.from(textOf(bytes), 'latin1').toString('latin1');

/** What one server or another does with a path before it looks at it. */
const STEPS: readonly ((path: string) => string)[] = [
  (path) => (IS_ESCAPED.test(path) ? bytesOf(path) : path),
  (path) => (BEYOND_ASCII.test(path) ? shortened(path) : path),
  (path) => (BEYOND_ASCII.test(path) ? folded(path) : path),
  (path) => (BEYOND_ASCII.test(path) ? narrowed(path) : path),
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replace(/;[^/]*/g, ''), // parameters of a segment
  (path) => path.replace(/[;?#][^/]*/g, ''),
  (path) => path.replace(/[?#].*$/s, ''), // what was decoded may begin a query
];

const PLAIN = /^[\w/.:@,~-]*$/;

/**
 * Every path that some chain of servers may read one as: decoded any number of times, with or without its parameters, in plain
 * characters, without empty segments. Case stays. The first is the path itself; `undefined` for one that can be read in too many ways.
 */
export function readingsOf(path: string): ReadonlySet<string> | undefined {
  if (PLAIN.test(path)) return new Set([normal(path)]);
  const texts = new Set([path]);
  for (const text of texts) {
    // those that are added are visited too
    for (const step of STEPS) texts.add(step(text));
    if (texts.size > MAX_READINGS || texts.size * path.length > MAX_CHARACTERS) return undefined;
  }
  return new Set([...texts].map(normal));
}

const ABNORMAL = /\/\/|\/$|[\s+.](?:\/|$)|\/[\s+]|^\/v1\/v1/i;

/** Without empty segments, and with the version at its beginning once: roots of providers have one or none. */
function normal(path: string): string {
  if (!ABNORMAL.test(path)) return path;
  const segments = path
    .split('/')
    .map(trimmed)
    .filter((segment) => segment !== '');
  const first = segments.findIndex(
    (segment, at) => !/^v1$/i.test(segment) || !/^v1(?:beta)?$/i.test(segments[at + 1] ?? ''),
  );
  return `/${segments.slice(Math.max(first, 0)).join('/')}`;
}

/** Without blanks around it, and dots at its end, which some file systems drop. */
function trimmed(segment: string): string {
  let [start, end] = [0, segment.length];
  while (start < end && ' +\t'.includes(segment[start] ?? '')) start += 1;
  while (end > start && ' +\t.'.includes(segment[end - 1] ?? '')) end -= 1;
  return start === 0 && end === segment.length ? segment : segment.slice(start, end);
}
