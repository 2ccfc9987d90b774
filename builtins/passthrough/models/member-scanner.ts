import { tryParseJson } from '../../../host/contract/index.ts';
import type { ReferenceCollector } from './reference-collector.ts';

/** A member of the outermost object that was looked for. */
export interface FoundMember {
  /** Its value; `undefined` for lists, objects, and what is too long to be kept. */
  readonly value: unknown;
  /** Where the value stands: offsets in bytes from the start of the body. */
  readonly start: number;
  readonly end: number;
}

/** Bytes of a name, or of a value, that are kept: a longer one is none that is looked for. */
const MAX_NAME = 256;
const MAX_VALUE = 16_384;

const CODE = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  backslash: 0x5c,
  left: 0x5b,
  right: 0x5d,
  leftBrace: 0x7b,
  rightBrace: 0x7d,
  blank: 0x20,
} as const;

type Place = 'start' | 'name or end' | 'name' | 'colon' | 'value' | 'after' | 'ended' | 'malformed';

/**
 * Finds members of the outermost object of a JSON text while its bytes arrive: by their exact names, decoded as JSON decodes
 * them, at any size and any depth of what stands around them. Nothing is parsed and nothing recurses; it keeps a depth and
 * the few bytes of a name or value. It checks no more of the grammar than it needs.
 */
export class MemberScanner {
  readonly found = new Map<string, FoundMember>();
  /** Names that stand there twice. */
  readonly repeated = new Set<string>();
  /** A name that differs from one that is looked for in the case of its letters only. */
  misspelt: string | undefined;
  /** Members of all objects seen so far, repeated ones included. */
  members = 0;
  readonly #names: ReadonlySet<string>;
  #place: Place = 'start';
  #depth = 0;
  #isInString = false;
  /** An odd number of backslashes ended the last piece. */
  #isEscaped = false;
  #isInScalar = false;
  #name: string | undefined;
  #valueStart = 0;
  #offset = 0;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  /** How many bytes of what is read now are kept; 0 for none. */
  #keepLimit = 0;
  /** Hears of everything that may name a file, at any depth. */
  readonly #references: ReferenceCollector | undefined;

  constructor(names: readonly string[], references?: ReferenceCollector) {
    this.#names = new Set(names);
    this.#references = references;
  }

  get isMalformed(): boolean {
    return this.#place === 'malformed';
  }

  /** Nothing more can be found. */
  get isOver(): boolean {
    return this.#place === 'malformed' || this.#place === 'ended';
  }

  /** Gives how many of the bytes it has read: all, unless nothing more can be found. */
  push(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && !this.isOver) {
      if (this.#isInString) at = this.#string(bytes, at);
      else if (this.#depth > 0) at = this.#nested(bytes, at);
      else if (this.#isInScalar) at = this.#scalar(bytes, at);
      else at = this.#outermost(bytes, at);
    }
    this.#offset += bytes.length;
    return at;
  }

  #outermost(bytes: Buffer, at: number): number {
    const code = bytes[at] ?? 0;
    if (isBlank(code)) return at + 1;
    switch (this.#place) {
      case 'start':
        return this.#expect(code === CODE.leftBrace, 'name or end', at);
      case 'name or end':
        if (code === CODE.rightBrace) return this.#expect(true, 'ended', at);
        return this.#beginName(code, at);
      case 'name':
        return this.#beginName(code, at);
      case 'colon':
        this.members += 1;
        this.#references?.colon(0);
        return this.#expect(code === CODE.colon, 'value', at);
      case 'value':
        return this.#beginValue(code, at);
      default:
        this.#references?.ends(0);
        if (code === CODE.rightBrace) return this.#expect(true, 'ended', at);
        return this.#expect(code === CODE.comma, 'name', at);
    }
  }

  #expect(isThere: boolean, next: Place, at: number): number {
    this.#place = isThere ? next : 'malformed';
    return at + 1;
  }

