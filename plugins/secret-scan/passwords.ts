import type { Steps } from 'gw/contract';
import type { Found } from '../_common/detector.ts';

const BEGIN = '://';
/** User and password of an address, and the host behind them (RFC 3986, 3.2.1). */
const USER_INFO = /:\/\/[^\s/:@"'<>\\]{0,128}:([^\s/@"'<>\\]{6,256})@[\w.[]/y;
/** Addresses that are looked at before others may be served. */
const LOOKS = 256;
/** An address that may still get a password. */
const OPEN = /:\/\/[^\s/@"'<>\\]*$/;
const LONGEST = 400;

/** What stands in examples, and in their variables. */
const PLACEHOLDER =
  /^(?:(?:the|your|my|some|db|user|a)?[-_.]?(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[-_]?key|credentials?)\d{0,3}|postgres(?:ql)?|mysql|mongo(?:db)?|redis|guest|example|change[-_]?me|x+|\*+|\.+|…|[[{$%].*|.*[}\]%])$/i;

/** Finds passwords that stand in addresses. */
export function* findPasswords(text: string): Steps<readonly Found[]> {
  const found: Found[] = [];
  let looked = 1;
  for (let at = text.indexOf(BEGIN); at >= 0; looked += 1) {
    const { 0: whole, 1: password = '' } = matchAt(USER_INFO, text, at) ?? [''];
    const end = at + whole.length - 2; // the sign behind it, and the first of the host
    if (whole !== '' && !PLACEHOLDER.test(password)) found.push({ start: end - password.length, end, kind: 'SECRET' });
    at = text.indexOf(BEGIN, at + Math.max(whole.length, 1));
    if (looked % LOOKS === 0) yield;
  }
  return found;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** From where on a text may become a password in an address. */
export function openPassword(text: string): number {
  const from = Math.max(0, text.length - LONGEST);
  const at = text.lastIndexOf(BEGIN);
  const begin = at >= from && OPEN.test(text.slice(at)) ? at : text.length;
  return text.endsWith('@') && at >= from ? at : begin;
}
