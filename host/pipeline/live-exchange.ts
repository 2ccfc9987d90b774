import type { IncomingHttpHeaders } from 'node:http';
import {
  type Affinity,
  type ClientBody,
  type ClientFacts,
  type Exchange,
  type GatewayError,
  isText,
  type Measurements,
  type Placement,
  type ReplyOf,
  type RequestEnd,
  type RequestOrigin,
  type RequestOf,
  type Stage,
  type Surface,
  SURFACES,
  type Unpriced,
  type Usage,
} from '../contract/index.ts';
import type { Level } from '../common/accounts/level.ts';
import type { HostPrincipal, KeyLimits } from '../common/host-principal.ts';
import { UNPRICED } from '../config/unpriced-rule.ts';
import { ExchangeView } from '../boundary/exchange-view.ts';
import type { Clock } from '../common/clock.ts';
import { sessionIn } from '../common/session-headers.ts';
import type { TraceContext } from '../common/trace-context.ts';
import { closeBody } from '../upstream/reply-body.ts';
import { Cancellation } from '../upstream/cancellation.ts';
import type { ClientReply, ClientRequest } from '../wire/client-request.ts';
import type { ClientWire } from '../wire/client-wire.ts';
import type { ForwardedApi } from '../wire/forwarded-api.ts';
import { COMMON_WIRE } from '../wire/common-wire.ts';
import type { Later } from './billing/later.ts';
import { endOf } from './ending/end-of.ts';
import { originOf, type RequestSource } from './ending/origin-of.ts';
import { Delivery, Measured, PluginTraces, Routing } from './exchange-state.ts';
import { placementOf } from './placed.ts';
import type { Target } from './target.ts';
import { Turn, type TurnRequest } from './turns/turn.ts';

export interface ExchangeStart {
  readonly id: string;
  /** The caller's trace, where it sent a valid `traceparent`. */
  readonly trace?: TraceContext | undefined;
  readonly surface: Surface;
  readonly clock: Clock;
  readonly principal: HostPrincipal | undefined;
  /** What binds it, where that is not what the credential says by itself. */
  readonly limits?: KeyLimits | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly request: RequestOf<Surface>;
  readonly streaming: boolean;
  readonly unreadable?: boolean;
  /** Bytes of a body that is forwarded, as far as they are known before it leaves. */
  readonly bodyBytes?: number | undefined;
  /** The client opted out of usage on its stream. */
  readonly stripsUsage?: boolean;
  readonly isPlaced?: boolean;
  /** The target that the request names, where it names one. */
  readonly pinned?: string | undefined;
  /** What the client speaks; the common wire unless said. */
  readonly wire?: ClientWire;
  /** Its own body, where it speaks another wire. */
  readonly clientRequest?: ClientRequest | undefined;
  /** As the client sent them; modules see those they list. */
  readonly clientHeaders?: IncomingHttpHeaders;
  /** Where the request is forwarded in the client's own wire. */
  readonly api?: ForwardedApi | undefined;
  /** The request of HTTP that it is. */
  readonly source?: RequestSource | undefined;
  /** Monotonic milliseconds at which the request arrived. */
  readonly arrivedAt: number;
}

const NO_LEVELS: readonly Level[] = Object.freeze([]);

/** An exchange as the host drives it. Plugins see the read-only `Exchange` of the contract. */
export class LiveExchange implements Exchange {
  readonly id: string;
  readonly trace: TraceContext | undefined;
  readonly surface: Surface;
  readonly principal: HostPrincipal | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly streaming: boolean;
  readonly unreadable: boolean;
  readonly bodyBytes: number | undefined;
  readonly wire: ClientWire;
  readonly cancellation = new Cancellation();
  readonly arrivedAt: number;
  readonly clientHeaders: IncomingHttpHeaders | undefined;
  readonly api: ForwardedApi | undefined;
  /** The client opted out of usage on its stream. */
  readonly stripsUsage: boolean;
  /** The configuration names instances, groups or affinity. */
  readonly isPlaced: boolean;

