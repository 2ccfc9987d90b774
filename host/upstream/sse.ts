import type { StreamEvent } from '../contract/index.ts';
import { MAX_REPLY_BYTES } from './limits.ts';
import { textPile } from './pile.ts';

/**
 * Cuts a byte stream at its line ends, as byte strings (one character per byte), so that a character split over two
 * reads needs no care. Lines end with LF, CRLF or CR; a byte order mark in front of the first is dropped.
 */
export class LineCutter {
  readonly #held = textPile();
  #afterCr = false;
  #isFirst = true;

  /** Bytes held back because their line has not ended. */
  get heldBytes(): number {
    return this.#held.length;
  }

  /** All lines that are complete now, in one piece with their line ends; the rest is held. */
  push(bytes: Buffer): string {
    let text = bytes.toString('latin1');
    if (this.#afterCr && text.startsWith('\n')) text = text.slice(1);
    this.#afterCr = text.endsWith('\r');
    const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
    if (end === 0) {
      this.#hold(text);
      return '';
    }
    const ended = text.slice(0, end);
    const block = this.#held.length === 0 ? ended : this.#takeHeldAnd(ended);
    this.#hold(text.slice(end));
    return this.#withoutMark(block);
  }

  /** The last line, when the stream ended without a line end. */
  end(): string {
    const rest = this.#held.take();
    return rest === '' ? '' : `${this.#withoutMark(rest)}\n`;
  }

  #hold(text: string): void {
    if (text !== '') this.#held.push(text);
  }

  #takeHeldAnd(text: string): string {
    this.#held.push(text);
    return this.#held.take();
  }

  #withoutMark(block: string): string {
    if (!this.#isFirst) return block;
    this.#isFirst = false;
    return block.startsWith('\xEF\xBB\xBF') ? block.slice(3) : block;
  }
}

/** UTF-8 text of a byte string. */
export function textOfBytes(bytes: string): string {
  return /[\x80-\xff]/.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}

/** The byte string of a text. */
export function bytesOfText(text: string): string {
  return /[^\x00-\x7f]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** The value of a `data:` line without its optional space; `undefined` for any other line. */
export function dataOf(line: string): string | undefined {
  if (!line.startsWith('data:')) return undefined;
  return line.charCodeAt(5) === 0x20 ? line.slice(6) : line.slice(5);
}

/** Whether the data of an event say that the stream is complete, as upstreams of many wires do. */
export function isEndMark(data: string): boolean {
  return data === '[DONE]';
}

/** Reads whole events, for wires that name them: `event:` and the `data:` lines of an event joined by LF. */
export class EventReader {
  readonly #lines = new LineCutter();
  readonly #data = textPile();
  #dataLines = 0;
  #type = '';

  /** Bytes of the event that is not complete yet, or longer than any may be: nothing is read after that one. */
  get heldBytes(): number {
    return this.#lines.heldBytes + this.#data.length;
  }

  push(bytes: Buffer): StreamEvent[] {
    return this.#read(this.#lines.push(bytes));
  }

  /** The last event counts although its blank line is missing. */
  end(): StreamEvent[] {
    return this.#read(`${this.#lines.end()}\n`);
  }

  #read(block: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    const lines = block.split(/\r\n|\n|\r/);
    lines.pop(); // what follows the last line end
    for (const line of lines) {
      if (this.#data.length > MAX_REPLY_BYTES) break;
      const data = dataOf(line);
      if (data !== undefined) {
        if (this.#dataLines > 0) this.#data.push('\n');
        this.#data.push(data);
        this.#dataLines += 1;
      } else if (line.startsWith('event:')) this.#type = textOfBytes(line.slice(6)).trim();
      else if (line === '') this.#dispatch(events);
    }
    return events;
  }

  #dispatch(events: StreamEvent[]): void {
    if (this.#dataLines > 0) events.push({ type: this.#type, data: textOfBytes(this.#data.take()) });
    this.#dataLines = 0;
    this.#type = '';
  }
}

/** An event with the bytes it came in, its blank line included. */
export interface RawEvent extends StreamEvent {
  readonly raw: string;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** Reads whole events and keeps their bytes. A piece without data, such as a comment, is an event without data. */
export class RawEventReader {
  readonly #lines = new LineCutter();
  readonly #raw = textPile();
  #afterCr = false;

  get heldBytes(): number {
    return this.#lines.heldBytes + this.#raw.length;
  }

  push(bytes: Buffer): RawEvent[] {
    if (bytes.length === 0) return [];
    const late = this.#afterCr && bytes[0] === LF ? this.#lateLf() : [];
    this.#afterCr = bytes.at(-1) === CR;
    return [...late, ...this.#read(this.#lines.push(bytes))];
  }

  /** The second half of a line end whose first half counted as one: where that ended an event, it follows by itself. */
  #lateLf(): RawEvent[] {
    if (this.#lines.heldBytes + this.#raw.length === 0) return [rawEvent('\n')];
    this.#raw.push('\n');
    return [];
  }

  /** The last event counts although its blank line is missing. */
  end(): RawEvent[] {
    const rest = this.#lines.end();
    return this.#raw.length === 0 && rest === '' ? [] : this.#read(`${rest}\n`);
  }

  #read(block: string): RawEvent[] {
    if (this.#raw.length === 0 && !block.includes('\r')) return this.#readPlain(block);
    const events: RawEvent[] = [];
    const lineEnd = /\r\n|\n|\r/g;
    let start = 0;
    for (let end = lineEnd.exec(block); end; end = lineEnd.exec(block)) {
      const isBlank = end.index === start;
      this.#raw.push(block.slice(start, lineEnd.lastIndex));
      start = lineEnd.lastIndex;
      if (isBlank) events.push(rawEvent(this.#raw.take()));
    }
    return events;
  }

  /** The same where every line ends with LF alone, as nearly all do: events are cut at their blank lines. */
  #readPlain(block: string): RawEvent[] {
    const events: RawEvent[] = [];
    let start = 0;
    for (let next = nextStart(block, start); next > start; next = nextStart(block, start)) {
      events.push(plainEvent(block.slice(start, next)) ?? rawEvent(block.slice(start, next)));
      start = next;
    }
    if (start < block.length) this.#raw.push(block.slice(start));
    return events;
  }
}

/** Where the event behind the one at `start` begins; 0 where that one has no end. */
function nextStart(block: string, start: number): number {
  if (block.charCodeAt(start) === LF) return start + 1;
  const end = block.indexOf('\n\n', start);
  return end < 0 ? 0 : end + 2;
}

/** An event of a name and one line of data, or of the latter alone; `undefined` for any other. Lines end with LF. */
function plainEvent(raw: string): RawEvent | undefined {
  const named = raw.startsWith('event:') ? raw.indexOf('\n') : 0;
  const dataAt = named === 0 ? 0 : named + 1;
  if (!raw.startsWith('data:', dataAt) || raw.indexOf('\n', dataAt) !== raw.length - 2) return undefined;
  const valueAt = raw.charCodeAt(dataAt + 5) === SPACE ? dataAt + 6 : dataAt + 5;
  return { type: named === 0 ? '' : textOfBytes(raw.slice(6, named).trim()), data: textOfBytes(raw.slice(valueAt, -2)), raw };
}

function rawEvent(raw: string): RawEvent {
  let type = '';
  const data: string[] = [];
  for (const line of raw.split(/\r\n|\n|\r/)) {
    const value = dataOf(line);
    if (value !== undefined) data.push(value);
    else if (line.startsWith('event:')) type = line.slice(6).trim();
  }
  return { type: textOfBytes(type), data: textOfBytes(data.join('\n')), raw };
}
