import { type ChatChunk, type ChunkChoice, type ChunkDelta, isFields, type StreamEvent } from '../contract/index.ts';
import type { HeldText, SameWireStream } from '../wire/client-wire.ts';

/** An event that waits: for the texts in it, or for what came before it. */
interface HeldEvent {
  readonly event: StreamEvent;
  readonly bytes: string;
  /** Which texts of the answer it goes on with. */
  readonly pieces: readonly Piece[];
}

/** Events that leave together: one, or those over which a text is complete. */
interface HeldRun {
  readonly events: HeldEvent[];
  isPartial: boolean;
}

/** A text of an answer as the guards give it back. */
interface Released {
  text: string;
  /** The guards have changed it: events no longer hold what leaves. */
  isChanged: boolean;
  /** The guards have let pass all of it that came. */
  isEnded: boolean;
  /** Events with a piece of it that have not left. */
  waiting: number;
}

/** Events that have left are dropped once they are so many, and the greater part. */
const MOST_LEFT = 256;

/**
 * Events of an answer that goes on as it came, while guards hold back its texts: each leaves in its own bytes once the guards have
 * let all of its text pass, and none overtakes another. Where guards change a text, what they give leaves in the form of the event
 * that came next with that text; its last event waits for the rest.
 */
export class HeldEvents {
  /** Bytes of the events that have not left. */
  waitingBytes = 0;
  readonly #stream: SameWireStream;
  readonly #queue: HeldRun[] = [];
  readonly #released = new Map<string, Released>();
  /** The key of the text with which the guards went on last, by choice. */
  readonly #last = new Map<number, string | undefined>();
  #first = 0;

  constructor(stream: SameWireStream) {
    this.#stream = stream;
  }

  /** Events that are kept in memory. */
  get size(): number {
    return this.#queue.length;
  }

  /** Takes an event with its chunks, before the guards see those. */
  push(event: StreamEvent, bytes: string, chunks: readonly ChatChunk[]): void {
    const pieces = chunks.flatMap(piecesOf);
    const isPartial = this.#stream.isPartial?.(event) ?? false;
    const last = this.#queue.at(-1);
    if (last?.isPartial) {
      last.events.push({ event, bytes, pieces });
      last.isPartial = isPartial;
    } else this.#queue.push({ events: [{ event, bytes, pieces }], isPartial });
    this.waitingBytes += bytes.length;
    for (const { key } of pieces) {
      const released = this.#of(key);
      released.waiting += 1;
      released.isEnded = false;
    }
  }

  /** Takes what the guards let pass; gives the bytes that may leave now, with `isLast` all of them. */
  release(chunks: readonly ChatChunk[], isLast: boolean): string {
    for (const chunk of chunks) this.#take(chunk);
    let out = '';
    while (this.#first < this.#queue.length) {
      const run = this.#queue[this.#first] as HeldRun;
      const bytes = this.#next(run, isLast);
      if (bytes === undefined) break;
      out += bytes;
      this.#first += 1;
      for (const held of run.events) this.waitingBytes -= held.bytes.length;
    }
    this.#forget();
    return out;
  }

  #forget(): void {
    if (this.#first < this.#queue.length && (this.#first < MOST_LEFT || this.#first * 2 < this.#queue.length)) return;
    this.#queue.splice(0, this.#first);
    this.#first = 0;
  }