  #beginName(code: number, at: number): number {
    if (code !== CODE.quote) return this.#expect(false, 'malformed', at);
    this.#keep(MAX_NAME);
    this.#isInString = true;
    return at + 1;
  }

  #beginValue(code: number, at: number): number {
    this.#valueStart = this.#offset + at;
    this.#keep(this.#name !== undefined ? MAX_VALUE : this.#references ? MAX_NAME : 0);
    if (code === CODE.quote) {
      this.#isInString = true;
      return at + 1;
    }
    if (code === CODE.left || code === CODE.leftBrace) {
      this.#keep(0);
      this.#depth = 1;
      return at + 1;
    }
    this.#isInScalar = true;
    return at;
  }

  /** Up to the quote that ends a string, or to the end of the piece. */
  #string(bytes: Buffer, start: number): number {
    let from = start;
    for (let quote = bytes.indexOf(CODE.quote, from); quote >= 0; quote = bytes.indexOf(CODE.quote, from)) {
      const isEscaped = this.#endsEscaped(bytes, from, quote);
      this.#isEscaped = false;
      from = quote + 1;
      if (isEscaped) continue;
      this.#take(bytes, start, quote);
      this.#isInString = false;
      if (this.#depth === 0) this.#endString(this.#offset + quote + 1);
      else this.#references?.string(this.#takenString());
      return from;
    }
    this.#isEscaped = this.#endsEscaped(bytes, from, bytes.length);
    this.#take(bytes, start, bytes.length);
    return bytes.length;
  }

  /** Whether an odd number of backslashes stands before `end`, those at the end of the last piece included. */
  #endsEscaped(bytes: Buffer, from: number, end: number): boolean {
    let at = end;
    while (at > from && bytes[at - 1] === CODE.backslash) at -= 1;
    const isOdd = (end - at) % 2 === 1;
    return at === from && this.#isEscaped ? !isOdd : isOdd;
  }

  #endString(end: number): void {
    const value = this.#takenString();
    this.#references?.string(value);
    if (this.#place === 'value') {
      this.#endValue(value, end);
      return;
    }
    this.#name = undefined;
    this.#place = 'colon';
    if (typeof value !== 'string') return;
    if (this.#names.has(value)) this.#name = value;
    else if (this.#names.has(value.toLowerCase())) this.misspelt ??= value;
  }

  #endValue(value: unknown, end: number): void {
    this.#place = 'after';
    if (this.#name === undefined) return;
    if (this.found.has(this.#name)) this.repeated.add(this.#name);
    this.found.set(this.#name, { value, start: this.#valueStart, end });
  }

  /** A number or a word. */
  #scalar(bytes: Buffer, start: number): number {
    let at = start;
    while (at < bytes.length && !isScalarEnd(bytes[at] ?? 0)) at += 1;
    this.#take(bytes, start, at);
    if (at === bytes.length) return at;
    this.#isInScalar = false;
    const text = this.#takenText();
    this.#endValue(text === undefined ? undefined : tryParseJson(text), this.#offset + at);
    return at;
  }

  /** Lists and objects below the outermost one. */
  #nested(bytes: Buffer, start: number): number {
    for (let at = start; at < bytes.length; at += 1) {
      const code = bytes[at] ?? 0;
      if (code === CODE.quote) {
        if (this.#references) this.#keep(MAX_NAME);
        this.#isInString = true;
        return at + 1;
      }
      if (code === CODE.colon) {
        this.members += 1;
        this.#references?.colon(this.#depth);
      } else if (code === CODE.comma) this.#references?.ends(this.#depth);
      else if (code === CODE.left || code === CODE.leftBrace) this.#depth += 1;
      else if (code === CODE.right || code === CODE.rightBrace) {
        this.#references?.ends(this.#depth);
        this.#depth -= 1;
        if (this.#depth > 0) continue;
        this.#endValue(undefined, this.#offset + at + 1);
        return at + 1;
      }
    }
    return bytes.length;
  }

  #keep(limit: number): void {
    this.#keepLimit = limit;
    this.#kept = [];
    this.#keptBytes = 0;
  }

  #take(bytes: Buffer, start: number, end: number): void {
    if ((this.#depth > 0 && !this.#references) || this.#keptBytes > this.#keepLimit) return;
    this.#keptBytes += end - start;
    if (this.#keptBytes <= this.#keepLimit) this.#kept.push(bytes.subarray(start, end));
    else this.#kept = [];
  }

  #takenString(): unknown {
    const text = this.#takenText();
    return text === undefined ? undefined : stringOf(text);
  }

  #takenText(): string | undefined {
    return this.#keepLimit === 0 || this.#keptBytes > this.#keepLimit
      ? undefined
      : Buffer.concat(this.#kept).toString('utf8');
  }
}

const stringOf = (text: string): unknown => (text.includes('\\') ? tryParseJson(`"${text}"`) : text);

const isBlank = (code: number): boolean => code === CODE.blank || code === 0x0a || code === 0x0d || code === 0x09;

const isScalarEnd = (code: number): boolean => code === CODE.comma || code === CODE.rightBrace || isBlank(code);