  /** What binds it: its credential's limits with those of accounts, and what its own tags add. */
  limits: KeyLimits | undefined;
  /** What its own tags have added, until their rates are asked. */
  broughtLevels: readonly Level[] = NO_LEVELS;
  stage: Stage = 'before_request';
  request: RequestOf<Surface>;
  /** The client's own body, where it speaks a wire of its own. */
  sent: ClientRequest | undefined;
  /** The answer in the client's own wire, where it goes on as it came. */
  clientReply: ClientReply | undefined;
  model: string;
  user: string | undefined;
  reply: ReplyOf<Surface> | undefined;
  error: GatewayError | undefined;
  /** Set where the provider goes on by itself when the answer is over. */
  later: Later | undefined;
  /** Only what the request counts is asked for. */
  isCounting = false;
  /** The turn that runs, or ran last; `undefined` before the first. */
  turn: Turn | undefined;
  readonly routing = new Routing();
  readonly measured = new Measured();
  readonly plugins = new PluginTraces();
  readonly delivery = new Delivery();

  readonly #clock: Clock;
  readonly #source: RequestSource | undefined;
  #startedAt: number | undefined;
  #answeredAt: number | undefined;
  #endedAt: number | undefined;
  #view: ExchangeView | undefined;

  constructor(start: ExchangeStart) {
    this.id = start.id;
    this.trace = start.trace;
    this.surface = start.surface;
    this.principal = start.principal;
    this.limits = start.limits ?? start.principal?.limits;
    this.metadata = start.metadata;
    this.request = start.request;
    this.sent = start.clientRequest;
    this.clientReply = undefined;
    this.model = start.request.model ?? '';
    this.user = userOf(start.request);
    this.streaming = start.streaming;
    this.unreadable = start.unreadable ?? false;
    this.bodyBytes = start.bodyBytes;
    this.wire = start.wire ?? COMMON_WIRE;
    this.arrivedAt = start.arrivedAt;
    this.#source = start.source;
    this.clientHeaders = start.clientHeaders;
    this.api = start.api;
    this.stripsUsage = start.stripsUsage ?? false;
    this.isPlaced = start.isPlaced ?? false;
    this.#clock = start.clock;
    this.routing.pinned = start.pinned;
  }