  #of(key: string): Released {
    let released = this.#released.get(key);
    if (!released) this.#released.set(key, (released = { text: '', isChanged: false, isEnded: false, waiting: 0 }));
    return released;
  }

  /** Guards keep the order: what they give of a text is all of it, so far, once they give anything else of its choice. */
  #take(chunk: ChatChunk): void {
    for (const choice of chunk.choices) {
      const { index, delta, finish_reason: finish } = choice;
      const pieces = piecesOfChoice(choice);
      for (const piece of pieces) if (piece.kind === 'reasoning') this.#give(piece);
      if (hasSeal(delta)) this.#follow(index, undefined);
      for (const piece of pieces) if (piece.kind === 'content') this.#give(piece);
      if (hasHead(delta)) this.#follow(index, undefined);
      for (const piece of pieces) if (piece.kind === 'call') this.#give(piece);
      if (finish) this.#follow(index, undefined);
    }
  }

  #give({ key, choice, text }: Piece): void {
    this.#follow(choice, key);
    this.#of(key).text += text;
  }

  /** What the choice goes on with: a text by its key, or something that is none. */
  #follow(choice: number, key: string | undefined): void {
    const last = this.#last.get(choice);
    if (last === key) return;
    if (last !== undefined) this.#of(last).isEnded = true;
    this.#last.set(choice, key);
  }

  /** What leaves of the first events; `undefined` while they wait. */
  #next({ events, isPartial }: HeldRun, isLast: boolean): string | undefined {
    if (isPartial && !isLast) return undefined;
    const texts = textsOf(events);
    let isSame = true;
    for (const [key, text] of texts) {
      const state = this.#stateOf(key, text, isLast);
      if (state === 'waiting') return undefined;
      if (state === 'changed') isSame = false;
    }
    for (const [key, { text, count }] of texts) {
      const released = this.#of(key);
      texts.set(key, { text: released.isChanged ? released.text : text, count });
      released.text = released.isChanged ? '' : released.text.slice(text.length);
      released.waiting -= count;
      if (released.waiting === 0 && released.text === '') released.isChanged = false;
    }
    return events.map((held) => (isSame ? held.bytes : this.#changed(held, texts))).join('');
  }

  #stateOf(key: string, { text, count }: RunText, isLast: boolean): 'same' | 'waiting' | 'changed' {
    const released = this.#of(key);
    const isOver = isLast || released.isEnded;
    if (!released.isChanged && released.text.startsWith(text)) return 'same';
    if (!released.isChanged && text.startsWith(released.text) && !isOver) return 'waiting';
    released.isChanged = true;
    return !isOver && (released.text === '' || released.waiting === count) ? 'waiting' : 'changed';
  }

  /** An event with what the guards give of its texts; the first one that goes on with a text takes all of it. */
  #changed({ event, bytes, pieces }: HeldEvent, texts: Map<string, RunText>): string {
    if (pieces.length === 0 && !this.#stream.isPartial) return bytes;
    const own = pieces.map((piece) => {
      const { text, count } = texts.get(piece.key) ?? { text: '', count: 0 };
      texts.set(piece.key, { text: '', count });
      return { ...piece, text };
    });
    return this.#stream.withTexts?.(event, own, bytes) ?? '';
  }
}

/** A text as the events of a run go on with it, and in how many pieces. */
interface RunText {
  readonly text: string;
  readonly count: number;
}

function textsOf(events: readonly HeldEvent[]): Map<string, RunText> {
  const texts = new Map<string, RunText>();
  for (const { key, text } of events.flatMap(({ pieces }) => pieces)) {
    const known = texts.get(key) ?? { text: '', count: 0 };
    texts.set(key, { text: known.text + text, count: known.count + 1 });
  }
  return texts;
}

/** Whether a delta brings a signature or sealed data, which stand behind the thoughts beside them. */
const hasSeal = ({ reasoning_details: details }: ChunkDelta): boolean =>
  details?.some((item) => isFields(item) && (item['signature'] !== undefined || item['data'] !== undefined)) === true;

/** Whether a delta brings the head of a call, which stands before its arguments. */
const hasHead = ({ tool_calls: calls }: ChunkDelta): boolean =>
  calls?.some((call) => call.id !== undefined || call.function?.name !== undefined) === true;

interface Piece extends HeldText {
  /** The text of the answer that it belongs to. */
  readonly key: string;
}

/** The texts of a chunk that guards hold back. */
const piecesOf = ({ choices }: ChatChunk): Piece[] => choices.flatMap(piecesOfChoice);

function piecesOfChoice({ index: choice, delta }: ChunkChoice): Piece[] {
  const { content, reasoning_content: reasoning, tool_calls: calls } = delta;
  const pieces: Piece[] = [];
  if (typeof reasoning === 'string' && reasoning !== '')
    pieces.push({ key: `${choice} reasoning`, choice, kind: 'reasoning', text: reasoning });
  if (typeof content === 'string' && content !== '')
    pieces.push({ key: `${choice} content`, choice, kind: 'content', text: content });
  for (const [place, call] of (calls ?? []).entries()) {
    const text = call.function?.arguments ?? '';
    const key = `${choice} call ${call.index ?? place}`;
    if (text !== '') pieces.push({ key, choice, kind: 'call', text, name: call.function?.name });
  }
  return pieces;
}
