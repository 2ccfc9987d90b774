import { GatewayError, type ReplyOf, type Surface } from '../contract/index.ts';
import type { Clock, Timer } from '../common/clock.ts';
import type { Cancellation } from '../upstream/cancellation.ts';
import type { ReplyControl, ReplyHeaders, ReplySink } from '../upstream/upstream-call.ts';
import { EarlyBody, mayBeJson } from '../upstream/early-body.ts';
import { ErrorBody } from './error-body.ts';
import { timeoutError, unusableReply } from '../upstream/fault.ts';
import type { ClientStream } from '../wire/client-wire.ts';
import type { ReplyFacts, StreamRelay } from './events/stream-relay.ts';

/** How long a finished answer's connection may take to end by itself, so that it can serve again. */
const LINGER_MS = 1000;

/** Longest silence of an upstream, before its first chunk and between chunks. See docs/reference/data-plane.md#silence. */
export const STREAM_IDLE_MS = 120_000;

/** Work on what one stream brought after which others are served. Milliseconds. */
const LONG_MS = 25;

/** How long the beginning of an answer waits for the first event that a client reads. See docs/clients.md#anthropic-messages. */
const OPENING_MS = 3000;

/** Where a stream's bytes go. `write` answers false when it wants no more until it calls `resume`. */
export interface StreamOutput {
  write(bytes: string): boolean;
}

export interface StreamOptions<R extends StreamRelay = StreamRelay> {
  readonly relay: R;
  readonly clock: Clock;
  readonly cancellation: Cancellation;
  readonly idleMs: number;
  /** Called when the silence lasted too long. */
  readonly onIdle: (idleMs: number) => void;
  /** Turns a reply that is not 200 into an error. */
  readonly refuse: (status: number, headers: ReplyHeaders, body: Buffer) => GatewayError;
}

/** A streamed answer on its way to the client: that of one turn, or what is made of several. */
export abstract class AnswerStream {
  /** Writes what ends the stream; what comes before it is written already. */
  abstract readonly encoder: ClientStream;
  /** `undefined` when the stream is complete, else why it is not. */
  abstract readonly ended: Promise<GatewayError | undefined>;
  /** Sends what is held, and from now on everything at once. */
  abstract attach(output: StreamOutput): void;
  /** The output takes bytes again. */
  abstract resume(): void;
  /** Lets go of the upstream; safe to call at any time. */
  abstract release(): void;
  /** The bytes of an answer that waited for a plugin's verdict on the whole of it, once; nothing of other answers. */
  takeHeld(): string {
    return '';
  }

  /** What was delivered, as one reply, once the stream is complete. */
  abstract reply(facts: ReplyFacts): ReplyOf<Surface>;
}

/**
 * One streamed answer: reads the upstream, relays, and holds what comes before there is a listener. `started` settles with
 * the first chunk or the failure before it, which can still be retried; `ended` with the last.
 */
export class StreamSession<R extends StreamRelay = StreamRelay> extends AnswerStream implements ReplySink {
  readonly started: Promise<void>;
  readonly ended: Promise<GatewayError | undefined>;
  readonly relay: R;
  /** Headers of the upstream's reply, by lower-case name; empty before it came. */
  headers: ReplyHeaders = {};
  /** Monotonic milliseconds of the first chunk. */
  firstChunkAt: number | undefined;
  /** Monotonic milliseconds of the last chunk. */
  lastChunkAt: number | undefined;
  readonly #options: StreamOptions<R>;
  readonly #start = Promise.withResolvers<void>();
  readonly #end = Promise.withResolvers<GatewayError | undefined>();
  readonly #idle: Timer;
  /** Set once the answer is complete and its connection has not ended yet. */
  #linger: Timer | undefined;
  /** Set while the beginning of the answer waits. */
  #opening: Timer | undefined;
  #stopListening: () => void = () => {};
  #control: ReplyControl | undefined;
  #output: StreamOutput | undefined;
  #pending = '';
  #errorBody: ErrorBody | undefined;
  /** What came before the first chunk, where it may be a whole answer in JSON. */
  #early: EarlyBody | undefined;
  #hasData = false;
  /** Milliseconds of work since others were served; counted for streams with guards. */
  #workedMs = 0;
  /** Others are served. */
  #isWaiting = false;
  /** The upstream's body has ended before all of it was looked at. */
  #hasEnded = false;
  /** The client takes no more for now. */
  #isFull = false;
  #chunks = 0;
  #signs = 0;
  #isOver = false;

  constructor(options: StreamOptions<R>) {
    super();
    this.#options = options;
    this.relay = options.relay;
    this.started = this.#start.promise;
    this.ended = this.#end.promise;
    this.#idle = options.clock.timer(options.idleMs, () => this.#onIdle());
    this.#stopListening = options.cancellation.onCancel((cause) => this.onError(cause));
  }

  get encoder(): ClientStream {
    return this.relay.encoder;
  }

  attach(output: StreamOutput): void {
    this.#output = output;
    const pending = this.#pending;
    this.#pending = '';
    if (pending !== '') this.#write(pending);
  }

