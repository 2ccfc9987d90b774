/** Characters of a line without an end that are kept; one that goes on is passed on in pieces. */
const LONGEST = 4 * 1024 * 1024;

/** Makes whole lines of what arrives in pieces. */
export class WholeLines {
  readonly #write: (line: string) => void;
  #rest = '';

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  take(text: string): void {
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) {
      for (const line of (this.#rest + text.slice(0, end)).split('\n').slice(0, -1)) this.#write(`${line}\n`);
      this.#rest = '';
    }
    this.#rest += text.slice(end);
    if (this.#rest.length > LONGEST) this.end();
  }

  /** Writes what has no end. */
  end(): void {
    if (this.#rest !== '') this.#write(`${this.#rest}\n`);
    this.#rest = '';
  }
}
