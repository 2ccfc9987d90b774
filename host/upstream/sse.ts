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
