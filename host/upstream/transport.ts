import type { Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { GatewayError, type OutgoingRequest, setMember } from '../contract/index.ts';
import { type Decoding, decodingOf } from './decoding.ts';
import { transportError, unusableReply } from './fault.ts';
import { AddressRefused } from './egress/refusals.ts';
import { MAX_REPLY_BYTES } from './limits.ts';
import { Pools } from './pools.ts';
import type {
  CollectedReply,
  ReplyControl,
  ReplyHeaders,
  ReplySink,
  UpstreamCall,
  EgressOfCall,
} from './upstream-call.ts';

const UNARY_BODY_IDLE_MS = 300_000;

/** Sends requests to providers. Connections are kept for the next call; idle ones close after 90 s. */
export class Transport {
  readonly #pools = new Pools();

  /** Origins with a connection or a call. */
  get origins(): number {
    return this.#pools.size;
  }

  /** Sends one request; the reply is pushed into the sink. Redirects are never followed. */
  open(call: UpstreamCall, sink: ReplySink): void {
    const { request, cancellation, headersTimeoutMs, bodyIdleMs, upgrade } = call;
    if (cancellation.cause) {
      sink.onError(cancellation.cause);
      return;
    }
    const handler = new ReplyHandler(call, sink);
    try {
      const { origin, path } = splitUrl(request.url);
      handler.connecting = this.#pools.dispatch(
        origin,
        call,
        {
          path,
          method: request.method,
          headers: request.headers,
          body: bodyOf(request.body),
          headersTimeout: headersTimeoutMs,
          bodyTimeout: bodyIdleMs ?? (headersTimeoutMs === 0 ? 0 : UNARY_BODY_IDLE_MS),
          upgrade: upgrade ?? null,
        },
        handler,
      );
    } catch (error) {
      handler.fail(error);
    }
  }

  /** Keeps the connections of an instance to its root: they end with the last instance that holds them. */
  hold(root: string, egress: EgressOfCall): () => void {
    return this.#pools.hold(splitUrl(root).origin, egress);
  }

  /** Sends one request and collects the reply, up to 50 MiB. Rejects when none arrives. */
  unary(call: UpstreamCall): Promise<CollectedReply> {
    return new Promise((resolve, rejectCall) => this.open(call, new CollectingSink(resolve, rejectCall)));
  }

  close(): Promise<void> {
    return this.#pools.close();
  }
}

function bodyOf(body: OutgoingRequest['body']): string | Uint8Array | Readable | null {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return body ?? null;
  return Readable.from(body, { objectMode: false });
}

/** `https://h:1/a?b` as origin and path, without the cost of a URL object. */
function splitUrl(url: string): { origin: string; path: string } {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  return start < 0 ? { origin: url, path: '/' } : { origin: url.slice(0, start), path: url.slice(start) };
}

/** Adapts undici's callbacks to a sink: cancellation, decompression, one ending. */
class ReplyHandler implements Dispatcher.DispatchHandler, ReplyControl {
  /** The connection that is being made for this call, if any. */
  connecting: Socket | undefined;
  readonly #sink: ReplySink;
  readonly #stopListening: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #decoding: Decoding | undefined;
  #rawHeaders: unknown;
  #isOver = false;
  readonly #isVerbatim: boolean;
  readonly #noted: UpstreamCall['noted'];
  readonly #onReply: UpstreamCall['onReply'];
  readonly #egress: UpstreamCall['egress'];

  constructor({ cancellation, isVerbatim = false, noted, onReply, egress }: UpstreamCall, sink: ReplySink) {
    this.#sink = sink;
    this.#noted = noted;
    this.#onReply = onReply;
    this.#egress = egress;
    this.#isVerbatim = isVerbatim;
    this.#stopListening = cancellation.onCancel((cause) => {
      if (this.#isOver) return;
      this.#end();
      this.#abortWire();
      sink.onError(cause);
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) this.#abortWire();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200 || this.#isOver) return; // informational replies are not the reply
    this.#note(status);
    const flat = flatHeaders(headers);
    if (this.#isVerbatim) {
      this.#rawHeaders = controller.rawHeaders;
      this.#sink.onReply(status, flat, this);
      return;
    }
    const { 'content-encoding': encoding } = flat;
    if (encoding !== undefined && encoding !== 'identity') this.#startDecoding(encoding);
    this.#sink.onReply(status, flat, this);
  }

