/**
 * Instructions of the machine that the patterns of one list may compile to. Compiling so many takes
 * about a tenth of a second (measured with re2js 2.10 on 2026-11-27: 1.6 µs each).
 */
export const MOST_PATTERN_SIZE = 50_000;

/** Ranges of characters that cost no more than one instruction. */
const RANGES = 16;
/** Characters whose other case can be looked for in the time of one instruction. */
const CASED = 32;
/** Ranges of the largest Unicode class, whatever the case. Source: Unicode 17, as re2js 2.10 has it: 741. */
const UNICODE_RANGES = 760;
/** Ranges of the largest class of ASCII, negated, both cases: `[:^punct:]`. */
const ASCII_RANGES = 16;
/** Characters of which some have two cases: RE2 looks at each of those between them. */
const FIRST_CASED = 0x41;
const LAST_CASED = 0x1e943;

/** What has been read of a group. */
interface Group {
  /** The alternatives in front of the one that is being read. */
  before: number;
  /** What is being read, and its last part, to which a count belongs. */
  sum: number;
  last: number;
  isFolded: boolean;
}

/**
 * How large a machine a pattern of RE2 can compile to, at most, in instructions: a count multiplies
 * what it repeats, a class counts by its ranges. It is found without compiling anything, in one
 * pass over the pattern. The size of several is the sum of theirs.
 *
 * @param pattern in the syntax of RE2. Of a text that is not one it says some number.
 * @returns at least 1; about the number of characters of an ordinary pattern without counts.
 * @example
 * ```ts
 * import { patternSize } from 'gw/contract';
 *
 * export const small = patternSize('abc') < 10; // true
 * export const large = patternSize(String.raw`(?:\d{100}){10}`) > 1000; // true
 * ```
 */
export function patternSize(pattern: string): number {
  const reader = new SizeReader(pattern);
  while (!reader.isOver) reader.step();
  return Math.ceil(reader.size);
}

/** Throws where patterns would compile to too large a machine. */
export function requireSize(patterns: readonly string[], most = MOST_PATTERN_SIZE): void {
  let size = 0;
  for (const pattern of patterns) size += patternSize(pattern);
  if (size > most) throw new Error(`up to ${size} instructions, and the limit is ${most}`);
}

