import { CODE, stringEnd } from './json-shape.ts';
import { memberOf, setMember } from './members.ts';

/** An object or a list, as JSON has them. */
export type Container = unknown[] | Record<string, unknown>;

/** Whether a parsed value holds others; `null` does not. */
export const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

/** The two functions that keep a number as its text, and know such a number again. */
interface RawJson {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
}

/** Parts of `JSON` that the language's types do not know yet. */
const json = JSON as unknown as RawJson;

/**
 * True for a number that was kept as it was written. `parseExactJson` keeps numbers so that no
 * double holds, and request bodies are read by it. Such a number is a frozen object, whose digits
 * stand in its member `rawJSON`; `JSON.stringify` writes them as they were. It is not of type
 * `number`, so a check of that type refuses it.
 */
export function isRawNumber(value: unknown): boolean {
  return json.isRawJSON(value);
}

/**
 * Whether a number can be what was written: beyond these only some integers are numbers at all.
 * Integers beyond 2^53 - 1 are only sometimes what was written, and what is larger than a double
 * becomes infinite.
 */
export const isExact = (value: number): boolean => value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER;

/**
 * Each becomes an object of its own: more of them would hold up the process for half a second, and
 * no honest request needs them.
 */
const MAX_INEXACT = 250_000;

/**
 * Puts the numbers of a text that are not exact back into its value, as they were written. Throws a
 * `RangeError` when there are more than 250,000.
 *
 * @param text the JSON that `value` was parsed from: it must have been valid.
 * @param value the same as objects and lists. It is changed in place, only where numbers need it.
 */
export function restoreNumbers(text: string, value: Container): void {
  new NumberRestorer(text, value).run();
}

/** A list or object that is being read, and which of its members. */
interface Open {
  readonly isList: boolean;
  /**
   * What it became; `null` where a later member of the same name took its place. Looked up when it
   * is needed.
   */
  container: Container | null | undefined;
  /** Place in a list. */
  place: number;
  /** Where the name of an object's member begins and ends, quotes included. */
  nameStart: number;
  nameEnd: number;
  isName: boolean;
}

/**
 * Fewer characters than this, without an exponent, are always a number that JavaScript can hold.
 */
const MIN_INEXACT = 16;

/** Reads a text once more beside what it became, and puts numbers back as they were written. */
class NumberRestorer {
  readonly #text: string;
  readonly #root: Container;
  readonly #open: Open[] = [];
  #restored = 0;

  constructor(text: string, root: Container) {
    this.#text = text;
    this.#root = root;
  }

  run(): void {
    const text = this.#text;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === CODE.quote) at = this.#string(at);
      else if (isNumberStart(code)) at = this.#number(at);
      else this.#mark(code);
    }
  }

  /** Characters between values. */
  #mark(code: number): void {
    if ((code & ~CODE.brace) === CODE.left) {
      const isList = code === CODE.left;
      this.#open.push({ isList, container: undefined, place: 0, nameStart: 0, nameEnd: 0, isName: !isList });
      return;
    }
    if ((code & ~CODE.brace) === CODE.right) {
      this.#open.pop();
      return;
    }
    const last = this.#open.at(-1);
    if (!last) return;
    if (code === CODE.colon) last.isName = false;
    else if (code === CODE.comma) {
      last.place += 1;
      last.isName = !last.isList;
    }
  }

  /** Index of the last character of a string. */
  #string(start: number): number {
    const end = stringEnd(this.#text, start);
    const last = this.#open.at(-1);
    if (last?.isName) {
      last.nameStart = start;
      last.nameEnd = end + 1;
    }
    return end;
  }

  /** Index of the last character of a number: of what stands between marks and blanks. */
  #number(start: number): number {
    const text = this.#text;
    let end = start + 1;
    let hasExponent = false;
    for (
      let code = text.charCodeAt(end);
      code > BLANK && code !== CODE.comma && code !== CODE.right && code !== RIGHT_BRACE;
      code = text.charCodeAt(end)
    ) {
      if (code > NINE) hasExponent = true;
      end += 1;
    }
    if (hasExponent || end - start >= MIN_INEXACT) this.#restore(text.slice(start, end));
    return end - 1;
  }

  /**
   * Puts a number back where it stood. Of members of one name the last one counts, and it is read
   * last.
   */
  #restore(written: string): void {
    const last = this.#open.length - 1;
    const open = this.#open[last];
    const container = this.#containerOf(last);
    if (!open || !container) return;
    const now = this.#memberOf(container, open);
    if (typeof now === 'number' ? isExact(now) : !isRawNumber(now)) return;
    this.#restored += 1;
    if (this.#restored > MAX_INEXACT) throw new RangeError(`larger than ${MAX_INEXACT} numbers that no double holds`);
    if (Array.isArray(container)) container[open.place] = json.rawJSON(written);
    else setMember<unknown>(container, this.#nameOf(open), json.rawJSON(written));
  }

  /**
   * The list or object at a level of nesting; `null` where a later member of the same name replaced
   * it. It is looked up from the outside in, and only when a number has to be put back.
   */
  #containerOf(level: number): Container | null {
    const open = this.#open[level];
    if (!open) return null;
    if (open.container === undefined) {
      const outer = this.#open[level - 1];
      const around = outer && this.#containerOf(level - 1);
      const found = outer ? around && this.#memberOf(around, outer) : this.#root;
      open.container = isContainer(found) && Array.isArray(found) === open.isList ? found : null;
    }
    return open.container;
  }

  /** What stands now where the reading is. */
  #memberOf(container: Container, open: Open): unknown {
    return Array.isArray(container) ? container[open.place] : memberOf(container, this.#nameOf(open));
  }

  /** The name of the member that is being read, without its escapes. */
  #nameOf({ nameStart, nameEnd }: Open): string {
    const quoted = this.#text.slice(nameStart, nameEnd);
    return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
  }
}

const BLANK = 0x20;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const RIGHT_BRACE = CODE.right | CODE.brace;

const isNumberStart = (code: number): boolean => (code >= ZERO && code <= NINE) || code === MINUS;
