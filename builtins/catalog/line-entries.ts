import type { CatalogEntry } from '../../host/common/catalog.ts';
import { isFields, tryParseJson } from '../../host/contract/index.ts';
import { type Entries, readEntries } from './entries.ts';

const KEY_END = '":{';
const DATE = '"updated_at":"';
const DATE_LENGTH = '2026-01-31'.length;
const LINE_ENDS: ReadonlySet<string> = new Set(['"},', '"}']);

/**
 * The entries of a text that has one in each line, as `npm run catalog` writes it. An entry is read when it is asked for: to read all of
 * them takes longer than everything else that a start does with modules and configuration, and a gateway asks for few.
 */
export class LineEntries implements Entries {
  /** The newest date of an entry. */
  readonly newest: string;
  readonly #lines: Map<string, string>;
  readonly #read = new Map<string, CatalogEntry>();

  private constructor(lines: Map<string, string>, newest: string) {
    this.#lines = lines;
    this.newest = newest;
  }

  /** `undefined` for a text that is written in another way. */
  static of(text: string): LineEntries | undefined {
    const lines = text.split('\n');
    if (lines.shift() !== '{' || lines.pop() !== '' || lines.pop() !== '}' || lines.length === 0) return undefined;
    const known = new Map<string, string>();
    let newest = '';
    for (const line of lines) {
      const keyEnd = line.indexOf(KEY_END);
      const date = line.indexOf(DATE) + DATE.length;
      if (line[0] !== '"' || keyEnd < 0 || line.lastIndexOf('\\', keyEnd) >= 0 || !LINE_ENDS.has(line.slice(date + DATE_LENGTH))) return undefined;
      known.set(line.slice(1, keyEnd), line);
      const updated = line.slice(date, date + DATE_LENGTH);
      if (updated > newest) newest = updated;
    }
    return new LineEntries(known, newest);
  }

  get size(): number {
    return this.#lines.size;
  }

  keys(): Iterable<string> {
    return this.#lines.keys();
  }

  get(key: string): CatalogEntry | undefined {
    return this.#read.get(key) ?? this.#readLine(key);
  }

  #readLine(key: string): CatalogEntry | undefined {
    const line = this.#lines.get(key);
    const entry = line === undefined ? undefined : entryOf(key, line);
    if (entry) this.#read.set(key, entry);
    return entry;
  }
}

/** A line that was damaged by hand is not worth a request that fails: its model is not known. */
function entryOf(key: string, line: string): CatalogEntry | undefined {
  const document = tryParseJson(`{${line.endsWith(',') ? line.slice(0, -1) : line}}`);
  return isFields(document) ? readEntries(document).entries.get(key) : undefined;
}
