/** Characters of the part in front of the sign, at most; of a whole domain. Source: RFC 5321, 4.5.3.1. */
const MOST_LOCAL = 64;
const MOST_DOMAIN = 255;

/** The address around an at sign; `undefined` where there is none. */
export function emailAround(text: string, at: number): readonly [start: number, end: number] | undefined {
  let start = at;
  while (start > 0 && at - start <= MOST_LOCAL && isLocal(text.charCodeAt(start - 1))) start -= 1;
  while (start < at && !isAlphanumeric(text.charCodeAt(start))) start += 1; // dots, dashes and quotes in front belong to the sentence
  if (start === at || at - start > MOST_LOCAL || text.charCodeAt(at - 1) === DOT) return undefined;
  const end = domainEnd(text, at + 1);
  return end === undefined ? undefined : [start, end];
}

const DOT = 0x2e;
const DASH = 0x2d;

/** Labels with dots between them, of which the last has no digits and at least two letters. */
function domainEnd(text: string, begin: number): number | undefined {
  let at = begin;
  let label = begin;
  let end: number | undefined;
  for (; at - begin <= MOST_DOMAIN; at += 1) {
    const code = text.charCodeAt(at);
    if (isAlphanumeric(code) || (code === DASH && at > label)) continue;
    if (at === label) break;
    const last = withoutDashes(text, label, at);
    if (label > begin && isTopLevel(text, label, last)) end = last;
    if (code !== DOT || last < at) break;
    label = at + 1;
  }
  return end;
}

/** Dashes behind a label belong to the sentence. */
function withoutDashes(text: string, label: number, at: number): number {
  let end = at;
  while (end > label && text.charCodeAt(end - 1) === DASH) end -= 1;
  return end;
}

function isTopLevel(text: string, label: number, end: number): boolean {
  if (end - label < 2) return false;
  if (text.startsWith('xn--', label)) return true;
  for (let at = label; at < end; at += 1) if (!isLetter(text.charCodeAt(at))) return false;
  return true;
}

/** Letters of alphabets that write words apart: Latin, Greek, Cyrillic. Elsewhere a sentence runs into the address without a space. */
function isLetter(code: number): boolean {
  return (
    ((code | 32) >= 97 && (code | 32) <= 122 && code < 128) ||
    (code >= 0xc0 && code <= 0x24f) ||
    (code >= 0x370 && code <= 0x52f)
  );
}

function isAlphanumeric(code: number): boolean {
  return (code >= 48 && code <= 57) || isLetter(code);
}

/** Signs that addresses in use have; RFC 5322 knows more. */
const LOCAL_SIGNS = new Set(Buffer.from("._%+-'!#$&*/=?^`{|}~"));

export function isLocal(code: number): boolean {
  return isAlphanumeric(code) || LOCAL_SIGNS.has(code);
}
