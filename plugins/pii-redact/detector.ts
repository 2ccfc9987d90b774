import type { Steps } from 'gw/contract';
import { type Detector, type Found, STEP, withoutOverlaps } from '../_common/detector.ts';
import { seeingPlain } from '../_common/plain-text.ts';
import { addressAround } from './address.ts';
import { emailAround, isLocal } from './email.ts';
import type { Entity } from './entities.ts';
import { numberAt } from './numbers.ts';

/** Longer than any address, number or account with the spaces in it. */
const LONGEST = 330;
const LONGEST_NUMBER = 64;

/** Finds personal data by the forms that it is written in. */
export function piiDetector(entities: readonly Entity[]): Detector {
  const wanted: ReadonlySet<Entity> = new Set(entities);
  return seeingPlain({
    *find(written) {
      const text = yield* withPlainSigns(written);
      return yield* withoutOverlaps(
        wanted.has('email') ? yield* findAround(text, '@', emailAround, 'EMAIL') : [],
        wanted.has('ip') ? yield* findAround(text, ':', addressAround, 'IP') : [],
        wanted.size > (wanted.has('email') ? 1 : 0) ? yield* findNumbers(text, wanted) : [],
      );
    },
    open: (written) => openFrom(withPlainSignsAt(written)),
  });
}

/** Blanks and dashes that typesetting and word processors put into numbers: blanks of every width; hyphens, dashes, minus. */
const TYPESET = /[\u00a0\u2000-\u200a\u202f\u205f\u3000\u2010-\u2013\u2212]/g;

/** A text, character for character, with the blank and the dash of a keyboard. */
function* withPlainSigns(text: string): Steps<string> {
  if (text.search(TYPESET) < 0) return text;
  let plain = '';
  for (let at = 0; at < text.length; at += STEP) {
    plain += withPlainSignsAt(text.slice(at, at + STEP));
    yield;
  }
  return plain;
}

const withPlainSignsAt = (text: string): string =>
  text.search(TYPESET) < 0 ? text : text.replace(TYPESET, (sign) => (/\s/.test(sign) ? ' ' : '-'));

type Around = (text: string, at: number) => readonly [start: number, end: number] | undefined;

/** Looks around each of the signs; one that is looked at costs as much as some hundred characters. */
function* findAround(text: string, sign: string, around: Around, kind: string): Steps<readonly Found[]> {
  const found: Found[] = [];
  let looked = 1;
  for (let at = text.indexOf(sign); at >= 0; looked += 1) {
    const place = around(text, at);
    if (place) found.push({ start: place[0], end: place[1], kind });
    at = text.indexOf(sign, place ? place[1] : at + 1);
    if (looked % 256 === 0) yield;
  }
  return found;
}

function* findNumbers(text: string, wanted: ReadonlySet<Entity>): Steps<readonly Found[]> {
  const found: Found[] = [];
  let wasDigit = false;
  let stop = STEP;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isDigit = code >= 48 && code <= 57;
    if (isDigit && !wasDigit) {
      const number = numberAt(text, at, wanted);
      if (number) {
        found.push({ start: number.start, end: number.end, kind: number.entity.toUpperCase() });
        at = number.end - 1;
      }
    }
    wasDigit = isDigit;
    if (at < stop) continue;
    stop = at + STEP;
    yield;
  }
  return found;
}

/** Where the word at the end begins, with the numbers in groups in front of it. */
function openFrom(text: string): number {
  let word = text.length;
  const least = Math.max(0, text.length - LONGEST);
  while (word > least && isWordSign(text.charCodeAt(word - 1))) word -= 1;
  return Math.min(word, numberFrom(text));
}

const isWordSign = (code: number): boolean => isLocal(code) || code === 0x40 || code === 0x3a || code === 0x28;

/** Groups of an account with letters, a national id that letters begin, groups of digits. Each takes as many steps as characters are looked at, squared at most. */
const ENDINGS = [
  /(?<![A-Za-z\d])[A-Za-z]{2}\d\d[A-Za-z\d ./-]*$/,
  /(?<![A-Za-z\d])[A-Z]{2} ?[\d ]*$/,
  /[+(]*\d[\d\s.()/+-]*$/,
];

function numberFrom(text: string): number {
  const begin = Math.max(0, text.length - LONGEST_NUMBER);
  const end = text.slice(begin);
  let from = text.length;
  for (const ending of ENDINGS) {
    const at = end.search(ending);
    if (at >= 0) from = Math.min(from, begin + at);
  }
  return from;
}