  #note(status: number): void {
    if (this.#noted) this.#noted.status = status;
    this.#onReply?.(status);
  }

  onRequestUpgrade(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    socket: Duplex,
  ): void {
    socket.on('error', () => socket.destroy()); // undici has taken its own listeners off
    if (this.#isOver || !this.#sink.onUpgrade) {
      socket.destroy();
      return;
    }
    this.#note(status);
    this.#rawHeaders = controller.rawHeaders;
    this.#end();
    this.#sink.onUpgrade(status, flatHeaders(headers), this, socket);
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#isOver || bytes.length === 0) return; // undici delivers nothing at all after a pause
    if (this.#decoding) this.#decoding.input.write(bytes);
    else this.#sink.onData(bytes);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    if (this.#decoding) {
      this.#decoding.input.end();
      return;
    }
    this.#end();
    this.#sink.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** What the source of a request's body says of its own failure stands: it is none of the upstream's. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#end();
    if (error instanceof AddressRefused) this.#egress?.addressRefused(error.host);
    this.#sink.onError(error instanceof GatewayError ? error : transportError(error));
  }

  pause(): void {
    this.#controller?.pause();
    this.#decoding?.output.pause();
  }

  resume(): void {
    this.#decoding?.output.resume();
    this.#controller?.resume();
  }

  abort(): void {
    if (this.#isOver) return;
    this.#end();
    this.#abortWire();
  }

  rawHeaders(): readonly string[] {
    return Array.isArray(this.#rawHeaders)
      ? this.#rawHeaders.map((text: Buffer | string) => (typeof text === 'string' ? text : text.toString('latin1')))
      : [];
  }

  #end(): void {
    this.#isOver = true;
    this.#stopListening();
  }

  #abortWire(): void {
    const cause = new Error('cancelled by the gateway');
    if (this.#controller) this.#controller.abort(cause);
    else this.connecting?.destroy(cause); // nothing has been sent yet, and nothing will be
    this.#decoding?.destroy();
  }

  #startDecoding(encoding: string): void {
    const decoding = decodingOf(encoding);
    if (!decoding) return;
    this.#decoding = decoding;
    const { output } = decoding;
    output.on('data', (bytes: Buffer) => {
      if (!this.#isOver) this.#sink.onData(bytes);
    });
    output.on('error', (error) => {
      if (this.#isOver) return;
      this.abort();
      this.#sink.onError(unusableReply(`undecodable ${encoding.toLowerCase()} body`, error));
    });
    output.on('end', () => {
      if (this.#isOver) return;
      this.#end();
      this.#sink.onEnd();
    });
  }
}

/** What came in several lines joined into one, in place: the object was made for this reply. */
function flatHeaders(headers: Record<string, string | string[] | undefined>): ReplyHeaders {
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'object') setMember(headers, name, value.join(', '));
  }
  return headers as ReplyHeaders;
}

class CollectingSink implements ReplySink {
  readonly #resolve: (reply: CollectedReply) => void;
  readonly #reject: (error: GatewayError) => void;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  #headers: ReplyHeaders = {};
  #control: ReplyControl | undefined;

  constructor(resolve: (reply: CollectedReply) => void, rejectCall: (error: GatewayError) => void) {
    this.#resolve = resolve;
    this.#reject = rejectCall;
  }

  onReply(status: number, headers: ReplyHeaders, control: ReplyControl): void {
    this.#status = status;
    this.#headers = headers;
    this.#control = control;
  }

  onData(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_REPLY_BYTES) {
      this.#control?.abort();
      this.#reject(unusableReply(`the answer exceeds the limit of ${MAX_REPLY_BYTES} bytes`));
      return;
    }
    this.#pieces.push(bytes);
  }

  onEnd(): void {
    const [first] = this.#pieces;
    const body = this.#pieces.length === 1 && first ? first : Buffer.concat(this.#pieces);
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  /** The status of a failure is used even when its body broke off. */
  onError(error: GatewayError): void {
    const isRefusal = this.#status !== 0 && (this.#status < 200 || this.#status > 299);
    if (error.fault && isRefusal) this.onEnd();
    else this.#reject(error);
  }
}