const FLAGS = /\(\?([imsU]*)(?:-([imsU]*))?([:)])/y;
const NAMED = /\(\?P?<\w*>/y;
const COUNT = /\{(0|[1-9]\d{0,7})(?:,(0|[1-9]\d{0,7})?)?\}\??/y;
const UNICODE_CLASS = /\\[pP](?:\{\^?\w*\}|[^])/y;
const NAMED_CLASS = /\[:\^?\w*:\]/y;
const PERL_CLASS = /\\[dDsSwW]/y;
/** One character, or how it is written. */
const CHARACTER = /\\x\{[\da-fA-F]*\}|\\x[\da-fA-F]{2}|\\[0-7]{1,3}|\\[^]|[^]/uy;

class SizeReader {
  readonly #pattern: string;
  readonly #groups: Group[] = [];
  #group: Group = { before: 0, sum: 0, last: 0, isFolded: false };
  #at = 0;
  /** What takes time once, whatever repeats it: the items of classes, and the characters whose other case is looked for. */
  #once = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  get isOver(): boolean {
    return this.#at >= this.#pattern.length;
  }

  /** With one instruction that fails, and one that matches. */
  get size(): number {
    return this.#groups.reduce((sum, group) => sum + sizeOf(group), sizeOf(this.#group)) + this.#once + 2;
  }

  step(): void {
    const sign = this.#pattern[this.#at];
    if (sign === '(') this.#open();
    else if (sign === ')') this.#close();
    else if (sign === '|') this.#alternative();
    else if (sign === '[') this.#class();
    else if (sign === '\\') this.#escape();
    else if (sign === '*' || sign === '+' || sign === '?') this.#repeat(1, 2, 1);
    else {
      const count = sign === '{' ? this.#take(COUNT) : undefined;
      if (count) this.#count(Number(count[1]), count[2]);
      else this.#part(1, 1);
    }
  }

  #part(size: number, length: number): void {
    this.#at += length;
    this.#group.sum += size;
    this.#group.last = size;
  }

  /** Each copy that may be left out takes one instruction more. */
  #count(least: number, most: string | undefined): void {
    const times = Math.max(least, Number(most ?? 0), 1);
    this.#repeat(times, 2 + (most === undefined ? 0 : times - least), 0);
  }

  /** A loop over what may be empty takes two instructions. */
  #repeat(times: number, more: number, length: number): void {
    const { last } = this.#group;
    const size = last * times + more;
    this.#at += length;
    this.#group.sum += size - last;
    this.#group.last = size;
  }

  #alternative(): void {
    this.#at += 1;
    this.#group.before = sizeOf(this.#group);
    this.#group.sum = this.#group.last = 0;
  }

  #open(): void {
    const [flags, on = '', off = '', end = ''] = this.#take(FLAGS) ?? [];
    const isFolded = (this.#group.isFolded || on.includes('i')) && !off.includes('i');
    if (end === ')') {
      this.#group.isFolded = isFolded;
      return;
    }
    if (flags === undefined && !this.#take(NAMED)) this.#at += 1;
    this.#groups.push(this.#group);
    this.#group = { before: 0, sum: 0, last: 0, isFolded };
  }

  /** What is captured stands between two instructions. */
  #close(): void {
    const size = sizeOf(this.#group) + 2;
    this.#group = this.#groups.pop() ?? this.#group;
    this.#part(size, 1);
  }

  #escape(): void {
    if (this.#pattern[this.#at + 1] === 'Q') this.#quoted();
    else if (this.#take(UNICODE_CLASS)) this.#part(1 + UNICODE_RANGES / RANGES, 0);
    else if (this.#take(PERL_CLASS)) this.#part(1 + ASCII_RANGES / RANGES, 0);
    else {
      this.#take(CHARACTER);
      this.#part(1, 0);
    }
  }

  /** Everything up to the end of the quotation stands for itself. */
  #quoted(): void {
    const end = this.#pattern.indexOf('\\E', this.#at);
    const length = (end < 0 ? this.#pattern.length : end) - this.#at - 2;
    this.#part(length, 0);
    this.#group.last = Math.min(length, 1);
    this.#at += length + (end < 0 ? 2 : 4);
  }

  #class(): void {
    this.#at += 1;
    if (this.#pattern[this.#at] === '^') this.#at += 1;
    let ranges = 2;
    for (let isFirst = true; !this.isOver && (isFirst || this.#pattern[this.#at] !== ']'); isFirst = false)
      ranges += this.#ranges();
    this.#part(1 + ranges / RANGES, 1);
  }

  /** The ranges of an item of a class, at most. */
  #ranges(): number {
    this.#once += 1;
    if (this.#take(UNICODE_CLASS)) return UNICODE_RANGES;
    if (this.#take(PERL_CLASS) ?? this.#take(NAMED_CLASS)) return ASCII_RANGES;
    const first = codeOf(this.#take(CHARACTER)?.[0] ?? '');
    const isRange = this.#pattern[this.#at] === '-' && this.#pattern[this.#at + 1] !== ']';
    if (isRange) this.#at += 1;
    const last = isRange ? codeOf(this.#take(CHARACTER)?.[0] ?? '') : first;
    const cased = Math.min(last, LAST_CASED) - Math.max(first, FIRST_CASED) + 1;
    const isAll = first <= FIRST_CASED && last >= LAST_CASED;
    if (!this.#group.isFolded || isAll || cased <= 0) return 1;
    this.#once += cased / CASED;
    return 1 + Math.min(2 * cased, 2 * UNICODE_RANGES);
  }

  #take(form: RegExp): RegExpExecArray | undefined {
    form.lastIndex = this.#at;
    const taken = form.exec(this.#pattern) ?? undefined;
    this.#at += taken?.[0].length ?? 0;
    return taken;
  }
}

/** With one instruction more for the choice between two alternatives, and one for an empty one. */
const sizeOf = ({ before, sum }: Group): number => before + sum + 2;

/** The code point of a character as it is written. */
function codeOf(written: string): number {
  if (written.startsWith('\\x')) return Number.parseInt(written.replace(/^\\x\{?/, ''), 16) || 0;
  if (/^\\[0-7]/.test(written)) return Number.parseInt(written.slice(1), 8);
  return written.replace(/^\\(?=.)/s, '').codePointAt(0) ?? 0;
}
