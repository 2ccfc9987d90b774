import { createRequire } from 'node:module';
import type { EventStreamCodec, MessageHeaders } from '@smithy/eventstream-codec';
import { parseJson, type StreamEvent } from '../contract/index.ts';
import { MAX_REPLY_BYTES } from './limits.ts';
import { bytePile } from './pile.ts';

const LENGTH_BYTES = 4;
/** Two lengths and two checksums, no header, no payload. */
const MIN_FRAME_BYTES = 16;

/**
 * Cuts a stream of `application/vnd.amazon.eventstream` into events; both checksums of each frame are verified. An
 * event's type is its `:event-type`, that of an exception its `:exception-type`. Throws on bytes that are not such a frame.
 * Source: AWS, "Event stream encoding", 2026-11-21.
 */
export class FrameReader {
  readonly #codec = openCodec();
  readonly #held = bytePile();
  /** Bytes that must be there before anything can be read. */
  #wantedBytes = LENGTH_BYTES;

  /** Bytes of the frame that is not complete yet. */
  get heldBytes(): number {
    return this.#held.length;
  }

  /** Lazy, so that what stands before a broken frame is still delivered. */
  *push(bytes: Buffer): Generator<StreamEvent, void> {
    this.#held.push(bytes);
    if (this.#held.length < this.#wantedBytes) return;
    let rest = this.#held.take();
    for (let length = frameLength(rest); length <= rest.length; length = frameLength(rest)) {
      yield this.#event(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
    this.#held.push(rest);
    this.#wantedBytes = frameLength(rest);
  }

  end(): readonly StreamEvent[] {
    if (this.#held.length > 0)
      throw new Error(`the stream ended inside a frame, after ${this.#held.length} bytes of it`);
    return [];
  }

  #event(frame: Buffer): StreamEvent {
    const { headers, body } = this.#codec.decode(frame);
    const payload = textOf(body);
    switch (headerText(headers, ':message-type')) {
      case 'exception':
        return { type: headerText(headers, ':exception-type'), data: payload };
      case 'error':
        return {
          type: headerText(headers, ':error-code'),
          data: JSON.stringify({ message: headerText(headers, ':error-message') }),
        };
      default:
        return eventOf(headerText(headers, ':event-type'), payload);
    }
  }
}

/** Bytes of the frame at the start, or as many as must be there to tell. */
function frameLength(bytes: Buffer): number {
  if (bytes.length < LENGTH_BYTES) return LENGTH_BYTES;
  const length = bytes.readUInt32BE(0);
  if (length < MIN_FRAME_BYTES || length > MAX_REPLY_BYTES)
    throw new Error(`a frame of ${length} bytes is not between ${MIN_FRAME_BYTES} and ${MAX_REPLY_BYTES}`);
  return length;
}

/** A `chunk` wraps one event of a model's own stream in base64. */
function eventOf(type: string, payload: string): StreamEvent {
  return { type, data: type === 'chunk' ? (wrappedText(payload) ?? payload) : payload };
}

function wrappedText(payload: string): string | undefined {
  try {
    const { bytes } = parseJson(payload) as { readonly bytes?: unknown };
    return typeof bytes === 'string' ? Buffer.from(bytes, 'base64').toString('utf8') : undefined;
  } catch {
    return undefined;
  }
}

function headerText(headers: MessageHeaders, name: string): string {
  const value = headers[name]?.value;
  return typeof value === 'string' ? value : '';
}

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

/** Loaded with the first stream that needs it: most gateways never do. */
function openCodec(): EventStreamCodec {
  const codec = createRequire(import.meta.url)('@smithy/eventstream-codec') as {
    readonly EventStreamCodec: typeof EventStreamCodec;
  };
  return new codec.EventStreamCodec(textOf, (text) => Buffer.from(text, 'utf8'));
}
