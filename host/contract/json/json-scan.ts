/**
 * Characters of a text for which `isJson` is asked first. Longer ones are so few in a body that a
 * failure of each costs little.
 */
const SHORT = 1000;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const ESCAPE = /^(?:["\\/bfnrt]|u[\da-fA-F]{4})/;
const LITERALS = ['true', 'false', 'null'] as const;

/**
 * Whether a text can be JSON: false is certain, true of a text of more than 1,000 characters is
 * not. `JSON.parse` takes five microseconds to fail, so that a body of millions of texts such as
 * `[x]` would hold everybody up for many seconds. A text of ordinary words that begins with a
 * bracket is the usual case. Nesting is not bounded here, and need not be: 1,000 characters nest no
 * deeper than the stack allows.
 *
 * @param text any text, from outside too.
 * @returns false for what `JSON.parse` would throw for. Only then may the parsing be left out.
 */
export function mayBeJson(text: string): boolean {
  return text.length > SHORT || new JsonScan(text).isWhole();
}

/** Reads a short text as JSON, and keeps nothing of it. */
class JsonScan {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether the text is one value with blanks around it, and nothing behind it. */
  isWhole(): boolean {
    return this.#isValue() && this.#next() === '';
  }

  /** The next character that is not blank; empty at the end. */
  #next(): string {
    for (;;) {
      const character = this.#text.charAt(this.#at);
      if (character !== ' ' && character !== '\n' && character !== '\t' && character !== '\r') return character;
      this.#at += 1;
    }
  }

  /**
   * Passes blanks and this character; false, and nothing but blanks passed, where another one
   * comes.
   */
  #take(character: string): boolean {
    if (this.#next() !== character) return false;
    this.#at += 1;
    return true;
  }

  /** Whether a value comes next; what it is made of is passed. */
  #isValue(): boolean {
    if (this.#take('{')) return this.#areItems('}', () => this.#isString() && this.#take(':') && this.#isValue());
    if (this.#take('[')) return this.#areItems(']', () => this.#isValue());
    return this.#next() === '"' ? this.#isString() : this.#isLiteral() || this.#isNumber();
  }

  /**
   * Items with commas between them, up to the bracket that ends them. A comma before that bracket
   * is refused.
   */
  #areItems(end: string, isItem: () => boolean): boolean {
    if (this.#take(end)) return true;
    do if (!isItem()) return false;
    while (this.#take(','));
    return this.#take(end);
  }

  /**
   * A string with its quotes. Control characters must be escaped in it, and escapes must be ones of
   * JSON.
   */
  #isString(): boolean {
    if (!this.#take('"')) return false;
    for (; this.#at < this.#text.length; this.#at += 1) {
      const code = this.#text.charCodeAt(this.#at);
      if (code < 0x20) return false;
      if (code === 0x22) return this.#take('"');
      if (code !== 0x5c) continue;
      const escape = ESCAPE.exec(this.#text.slice(this.#at + 1, this.#at + 6));
      if (!escape) return false;
      this.#at += escape[0].length;
    }
    return false;
  }

  /** One of the three words. */
  #isLiteral(): boolean {
    const literal = LITERALS.find((word) => this.#text.startsWith(word, this.#at));
    this.#at += literal?.length ?? 0;
    return literal !== undefined;
  }

  /** A number in JSON's form: `01`, `.5` and `+1` are not. */
  #isNumber(): boolean {
    const start = this.#at;
    while (/[\d+\-.eE]/.test(this.#text.charAt(this.#at))) this.#at += 1;
    return NUMBER.test(this.#text.slice(start, this.#at));
  }
}
