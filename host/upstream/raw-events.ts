import { type StreamEvent, tryParseJson } from '../contract/index.ts';
import { EventRuns, type PieceForm } from './event-runs.ts';
import { textPile } from './pile.ts';
import { dataOf, LineCutter, textOfBytes } from './sse.ts';

/** An event with the bytes it came in, its blank line included. */
export interface RawEvent extends StreamEvent {
  readonly raw: string;
  /** How many events of the upstream it stands for; one, unless said. */
  readonly count?: number;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** Reads whole events and keeps their bytes. A piece without data, such as a comment, is an event without data. */
export class RawEventReader {
  readonly #runs: EventRuns | undefined;
  readonly #lines = new LineCutter();
  readonly #raw = textPile();
  #afterCr = false;

  /** With the form of an event that carries a piece of text, events of that form that arrive together become one. */
  constructor(piece?: PieceForm) {
    this.#runs = piece && new EventRuns(piece);
  }

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

  /** The last event counts although its blank line is missing, unless it broke off before: clients cannot use half of one. */
  end(): RawEvent[] {
    const rest = this.#lines.end();
    if (this.#raw.length === 0 && rest === '') return [];
    const ended = rest === '' && this.#afterCr ? '\n' : rest; // the second half of a line end, which does not count as a blank line
    return this.#read(`${ended}\n`).filter(isWhole);
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

  /** Events of a block in which every line ends with LF alone, as nearly all do: events are cut at their blank lines. */
  #readPlain(block: string): RawEvent[] {
    const events: RawEvent[] = [];
    let start = 0;
    for (let next = nextStart(block, start); next > start; next = nextStart(block, start)) {
      const raw = block.slice(start, next);
      const event = plainEvent(raw);
      const joined = event && next < block.length ? this.#runs?.join(raw, block, next) : undefined;
      events.push(event && joined ? { ...event, ...joined } : (event ?? rawEvent(raw)));
      start = joined ? start + joined.raw.length : next;
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
  return {
    type: named === 0 ? '' : textOfBytes(raw.slice(6, named).trim()),
    data: textOfBytes(raw.slice(valueAt, -2)),
    raw,
  };
}

/** Whether an event without its blank line holds all of its JSON. A comment has none. */
function isWhole({ data, raw }: RawEvent): boolean {
  return data === '' ? /^[:\r\n]/.test(raw) : tryParseJson(data) !== undefined;
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