  resume(): void {
    this.#idle.refresh();
    this.#isFull = false;
    if (!this.#isWaiting) this.#control?.resume();
  }

  /** A complete answer's connection may end by itself first. */
  release(): void {
    this.#idle.cancel();
    const control = this.#control;
    this.#control = undefined;
    if (!control) return;
    if (this.relay.isDone && !this.relay.failure)
      this.#linger = this.#options.clock.timer(LINGER_MS, () => control.abort());
    else control.abort();
  }

  override takeHeld(): string {
    return this.relay.takeHeld();
  }

  reply(facts: ReplyFacts): ReplyOf<Surface> {
    return this.relay.reply(facts);
  }

  onReply(status: number, headers: ReplyHeaders, control: ReplyControl): void {
    if (this.#isOver) {
      control.abort(); // it came after we had given up
      return;
    }
    this.#control = control;
    this.headers = headers;
    if (status !== 200) this.#errorBody = new ErrorBody(status, headers);
  }

  onData(bytes: Buffer): void {
    if (this.#isOver) return;
    if (this.#errorBody) {
      if (!this.#errorBody.keep(bytes)) this.#finish(this.#errorBody.tooLong());
      return;
    }
    if (this.firstChunkAt === undefined) this.#keepEarly(bytes);
    if (this.relay.isGuarded) this.#work(() => this.relay.push(bytes));
    else this.#take(this.relay.push(bytes));
  }

  /** Reads, and has guards look at what came, for as long as others can wait. */
  #work(read: () => string): void {
    const { monotonic } = this.#options.clock;
    const since = monotonic() - this.#workedMs;
    this.#take(read());
    while (this.relay.isBehind && !this.#isOver && monotonic() - since < LONG_MS) this.#take(this.relay.catchUp());
    this.#workedMs = monotonic() - since;
    if (this.relay.isBehind || this.#workedMs >= LONG_MS) this.#letOthers();
  }

  /** Serves others before more of the stream is read: guards may take long over what a fast upstream sends at once. */
  #letOthers(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#control?.pause();
    setImmediate(() => {
      this.#isWaiting = false;
      this.#workedMs = 0;
      if (this.relay.isBehind && !this.#isOver) this.#work(() => this.relay.catchUp());
      if (this.#isWaiting || this.#isOver) return;
      if (this.#hasEnded) this.#work(() => this.relay.end());
      else if (!this.#isFull) this.#control?.resume();
    });
  }

  onEnd(): void {
    this.#control = undefined;
    this.#linger?.cancel();
    if (this.#isOver) return;
    if (this.#errorBody) this.#finish(this.#refusal(this.#errorBody));
    else if (this.relay.isBehind) this.#hasEnded = true;
    else this.#work(() => this.relay.end());
  }

  onError(error: GatewayError): void {
    this.#linger?.cancel();
    // A status speaks for itself, even when its body broke off.
    this.#finish(error.fault && this.#errorBody ? this.#refusal(this.#errorBody) : error);
  }

  /** Sends what a read brought; ends the stream when that was the end. */
  #take(out: string): void {
    const rest = this.relay.isDone && !this.relay.failure ? this.relay.flush() : '';
    const { failure, isDone } = this.relay;
    // A failure before anything could be delivered is a failed start, whatever was read; an answer that guards refuse has begun (docs/reference/governance.md#streams-and-plugins).
    const hasFailedStart =
      failure !== undefined &&
      failure.code !== 'response_rejected' &&
      !this.#output &&
      this.#pending === '' &&
      out + rest === '';
    if (!hasFailedStart) this.#forward(out + rest);
    if (this.relay.isWaiting) this.#opening ??= this.#options.clock.timer(OPENING_MS, () => this.#onOpened());
    if (failure || isDone) this.#finish(failure && (this.#early?.fault() ?? failure));
  }

  #keepEarly(bytes: Buffer): void {
    if (!this.#hasData && mayBeJson(bytes)) this.#early = new EarlyBody();
    this.#hasData = true;
    this.#early?.keep(bytes);
  }

  #forward(out: string): void {
    if (this.relay.signs > this.#signs) {
      this.#signs = this.relay.signs;
      this.#idle.refresh();
    }
    if (this.relay.chunks > this.#chunks) {
      this.#chunks = this.relay.chunks;
      this.#idle.refresh();
      this.lastChunkAt = this.#options.clock.monotonic();
      if (this.firstChunkAt === undefined) {
        this.firstChunkAt = this.lastChunkAt;
        this.#opening?.cancel();
        this.#early = undefined;
        this.#start.resolve();
      }
    }
    if (out !== '') this.#write(out);
  }

  #write(bytes: string): void {
    if (!this.#output) this.#pending += bytes;
    else if (!this.#output.write(bytes)) {
      this.#isFull = true;
      this.#control?.pause();
    }
  }

  #onOpened(): void {
    if (!this.#isOver) this.#take(this.relay.begin());
  }

  #onIdle(): void {
    if (this.#isOver) return;
    const { idleMs, onIdle } = this.#options;
    onIdle(idleMs);
    if (this.#errorBody) {
      this.#finish(this.#refusal(this.#errorBody));
      return;
    }
    const error =
      this.firstChunkAt === undefined
        ? timeoutError()
        : new GatewayError('stream_timeout', `no chunk from the provider for ${Math.round(idleMs / 1000)} s`, {
            fault: { kind: 'timeout' },
          });
    this.#finish(error);
  }

  #finish(error: GatewayError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#idle.cancel();
    this.#opening?.cancel();
    this.#stopListening();
    if (this.firstChunkAt === undefined) this.#start.reject(error ?? unusableReply('the stream held no chunk'));
    this.#end.resolve(error);
    if (this.firstChunkAt === undefined) this.release();
  }

  #refusal(body: ErrorBody): GatewayError {
    return this.#options.refuse(body.status, body.headers, body.bytes());
  }
}
