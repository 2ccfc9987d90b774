import type { Entity } from './entities.ts';
import { ibanEnd } from './iban.ts';
import { isCard } from './card.ts';

/** What a number at some place of a text is: the first of these that fits. */
export interface Numbered {
  readonly entity: Entity;
  readonly start: number;
  readonly end: number;
}

/** No pattern here repeats over what another part of it also takes, and each is bounded in length: it takes constant time at one place. */
const CARD = /\d(?:[\s-]?\d){12,18}(?!\d|-\w|\s\d|\.\d)/y;
/** As it is printed or in one piece: what follows behind a blank is something else, a date of expiry or the next card. */
const PRINTED_CARD = /(?:\d{4}([\s.-])(?:\d{4}\1\d{4}\1\d{4}|\d{6}\1\d{5})|\d{13,19})(?!\d|-\w|\.\d)/y;
const SSN = /\d{3}-\d{2}-\d{4}(?!\d|-\w)/y;
/** With other signs between, only numbers that are given out. Source: Social Security Administration, POMS RM 10201.035, 2026-11-23. */
const PARTED_SSN = /(?<!\d[ .])(?!000|666|9)\d{3}([ .])(?!00)\d{2}\1(?!0000)\d{4}(?!\d|-\w|[ .]\d)/y;
const CPF = /(\d{3})\.(\d{3})\.(\d{3})-(\d{2})(?!\d|-\w)/y;
const DNI = /(\d{8})-?([A-HJ-NP-TV-Z])(?![A-Za-z\d]|-\w)/y;
const NINO = /[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?![A-Za-z\d])/y;
const NIE = /[XYZ]-?\d{7}-?[A-HJ-NP-TV-Z](?![A-Za-z\d])/y;
const CODICE_FISCALE = /[A-Z]{6}\d\d[A-EHLMPRST][0-7]\d[A-Z]\d{3}[A-Z](?![A-Za-z\d])/y;
const OCTETS = String.raw`(?:25[0-5]|2[0-4]\d|1?\d{1,2})(?:\.(?:25[0-5]|2[0-4]\d|1?\d{1,2})){3}`;
/** One, or the first and the last of a range. */
const IPV4 = new RegExp(`${OCTETS}(?:-${OCTETS})?(?![A-Za-z\\d]|-\\w|\\.\\w)`, 'y');
/** With a country code: 8 to 15 digits (ITU-T E.164), in groups. */
const INTERNATIONAL =
  /\+(?:1[ .-]?(?:\(\d{3}\)|\d{3})[ .-]?\d{3}[ .-]?\d{4}(?!\d)|[2-9](?:(?: \/ |[ ./-])?\(?\d\)?){6,13}[ ./-]?\d(?!\d|-\w))/y;
/** A number behind the digits that are dialled for the sign: 011 in North America, 00 nearly everywhere else (ITU-T E.123, list of dialling procedures). */
const DIALLED =
  /(?:00|011)[ .-]?(?:1[ .-]?(?:\(\d{3}\)|\d{3})[ .-]?\d{3}[ .-]?\d{4}|[2-9](?:(?: \/ |[ ./-])?\(?\d\)?){6,13}[ ./-]?\d)(?![\d:]|-\w| \d|\.\d)/y;
/** Fewer digits in one piece are a number that is filled up with zeros. */
const LEAST_DIALLED = 11;
const NORTH_AMERICAN = /(?:1[ .-]?)?(?:\(\d{3}\) ?|[2-9]\d\d[ .-]|\d{3}[.-])\d{3}[ .-]\d{4}(?!\d|-\w)/y;
/** National forms without a group that tells them apart: French with dots, Brazilian mobile, Russian. Source: libphonenumber-js 1.13, examples of all countries, 2026-11-22. */
const OTHERS =
  /(?:0\d(?:\.\d\d){4}|\(\d{2}\) ?9\d{4}-\d{4}|8[ -]?(?:\(\d{3}\)|\d{3})[ -]\d{3}-\d\d-\d\d)(?!\d|-\w|\.\d)/y;
