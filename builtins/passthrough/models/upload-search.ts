import { MemberScanner } from './member-scanner.ts';
import type { ReferenceCollector } from './reference-collector.ts';

const LEFT_BRACE = 0x7b;
/** A field of a form whose value may be an id, between its headers and the next boundary. */
const FIELD = /\r\n\r\n([\w-]{1,256})\r\n--/g;
/** Longer than a field with what stands around it. */
const MOST_FIELD = 300;

/**
 * Looks for the names of files in a body that is not JSON while it arrives: in the lines of a batch and wherever else JSON stands in it, and in
 * the fields of a form. It does not follow the form, so that no upstream reads it otherwise.
 */
export class UploadSearch {
  readonly #references: ReferenceCollector;
  #scanner: MemberScanner | undefined;
  #end = '';

  constructor(references: ReferenceCollector) {
    this.#references = references;
  }

  push(bytes: Buffer): void {
    this.#fields(bytes.toString('latin1'));
    let at = 0;
    while (at < bytes.length) {
      if (!this.#scanner) {
        const begin = bytes.indexOf(LEFT_BRACE, at);
        if (begin < 0) return;
        at = begin;
        this.#references.forget();
        this.#scanner = new MemberScanner([], this.#references);
      }
      at += this.#scanner.push(bytes.subarray(at));
      if (this.#scanner.isOver) this.#scanner = undefined;
    }
  }

  #fields(text: string): void {
    const whole = this.#end + text;
    for (const [, value = ''] of whole.matchAll(FIELD)) this.#references.found.add(value);
    this.#end = whole.slice(-MOST_FIELD);
  }
}
