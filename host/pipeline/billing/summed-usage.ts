import type { ChatChunk, Usage } from '../../contract/index.ts';
import type { ClientFailure } from '../../wire/client-failure.ts';
import type { ClientStream, Silence } from '../../wire/client-wire.ts';
import { usageSum } from './billing.ts';

/** Writes the stream of a later turn: what it says of usage is the sum with the turns before. Every chunk is written again. */
export class SummedUsage implements ClientStream {
  readonly frames = undefined;
  readonly #encoder: ClientStream;
  readonly #before: Usage;

  constructor(encoder: ClientStream, before: Usage) {
    this.#encoder = encoder;
    this.#before = before;
  }

  get contentType(): string {
    return this.#encoder.contentType;
  }

  chunk(chunk: ChatChunk): string {
    return this.#encoder.chunk(chunk.usage ? { ...chunk, usage: usageSum(this.#before, chunk.usage) } : chunk);
  }

  keepAlive(silence: Silence): string {
    return this.#encoder.keepAlive(silence);
  }

  comment(text: string): string {
    return this.#encoder.comment?.(text) ?? '';
  }

  end(): string {
    return this.#encoder.end();
  }

  error(failure: ClientFailure, isFirst?: boolean): string {
    return this.#encoder.error(failure, isFirst);
  }
}
