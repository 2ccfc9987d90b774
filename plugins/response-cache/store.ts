import { parseJson, type ChatReply } from 'gw/contract';

/** An answer as it is kept. */
export interface Kept {
  /** The reply as JSON, in bytes. */
  readonly body: Uint8Array;
  /** What the upstream called its model. */
  readonly reportedModel: string | undefined;
}

export interface StoreBounds {
  readonly maxAgeMs: number;
  readonly maxEntries: number;
  /** Bytes of all answers together, and so of one. */
  readonly maxBytes: number;
}

interface Entry extends Kept {
  readonly storedAt: number;
}

/** Answers by key, the least recently used first out. */
export class AnswerStore {
  readonly #bounds: StoreBounds;
  readonly #entries = new Map<string, Entry>(); // in order of use
  #bytes = 0;

  constructor(bounds: StoreBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Reading is using; it does not make an answer any younger. */
  get(key: string, now: number): Kept | undefined {
    const found = this.#entries.get(key);
    if (!found) return undefined;
    this.#delete(key, found);
    if (now - found.storedAt > this.#bounds.maxAgeMs) return undefined;
    this.#put(key, found);
    return found;
  }

  set(key: string, kept: Kept, now: number): void {
    const { maxEntries, maxBytes } = this.#bounds;
    if (maxEntries <= 0 || kept.body.length > maxBytes) return;
    const before = this.#entries.get(key);
    if (before) this.#delete(key, before);
    this.#put(key, { ...kept, storedAt: now });
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= maxEntries && this.#bytes <= maxBytes) return;
      this.#delete(oldest, entry);
    }
  }

  #put(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.body.length;
  }

  #delete(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#bytes -= entry.body.length;
  }
}

/** In memory of its own: a slice of the buffers that Node shares would keep all of one alive. */
export function keep(reply: ChatReply, reportedModel: string | undefined): Kept {
  const text = JSON.stringify(reply);
  const body = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  body.write(text);
  return { body, reportedModel };
}

/** A copy of the answer. `undefined` for one beyond what a text from outside may hold: that one is not given again. */
export function replyOf({ body }: Kept): ChatReply | undefined {
  try {
    return parseJson(Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8')) as ChatReply;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
