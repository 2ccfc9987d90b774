import type { StreamEvent } from '../contract/index.ts';

/** Longest line of an event stream. Source: data-plane reference 1.3. */
export const MAX_LINE_BYTES = 1024 * 1024;

/**
 * Cuts a byte stream at its line ends, as byte strings (one character per byte), so that a character split over two
 * reads needs no care. Lines end with LF, CRLF or CR; a byte order mark in front of the first is dropped.
 */
export class LineCutter {
  #held: string[] = [];
  #heldBytes = 0;
  #afterCr = false;
  #isFirst = true;

  /** Bytes held back because their line has not ended. */
  get heldBytes(): number {
    return this.#heldBytes;
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
    const block = this.#takeHeld() + text.slice(0, end);
    this.#hold(text.slice(end));
    return this.#withoutMark(block);
  }

  /** The last line, when the stream ended without a line end. */
  end(): string {
    const rest = this.#takeHeld();
    return rest === '' ? '' : `${this.#withoutMark(rest)}\n`;
  }

  #hold(text: string): void {
    if (text === '') return;
    this.#held.push(text);
    this.#heldBytes += text.length;
  }

  #takeHeld(): string {
    if (this.#heldBytes === 0) return '';
    const text = this.#held.join('');
    this.#held = [];
    this.#heldBytes = 0;
    return text;
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

/** Reads whole events, for wires that name them: `event:` and the `data:` lines of an event joined by LF. */
export class EventReader {
  readonly #lines = new LineCutter();
  #type = '';
  #data: string[] = [];
  #dataBytes = 0;

  /** Bytes of the event that is not complete yet, or longer than any may be: nothing is read after that one. */
  get heldBytes(): number {
    return this.#lines.heldBytes + this.#dataBytes;
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
      if (this.#dataBytes > MAX_LINE_BYTES) break;
      const data = dataOf(line);
      if (data !== undefined) {
        this.#data.push(data);
        this.#dataBytes += data.length;
      } else if (line.startsWith('event:')) this.#type = textOfBytes(line.slice(6)).trim();
      else if (line === '') this.#dispatch(events);
    }
    return events;
  }

  #dispatch(events: StreamEvent[]): void {
    if (this.#data.length > 0) events.push({ type: this.#type, data: textOfBytes(this.#data.join('\n')) });
    this.#type = '';
    this.#data = [];
    this.#dataBytes = 0;
  }
}
