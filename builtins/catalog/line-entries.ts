import type { CatalogEntry } from '../../host/common/catalog.ts';
import { isFields, tryParseJson } from '../../host/contract/index.ts';
import { type Entries, readEntries } from './entries.ts';

const DATE = '"updated_at":"';
const DATE_LENGTH = '2026-01-31'.length;

/**
 * The entries of a text that has one in each line, as `npm run catalog` writes it. What is asked for is looked up in the text and read
 * then: to read all of it takes longer than everything else that a start does with modules and configuration.
 */
export class LineEntries implements Entries {
  readonly size: number;
  /** The newest date of an entry. */
  readonly newest: string;
  readonly #text: string;
  /** Where the lines of keys begin, of providers whose ids were asked for: who asks for those asks for all of their entries next. */
  readonly #lines = new Map<string, number>();

  private constructor(text: string) {
    let size = 0;
    let newest = '';
    for (let at = text.indexOf(DATE); at >= 0; at = text.indexOf(DATE, at)) {
      at += DATE.length;
      const date = text.slice(at, at + DATE_LENGTH);
      if (date > newest) newest = date;
      size += 1;
    }
    this.size = size;
    this.newest = newest;
    this.#text = text;
  }

  /** `undefined` for a text that is written in another way. */
  static of(text: string): LineEntries | undefined {
    const isLines = text.startsWith('{\n"') && text.endsWith('"}\n}\n') && !text.includes('\\') && !text.includes('\r');
    const entries = isLines ? new LineEntries(text) : undefined;
    return entries && entries.size === text.split('\n').length - FRAME_LINES ? entries : undefined;
  }

  *idsOf(prefix: string): Iterable<string> {
    const start = `\n"${prefix}/`;
    for (let line = this.#text.indexOf(start); line >= 0; line = this.#text.indexOf(start, line + start.length)) {
      const at = line + start.length;
      const id = this.#text.slice(at, this.#text.indexOf('"', at));
      this.#lines.set(`${prefix}/${id}`, line + 1);
      yield id;
    }
  }

  get(key: string): CatalogEntry | undefined {
    const at = this.#lines.get(key) ?? this.#text.indexOf(`\n${JSON.stringify(key)}:`) + 1;
    if (at === 0) return undefined;
    const line = this.#text.slice(at, this.#text.indexOf('\n', at));
    const document = tryParseJson(`{${line.endsWith(',') ? line.slice(0, -1) : line}}`); // a line that was damaged by hand names a model that is not known
    return isFields(document) ? readEntries(document).entries.get(key) : undefined;
  }
}

/** Lines without an entry: the braces, and what follows the last line end. */
const FRAME_LINES = 3;
