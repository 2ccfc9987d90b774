import { GatewayError, type WireReply } from '../contract/index.ts';
import type { Duplex } from 'node:stream';
import { transportError, unusableReply } from './fault.ts';
import { MAX_REPLY_BYTES } from './limits.ts';
import type { Transport } from './transport.ts';
import type { ReplyControl, ReplySink, UpstreamCall } from './upstream-call.ts';

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

/** Ends a body that will not be read to its end; does nothing for one that has ended. */
export function closeBody(body: WireReply['body']): void {
  if (body instanceof Uint8Array) return;
  body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => {}); // a source that fails to close is of no further use
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

/** A reply as it came. */
export interface VerbatimReply {
  readonly status: number;
  /** Name, value, name, value: lines of one name stand apart. */
  readonly rawHeaders: readonly string[];
  /** Headers with the lines of one name joined, by lower-case name. */
  readonly headers: WireReply['headers'];
  /** The bytes of the reply. For a connection that left HTTP there are none, and it ends with the connection. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The connection, when the upstream speaks another protocol on it from now on. */
  readonly socket?: Duplex;
}

/** Opens a reply that goes on as it came; resolves with its headers. */
export function openVerbatim(transport: Transport, call: UpstreamCall): Promise<VerbatimReply> {
  const { promise, resolve, reject } = Promise.withResolvers<VerbatimReply>();
  const body = new IteratedBody();
  transport.open(call, {
    onReply: (status, headers, control) => {
      body.control = control;
      resolve({ status, headers, rawHeaders: control.rawHeaders?.() ?? [], body });
    },
    onUpgrade: (status, headers, control, socket) =>
      resolve({ status, headers, rawHeaders: control.rawHeaders?.() ?? [], body: new TunnelBody(socket), socket }),
    onData: (bytes) => body.push(bytes),
    onEnd: () => body.finish(undefined),
    onError: (error) => {
      reject(error);
      body.finish(error);
    },
  });
  return promise;
}

/** Pushes a reply that was made by hand or by several round trips into a sink; abort ends the source too. */
export async function pumpReply(pending: Promise<WireReply>, sink: ReplySink): Promise<void> {
  const pump = new Pump();
  try {
    const { status, headers, body } = await pending;
    const source = (body instanceof Uint8Array ? oneBody(body) : body)[Symbol.asyncIterator]();
    pump.source = source;
    sink.onReply(status, headers, pump);
    if (pump.isAborted) return; // the reply is not wanted any more, and its first piece may never come
    for (let next = await source.next(); !pump.isAborted && !next.done; next = await source.next()) {
      sink.onData(Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength));
      await pump.gate?.promise;
    }
    if (!pump.isAborted) sink.onEnd();
  } catch (error) {
    if (!pump.isAborted) sink.onError(error instanceof GatewayError ? error : transportError(error));
  }
}

async function* oneBody(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}

class Pump implements ReplyControl {
  source: AsyncIterator<Uint8Array> | undefined;
  /** Closed while the reader wants no more. */
  gate: PromiseWithResolvers<void> | undefined;
  isAborted = false;

  pause(): void {
    this.gate ??= Promise.withResolvers();
  }

  resume(): void {
    this.gate?.resolve();
    this.gate = undefined;
  }

  abort(): void {
    this.isAborted = true;
    this.resume();
    this.source?.return?.().catch(() => {}); // a source that fails to close is of no further use
  }
}

/** Bytes pushed on one side, iterated on the other; pauses the upstream while nothing reads. */
class IteratedBody implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array> {
  control: ReplyControl | undefined;
  readonly #pieces: Uint8Array[] = [];
  #isOver = false;
  #error: GatewayError | undefined;
  #wake: (() => void) | undefined;

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

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

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece) return { done: false, value: piece };
      if (this.#error) throw this.#error;
      if (this.#isOver) return { done: true, value: undefined };
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      this.control?.resume();
      await promise;
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.finish(undefined);
    this.control?.abort();
    return { done: true, value: undefined };
  }
}

/** Ends when the connection has closed; closing it closes the connection. */
class TunnelBody implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array> {
  readonly #socket: Duplex;

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#socket.closed) resolve();
    else this.#socket.on('close', () => resolve());
    await promise;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#socket.destroy();
    return { done: true, value: undefined };
  }
}

/** A body whose first piece has been read; `undefined` for an empty one. */
export async function startBody(body: WireReply['body']): Promise<AsyncIterable<Uint8Array> | undefined> {
  const source = (body instanceof Uint8Array ? oneBody(body) : body)[Symbol.asyncIterator]();
  const first = await source.next();
  return first.done ? undefined : new StartedBody(source, first);
}

/** Gives the first piece back before the others. Closing it closes the source, also when reading has not begun. */
class StartedBody implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;
  #first: IteratorResult<Uint8Array> | undefined;

  constructor(source: AsyncIterator<Uint8Array>, first: IteratorResult<Uint8Array>) {
    this.#source = source;
    this.#first = first;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? this.#source.next();
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#first = undefined;
    return (await this.#source.return?.()) ?? { done: true, value: undefined };
  }
}

/** A body that tells once how it ended: read to its end, closed before, or broken by an error. */
export function watchBody(
  body: AsyncIterable<Uint8Array>,
  onOver: (error: GatewayError | undefined) => void,
): AsyncIterable<Uint8Array> {
  return new WatchedBody(body[Symbol.asyncIterator](), onOver);
}

class WatchedBody implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;
  #onOver: ((error: GatewayError | undefined) => void) | undefined;

  constructor(source: AsyncIterator<Uint8Array>, onOver: (error: GatewayError | undefined) => void) {
    this.#source = source;
    this.#onOver = onOver;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    try {
      const result = await this.#source.next();
      if (result.done) this.#end(undefined);
      return result;
    } catch (cause) {
      const error = cause instanceof GatewayError ? cause : transportError(cause);
      this.#end(error);
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#end(undefined);
    return (await this.#source.return?.()) ?? { done: true, value: undefined };
  }

  #end(error: GatewayError | undefined): void {
    const onOver = this.#onOver;
    this.#onOver = undefined;
    onOver?.(error);
  }
}