/** With the trunk prefix of most of the world: 9 to 12 digits, at least two groups. */
const NATIONAL = /(?:\(0\d{1,4}\)|0\d{1,4})[ /-]\d(?:[ -]?\d){4,9}(?![\d:]|-\w| \d|\.\d)/y;
/** A whole number in front of a blank: what follows is the next. */
const NUMBER_BEFORE = /(?:\d{3}[.-]|\) ?)\d{3}[.-]\d{4} $/;
/** Digits alone are a telephone number where the words in front say so. */
const PLAIN = /\d(?:[ .()/-]{0,2}\d){6,14}(?!\d|-\w)/y;
const CALLED = /(?:\b(?:phone|tel|telephone|telefon|mobile|cell|call|fax|whatsapp|handy|sms|text)\b|☎)[^\d\n]{0,24}$/i;
/** Four numbers with dots are a version where the word in front says so. */
const VERSIONED = /(?:\b(?:version|ver|release|section|build|chapter|firmware|driver)s?|\bv)[ .:#]{0,2}$/i;
const DATE = /^(?:0[1-9]|[12]\d|3[01])[ ./-](?:0[1-9]|1[0-2])[ ./-](?:19|20)\d\d/;

/** Not the low line: markdown sets words apart with it, and names tell what they hold. */
const WORD = /[\p{L}\p{N}]/u;

/** What begins at a place where a digit follows something that is not one; `from` is where letters or signs in front of it may begin. */
export function numberAt(text: string, digit: number, wanted: ReadonlySet<Entity>): Numbered | undefined {
  return lettered(text, digit, wanted) ?? (isBounded(text, digit) ? plainAt(text, digit, wanted) : undefined);
}

/** Numbers that letters begin. */
function lettered(text: string, digit: number, wanted: ReadonlySet<Entity>): Numbered | undefined {
  const before = text.charCodeAt(digit - 1) | 32;
  const isLetter = before >= 97 && before <= 122;
  const isSpaced = text.charCodeAt(digit - 1) === 32;
  if (wanted.has('iban') && isLetter && isWordStart(text, digit - 2)) {
    const end = ibanEnd(text, digit - 2);
    if (end !== undefined) return { entity: 'iban', start: digit - 2, end };
  }
  if (!wanted.has('national_id') || !(isLetter || isSpaced || text.charAt(digit - 1) === '-')) return undefined;
  for (const [pattern, back] of [
    [NINO, 2],
    [NINO, 3],
    [NIE, 1],
    [NIE, 2],
    [CODICE_FISCALE, 6],
  ] as const) {
    const start = digit - back;
    const isBegun = start >= 0 && isCapital(text.charCodeAt(start)) && isWordStart(text, start);
    const end = isBegun ? endOf(pattern, text, start) : undefined;
    if (end !== undefined) return { entity: 'national_id', start, end };
  }
  return undefined;
}

const isCapital = (code: number): boolean => code >= 65 && code <= 90;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Digits in a row at a place, as far as any number here goes: most patterns can be left out by it. */
function digitsAt(text: string, digit: number): number {
  let count = 1;
  while (count < MOST_DIGITS && isDigit(text.charCodeAt(digit + count))) count += 1;
  return count;
}

/** Digits of the longest card. */
const MOST_DIGITS = 19;

function plainAt(text: string, digit: number, wanted: ReadonlySet<Entity>): Numbered | undefined {
  const digits = digitsAt(text, digit);
  for (const [entity, find] of FINDERS) {
    if (!wanted.has(entity)) continue;
    const found = find(text, digit, digits);
    if (found) return { entity, start: found[0], end: found[1] };
  }
  return undefined;
}

type Place = readonly [start: number, end: number];

const FINDERS: readonly (readonly [Entity, (text: string, digit: number, digits: number) => Place | undefined])[] = [
  ['card', cardAt],
  ['national_id', idAt],
  ['ip', addressAt],
  ['phone', phoneAt],
];

function cardAt(text: string, digit: number, digits: number): Place | undefined {
  for (const pattern of [CARD, PRINTED_CARD]) {
    if (pattern === PRINTED_CARD && digits !== 4 && digits < 13) return undefined;
    const end = endOf(pattern, text, digit);
    if (end !== undefined && isCard(text.slice(digit, end).replace(/\D/g, ''))) return [digit, end];
  }
  return undefined;
}

function idAt(text: string, digit: number, digits: number): Place | undefined {
  if (digits === 8) return dniAt(text, digit);
  if (digits !== 3) return undefined;
  const ssn = endOf(SSN, text, digit) ?? endOf(PARTED_SSN, text, digit);
  if (ssn !== undefined) return [digit, ssn];
  const cpf = endOf(CPF, text, digit);
  return cpf !== undefined && isCpf(text.slice(digit, cpf).replace(/\D/g, '')) ? [digit, cpf] : undefined;
}

function dniAt(text: string, digit: number): Place | undefined {
  const dni = endOf(DNI, text, digit);
  return dni !== undefined &&
    'TRWAGMYFPDXBNJZSQVHLCKE'[Number(text.slice(digit, digit + 8)) % 23] === text.charAt(dni - 1)
    ? [digit, dni]
    : undefined;
}

/** Check digits of the Brazilian CPF. Source: Receita Federal, 2026-11-22. */
function isCpf(digits: string): boolean {
  const check = (count: number): number => {
    let sum = 0;
    for (let at = 0; at < count; at += 1) sum += Number(digits[at]) * (count + 1 - at);
    return ((sum * 10) % 11) % 10;
  };
  return check(9) === Number(digits[9]) && check(10) === Number(digits[10]) && !/^(\d)\1+$/.test(digits);
}

function addressAt(text: string, digit: number, digits: number): Place | undefined {
  if (digits > 3 || text.charCodeAt(digit + digits) !== DOT) return undefined;
  const end = endOf(IPV4, text, digit);
  return end !== undefined && !VERSIONED.test(text.slice(Math.max(0, digit - 16), digit)) ? [digit, end] : undefined;
}

function phoneAt(text: string, digit: number): Place | undefined {
  const sign = text.charAt(digit - 1);
  if (sign === '+') {
    const end = isWordStart(text, digit - 1) ? endOf(INTERNATIONAL, text, digit - 1) : undefined;
    return end === undefined ? undefined : [digit - 1, end];
  }
  const isFirst =
    sign !== ' ' ||
    !isDigit(text.charCodeAt(digit - 2)) ||
    NUMBER_BEFORE.test(text.slice(Math.max(0, digit - 16), digit)); // not a later group of a longer number
  for (const start of isFirst ? startsOf(digit, sign) : []) {
    const dialled = endOf(DIALLED, text, start);
    if (dialled !== undefined && !isFilledUp(text.slice(start, dialled))) return [start, dialled];
    for (const pattern of [NORTH_AMERICAN, NATIONAL, OTHERS]) {
      const end = endOf(pattern, text, start);
      if (end !== undefined && !isNoPhone(text.slice(start, end))) return [start, end];
    }
  }
  const end = isCalled(text, digit) ? endOf(PLAIN, text, digit) : undefined;
  return end === undefined ? undefined : [digit, end];
}

/** Whether words in front of a place say that a telephone number follows: they are looked for only where there are any. */
function isCalled(text: string, digit: number): boolean {
  const least = Math.max(0, digit - MOST_CALLED);
  for (let at = digit - 1; at >= least; at -= 1) {
    const code = text.charCodeAt(at);
    if (isDigit(code) || code === LINE_END) return false;
    if (code > LAST_SIGN) return CALLED.test(text.slice(least, digit));
  }
  return false;
}

const DOT = 0x2e;
const LINE_END = 0x0a;
/** The last sign of ASCII in front of its letters. */
const LAST_SIGN = 0x40;
/** Characters in front of a number in which such words may stand. */
const MOST_CALLED = 40;

const startsOf = (digit: number, sign: string): readonly number[] => (sign === '(' ? [digit - 1, digit] : [digit]);

const isFilledUp = (text: string): boolean => text.length < LEAST_DIALLED && !/\D/.test(text);

/** A date, or a number of the national form with too few or too many digits. */
function isNoPhone(text: string): boolean {
  const digits = text.replace(/\D/g, '').length;
  return DATE.test(text) || digits < 9 || digits > 12;
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Whether a word can begin here. */
function isWordStart(text: string, at: number): boolean {
  return at === 0 || !isWord(text, at - 1);
}

function isWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 128) return isDigit(code) || ((code | 32) - 97) >>> 0 < 26;
  return WORD.test(text.charAt(at));
}

/** Not a part of a longer number, name or amount. */
function isBounded(text: string, digit: number): boolean {
  const before = text.charAt(digit - 1);
  if (before === '.' || before === '-' || before === ',') return !/[\d\p{L}]/u.test(text.charAt(digit - 2));
  return digit === 0 || !isWord(text, digit - 1);
}
