import type { ChatChunk, StreamEvent } from '../contract/index.ts';
import type { SameWireStream } from '../wire/client-wire.ts';

/** An event that waits: for the text in it, or for what came before it. */
interface HeldEvent {
  readonly event: StreamEvent;
  readonly bytes: string;
  /** Which text of the answer it goes on with, and the piece; `undefined` where it carries none. */
  readonly key: string | undefined;
  readonly text: string;
}

/** A text of an answer as the guards give it back. */
interface Released {
  text: string;
  /** The guards have changed it: events no longer hold what leaves. */
  isChanged: boolean;
  /** The guards have let all of it pass. */
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
  readonly #queue: HeldEvent[] = [];
  readonly #released = new Map<string, Released>();
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
    const [piece] = chunks.flatMap(piecesOf);
    this.#queue.push({ event, bytes, key: piece?.key, text: piece?.text ?? '' });
    this.waitingBytes += bytes.length;
    if (piece) this.#of(piece.key).waiting += 1;
  }

  /** Takes what the guards let pass; gives the bytes that may leave now, with `isLast` all of them. */
  release(chunks: readonly ChatChunk[], isLast: boolean): string {
    for (const { key, text } of chunks.flatMap(piecesOf)) this.#of(key).text += text;
    for (const { index, finish_reason: finish } of chunks.flatMap(({ choices }) => choices)) if (finish) this.#end(index);
    let out = '';
    while (this.#first < this.#queue.length) {
      const held = this.#queue[this.#first] as HeldEvent;
      const bytes = this.#next(held, isLast);
      if (bytes === undefined) break;
      out += bytes;
      this.#first += 1;
      this.waitingBytes -= held.bytes.length;
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
    if (!released) this.#released.set(key, released = { text: '', isChanged: false, isEnded: false, waiting: 0 });
    return released;
  }

  #end(choice: number): void {
    for (const [key, released] of this.#released) if (key.startsWith(`${choice} `)) released.isEnded = true;
  }

  /** What leaves of the first event; `undefined` while it waits. */
  #next({ event, bytes, key, text }: HeldEvent, isLast: boolean): string | undefined {
    if (key === undefined || text === '') return bytes;
    const released = this.#of(key);
    const isOver = isLast || released.isEnded;
    if (!released.isChanged && released.text.startsWith(text)) {
      released.text = released.text.slice(text.length);
      released.waiting -= 1;
      return bytes;
    }
    if (!released.isChanged && text.startsWith(released.text) && !isOver) return undefined;
    released.isChanged = true;
    const own = released.text;
    if (!isOver && (own === '' || released.waiting === 1)) return undefined;
    released.waiting -= 1;
    released.text = '';
    return own === '' ? '' : (this.#stream.withText?.(event, own) ?? '');
  }
}

interface Piece {
  readonly key: string;
  readonly text: string;
}

/** The texts of a chunk that guards hold back. */
function piecesOf({ choices }: ChatChunk): Piece[] {
  return choices.flatMap(({ index, delta: { content, reasoning_content: reasoning, tool_calls: calls } }) => [
    ...(typeof reasoning === 'string' && reasoning !== '' ? [{ key: `${index} reasoning`, text: reasoning }] : []),
    ...(typeof content === 'string' && content !== '' ? [{ key: `${index} content`, text: content }] : []),
    ...(calls ?? []).flatMap((call, place) => {
      const text = call.function?.arguments ?? '';
      return text === '' ? [] : [{ key: `${index} call ${call.index ?? place}`, text }];
    }),
  ]);
}
