import type { WireReply } from '../contract/index.ts';
import type { Cancellation } from '../pipeline/cancellation.ts';
import { transportError, unusableReply } from '../pipeline/fault.ts';
import { GatewayError } from '../contract/index.ts';
import { MAX_REPLY_BYTES, type ReplyControl, type ReplySink, type Transport, type UpstreamCall } from './transport.ts';

/** The whole body as one buffer, up to 50 MiB. */
export async function collectBody(body: WireReply['body']): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MAX_REPLY_BYTES) throw unusableReply(`the answer exceeds the limit of ${MAX_REPLY_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Opens a reply whose body is iterated; resolves with its headers. */
export function openReply(transport: Transport, call: UpstreamCall): Promise<WireReply> {
  const { promise, resolve, reject } = Promise.withResolvers<WireReply>();
  const body = new IteratedBody();
  transport.open(call, {
    onReply: (status, headers, control) => {
      body.control = control;
      resolve({ status, headers, body });
    },
    onData: (bytes) => body.push(bytes),
    onEnd: () => body.finish(undefined),
    onError: (error) => {
      reject(error);
      body.finish(error);
    },
  });
  return promise;
}

/** Pushes a reply that was made by hand or by several round trips into a sink. */
export async function pumpReply(pending: Promise<WireReply>, sink: ReplySink, cancellation: Cancellation): Promise<void> {
  let isAborted = false;
  let gate: PromiseWithResolvers<void> | undefined;
  const resume = (): void => {
    gate?.resolve();
    gate = undefined;
  };
  const abort = (): void => {
    isAborted = true;
    resume();
  };
  const control: ReplyControl = { pause: () => { gate ??= Promise.withResolvers(); }, resume, abort };
  try {
    const { status, headers, body } = await pending;
    sink.onReply(status, headers, control);
    for await (const piece of body instanceof Uint8Array ? [body] : body) {
      if (isAborted) return;
      cancellation.throwIfCancelled();
      sink.onData(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
      await gate?.promise;
    }
    sink.onEnd();
  } catch (error) {
    sink.onError(error instanceof GatewayError ? error : transportError(error));
  }
}

/** Bytes pushed on one side, iterated on the other; pauses the upstream while nobody reads. */
class IteratedBody implements AsyncIterable<Uint8Array> {
  control: ReplyControl | undefined;
  #pieces: Uint8Array[] = [];
  #isOver = false;
  #error: GatewayError | undefined;
  #wake: (() => void) | undefined;

  push(bytes: Uint8Array): void {
    this.#pieces.push(bytes);
    this.control?.pause();
    this.#wake?.();
  }

  finish(error: GatewayError | undefined): void {
    this.#isOver = true;
    this.#error = error;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece) yield piece;
        else if (this.#error) throw this.#error;
        else if (this.#isOver) return;
        else await this.#more();
      }
    } finally {
      this.control?.abort();
    }
  }

  async #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    this.control?.resume();
    await promise;
    this.#wake = undefined;
  }
}