  /** What plugins get. */
  get view(): Exchange {
    return (this.#view ??= new ExchangeView(this));
  }

  get clientRequest(): ClientBody | undefined {
    return this.sent?.isCurrent ? this.sent : undefined;
  }

  get client(): ClientFacts | undefined {
    const { sent, api, sessionId } = this;
    const wire = sent?.wire ?? api?.wire;
    if (wire === undefined) return undefined;
    const { isSameWire, upstreamRequestId } = this.routing;
    return {
      wire,
      surface: SURFACES[api?.surface ?? this.surface].tag,
      isSameWire: sent ? isSameWire : true, // what is forwarded goes in the client's wire, or nowhere
      upstreamRequestId,
      sessionId,
    };
  }

  get sessionId(): string | undefined {
    return sessionIn(this.clientHeaders);
  }

  get startedAt(): number {
    return (this.#startedAt ??= this.#clock.now() - (this.#clock.monotonic() - this.arrivedAt));
  }

  get target(): string | undefined {
    return this.plugins.answeredBy === undefined ? this.routing.lastTarget?.virtualKey : undefined;
  }

  get provider(): string | undefined {
    return this.plugins.answeredBy === undefined ? this.routing.lastTarget?.provider?.module.name : undefined;
  }

  get answeredBy(): string | undefined {
    return this.plugins.answeredBy;
  }

  get upstreamModel(): string | undefined {
    return this.routing.upstreamModel;
  }

  get attempts(): number {
    return this.routing.attempts;
  }

  get abLabel(): string | undefined {
    return this.routing.abLabel;
  }

  /** What became of its session, once it is answered; `undefined` without one, on failure, and for a plugin's answer. */
  get affinity(): Affinity | undefined {
    const { session, leftSession, lastTarget, credential } = this.routing;
    if (session === undefined || !lastTarget || this.error || this.plugins.answeredBy !== undefined) return undefined;
    if (leftSession) return 'moved';
    return session === 'none' ? undefined : session.resultOf(lastTarget, credential);
  }

  get origin(): RequestOrigin | undefined {
    return this.#source && originOf(this.#source);
  }

  get ending(): RequestEnd {
    return endOf(this);
  }

  get lastTarget(): Target | undefined {
    return this.routing.lastTarget;
  }

  get decision(): object | undefined {
    return this.routing.record?.shown(this);
  }

  get placement(): Placement | undefined {
    return this.isPlaced ? placementOf(this) : undefined;
  }

  get tunnel(): Exchange['tunnel'] {
    return this.measured.tunnel;
  }

  get reportedModel(): string | undefined {
    return this.routing.reportedModel;
  }

  get usage(): Usage | undefined {
    return this.measured.usage;
  }

  get charged(): Usage | undefined {
    return this.measured.charged;
  }

  get costUsd(): number | undefined {
    return this.measured.costUsd;
  }

  /** The model that was asked for, where a budget has another one used. */
  get overFrom(): string | undefined {
    return this.routing.over?.from;
  }

  get sentBytes(): number {
    return this.measured.sentBytes;
  }

  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  get measurements(): Measurements {
    return {
      durationMs: this.#durationMs(),
      ttftMs: this.measured.ttftMs,
      costUsd: this.measured.costUsd,
      costSource: this.measured.costSource,
      priceLine: this.measured.cost?.priced ? this.measured.cost.line : undefined,
    };
  }

  get catalogVersion(): string | undefined {
    const { cost } = this.measured;
    return cost?.priced ? cost.catalog : undefined;
  }

  get isPrivate(): boolean {
    return this.plugins.isPrivate;
  }

  get cache(): 'hit' | 'miss' | undefined {
    const word = this.plugins.replyHeaders?.get('x-gateway-cache')?.[1];
    return word === 'hit' || word === 'miss' ? word : undefined;
  }

  /** The answer is there: what plugins do with it does not count in its duration. */
  answered(): void {
    this.#answeredAt ??= this.#clock.monotonic();
  }

  /** A plugin's answer takes no time (docs/reference/governance.md#answers-of-plugins). */
  #durationMs(): number {
    if (this.plugins.answeredBy !== undefined) return 0;
    return this.#answeredAt === undefined ? this.elapsedMs() : this.#answeredAt - this.arrivedAt;
  }

  /** Starts the next turn. */
  beginTurn(ask: TurnRequest | undefined): Turn {
    return (this.turn = new Turn((this.turn?.number ?? 0) + 1, this, this.measured, ask));
  }

  elapsedMs(): number {
    return (this.#endedAt ?? this.#clock.monotonic()) - this.arrivedAt;
  }

  /** Fixes the duration: what runs after the last byte does not count. Lets go of the provider. */
  end(): void {
    this.#endedAt ??= this.#clock.monotonic();
    if (this.delivery.source) closeBody(this.delivery.source);
  }

  deliveredText(): string {
    return this.delivery.readText?.() ?? '';
  }

  setHeader(name: string, value: string): void {
    (this.plugins.replyHeaders ??= new Map()).set(name.toLowerCase(), [name, value]);
  }

  needsPrice(rule: Unpriced, who: string): void {
    const known = this.routing.unpriced;
    if (!known || UNPRICED.indexOf(rule) < UNPRICED.indexOf(known.rule)) this.routing.unpriced = { rule, who };
  }

  keepPrivate(): void {
    this.plugins.isPrivate = true;
  }
}

/** Whom a body says it is made for. */
export function userOf(request: RequestOf<Surface>): string | undefined {
  const { user } = request as { readonly user?: unknown };
  return isText(user) ? user : undefined;
}
