const COLON = 0x3a;
const DOT = 0x2e;
const MOST = 45;

/** The IPv6 address around a colon; `undefined` where there is none. Times, paths of namespaces and hardware addresses are not. */
export function addressAround(text: string, colon: number): readonly [start: number, end: number] | undefined {
  let start = colon;
  let end = colon + 1;
  while (start > 0 && colon - start < MOST && isPart(text.charCodeAt(start - 1))) start -= 1;
  while (end - start < MOST && end < text.length && isPart(text.charCodeAt(end))) end += 1;
  const next = text.indexOf(':', colon + 1);
  if (next < 0 || next >= end) return undefined;
  while (end > start && text.charCodeAt(end - 1) === DOT) end -= 1;
  if (text.charCodeAt(end - 1) === COLON && text.charCodeAt(end - 2) !== COLON) end -= 1;
  if (isWord(text.charCodeAt(start - 1)) || isWord(text.charCodeAt(end))) return undefined;
  return isAddress(text.slice(start, end)) ? [start, end] : undefined;
}

function isPart(code: number): boolean {
  return (code >= 48 && code <= 58) || ((code | 32) >= 97 && (code | 32) <= 102) || code === DOT;
}

function isWord(code: number): boolean {
  return (code >= 48 && code <= 57) || ((code | 32) >= 97 && (code | 32) <= 122);
}

const GROUP = /^[\da-f]{1,4}$/i;
const IPV4 = /^(?:25[0-5]|2[0-4]\d|1?\d{1,2})(?:\.(?:25[0-5]|2[0-4]\d|1?\d{1,2})){3}$/;

/** Eight groups, or fewer with one gap (RFC 4291, 2.2). With a gap, one of them must tell it from names such as `a::b`. */
function isAddress(text: string): boolean {
  const [head = '', tail, ...more] = text.split('::');
  if (more.length > 0) return false;
  const groups = [...groupsOf(head), ...groupsOf(tail ?? '')];
  const last = groups.at(-1) ?? '';
  const hasIpv4 = IPV4.test(last);
  const plain = hasIpv4 ? groups.slice(0, -1) : groups;
  if (!plain.every((group) => GROUP.test(group))) return false;
  const count = plain.length + (hasIpv4 ? 2 : 0);
  if (tail === undefined) return count === 8;
  return count > 0 && count < 8 && /\d/.test(text) && (head === '' || count > 2 || /[\da-f]{3}/i.test(head));
}

const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'));
