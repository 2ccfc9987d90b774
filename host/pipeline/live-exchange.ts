import type { IncomingHttpHeaders } from 'node:http';
import type {
  Exchange, GatewayError, Measurements, Principal, RankNotes, ReplyOf, RequestOf, Stage, Surface, Usage,
} from '../contract/index.ts';
import type { Clock } from '../common/clock.ts';
import type { TraceContext } from '../common/trace-context.ts';
import { closeBody } from '../upstream/reply-body.ts';
import { Cancellation } from '../upstream/cancellation.ts';
import type { ClientWire } from '../wire/client-wire.ts';
import { COMMON_WIRE } from '../wire/common-wire.ts';
import type { PluginInstance, StreamGuards } from './plugin-instance.ts';
import type { Target } from './target.ts';

export interface ExchangeStart {
  readonly id: string;
  /** The caller's trace, where it sent a valid `traceparent`. */
  readonly trace?: TraceContext | undefined;
  readonly surface: Surface;
  readonly clock: Clock;
  readonly principal: Principal | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly request: RequestOf<Surface>;
  readonly streaming: boolean;
  readonly unreadable?: boolean;
  /** What the client speaks; the common wire unless said. */
  readonly wire?: ClientWire;
  /** As the client sent them; modules see those they list. */
  readonly clientHeaders?: IncomingHttpHeaders;
  /** Monotonic milliseconds at which the request arrived. */
  readonly arrivedAt: number;
}

/** An exchange as the host drives it. Plugins see the read-only `Exchange` of the contract. */
export class LiveExchange implements Exchange {
  readonly id: string;
  readonly trace: TraceContext | undefined;
  readonly surface: Surface;
  readonly principal: Principal | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly streaming: boolean;
  readonly unreadable: boolean;
  readonly wire: ClientWire;
  readonly cancellation = new Cancellation();
  readonly arrivedAt: number;
  readonly clientHeaders: IncomingHttpHeaders | undefined;

  stage: Stage = 'before_request';
  request: RequestOf<Surface>;
  model: string;
  reply: ReplyOf<Surface> | undefined;
  error: GatewayError | undefined;
  answeredBy: string | undefined;
  /** Name of the plugin that rejected, or `gateway` itself; the verdict is no fault of anybody. */
  rejectedBy: string | undefined;
  /** The target last attempted. */
  lastTarget: Target | undefined;
  upstreamModel: string | undefined;
  /** What the upstream says it answered with: a router names the model that it chose. */
  reportedModel: string | undefined;
  attempts = 0;
  abLabel: string | undefined;
  /** Why the strategy left nothing to try, as it tells the caller. */
  unroutable: string | undefined;
  /** Somebody asks why the route is as it is; then nothing is sent, counted or logged. */
  explaining: RankNotes | undefined;
  usage: Usage | undefined;
  costUsd: number | undefined;
  ttftMs: number | undefined;
  /** Milliseconds spent in provider calls, waits between them excluded. */
  upstreamMs = 0;
  /** Parameters the serving provider ignored, in the order of the capability matrix. */
  ignoredParams: readonly string[] = [];
  /** The client opted out of usage on its stream. */
  stripsUsage = false;
  /** Headers that plugins add, by their names in lower case. */
  replyHeaders: Map<string, string> | undefined;
  /** Guards of this exchange's stream, by the plugin instance that made them. */
  streamGuards: StreamGuards | undefined;
  readStreamText: (() => string) | undefined;
  /** Body bytes that were sent of an answer that goes on as it is. */
  sentBytes = 0;
  /** The provider's bytes, where they go on as they arrive. They end with the exchange, whatever a plugin put in their place. */
  source: AsyncIterable<Uint8Array> | undefined;
  /** Settles with the last of them. */
  bodyOver: Promise<void> | undefined;
  /** Plugins whose `after_request` verdict was noted without consequence. */
  noted: Set<PluginInstance> | undefined;

  readonly #clock: Clock;
  #startedAt: number | undefined;
  #endedAt: number | undefined;

  constructor(start: ExchangeStart) {
    this.id = start.id;
    this.trace = start.trace;
    this.surface = start.surface;
    this.principal = start.principal;
    this.metadata = start.metadata;
    this.request = start.request;
    this.model = start.request.model ?? '';
    this.streaming = start.streaming;
    this.unreadable = start.unreadable ?? false;
    this.wire = start.wire ?? COMMON_WIRE;
    this.arrivedAt = start.arrivedAt;
    this.clientHeaders = start.clientHeaders;
    this.#clock = start.clock;
  }

  get startedAt(): number {
    return (this.#startedAt ??= this.#clock.now() - (this.#clock.monotonic() - this.arrivedAt));
  }

  get target(): string | undefined {
    return this.answeredBy === undefined ? this.lastTarget?.virtualKey : undefined;
  }

  get provider(): string | undefined {
    return this.answeredBy === undefined ? this.lastTarget?.provider?.module.name : undefined;
  }

  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  get measurements(): Measurements {
    return { durationMs: this.elapsedMs(), ttftMs: this.ttftMs, costUsd: this.costUsd };
  }

  elapsedMs(): number {
    return (this.#endedAt ?? this.#clock.monotonic()) - this.arrivedAt;
  }

  /** Fixes the duration: what runs after the last byte does not count. Lets go of the provider. */
  end(): void {
    this.#endedAt ??= this.#clock.monotonic();
    if (this.source) closeBody(this.source);
  }

  deliveredText(): string {
    return this.readStreamText?.() ?? '';
  }

  setHeader(name: string, value: string): void {
    (this.replyHeaders ??= new Map()).set(name.toLowerCase(), value);
  }
}
