/** What changes while an exchange runs, by who writes it. Each is created whole, so that all exchanges have one shape. */
import type { Cost, CostSource, GatewayError, RankNotes, Surface, Unpriced, Usage } from '../contract/index.ts';
import type { CostDifference } from './billing/reported-cost.ts';
import type { PluginInstance, StreamGuards } from './guards/plugin-instance.ts';
import type { ModelGroup } from './model-group.ts';
import type { RouteRecord } from './route-record.ts';
import type { RouteSession } from './route-session.ts';
import type { CredentialTrail } from './credentials/credential-trail.ts';
import type { Target } from './target.ts';

/** What a provider's translator got. */
interface Translated {
  readonly request: object;
  /** Fields of it that the provider's wire cannot carry. */
  readonly left: readonly string[];
  readonly isChat: boolean;
  /** Which API of the service it is for, where that was decided. */
  readonly via: 'chat' | 'responses' | undefined;
}

/** What a strategy said of a name. */
export interface DrawnOrder {
  /** The model that was asked for, or the fallback. */
  readonly name: string;
  /** Targets, or keys of routes, in the order in which they are tried. */
  readonly keys: readonly string[];
  readonly abLabel: string | undefined;
}

/** Written by the route and by attempts, in any turn: clients and logs learn what was tried last. */
export class Routing {
  /** Over all turns. */
  attempts = 0;
  /** The target last attempted. */
  lastTarget: Target | undefined;
  upstreamModel: string | undefined;
  /** What the upstream says it answered with: a router names the model that it chose. */
  reportedModel: string | undefined;
  /** The provider's own id of the answer's request, where it gave one. */
  upstreamRequestId: string | undefined;
  /** Status of the last reply that came of a provider. */
  upstreamStatus: number | undefined;
  /** What a provider said of the last attempt that failed. */
  upstreamMessage: string | undefined;
  /** Which list of the key refused the request, as one that no target serves. */
  refused: 'key_models' | 'key_providers' | undefined;
  /** The tier of service that the head of the answer names, at providers that name it there. */
  answeredTier: string | undefined;
  /** The last attempt went out in the client's own wire. */
  isSameWire = false;
  /** Parameters the serving provider ignored, in the order of the capability matrix. */
  ignoredParams: readonly string[] = [];
  /** What the serving provider's translator got; of the last attempt. */
  translated: Translated | undefined;
  abLabel: string | undefined;
  /** The target that the request names: no other one is tried. */
  pinned: string | undefined;
  /** The group of models whose routes are ranked and tried; `undefined` outside groups. */
  group: ModelGroup | undefined;
  /** The name, after aliases, of the fallback whose targets are ranked and tried; `undefined` for those of the model asked for. */
  fallback: string | undefined;
  /** The name of the credential that the last attempt used, of a declared instance. */
  credential: string | undefined;
  /** What the ends of calls with credentials of declared instances said; `undefined` while none has. */
  credentials: CredentialTrail | undefined;
  /** The session that what is ranked now belongs to; `none` where it has none, `undefined` while that was not asked. */
  session: RouteSession | 'none' | undefined;
  /** The session that was served by none of its own list: what a fallback names follows. */
  leftSession: RouteSession | undefined;
  /** An order that the strategy has given before it was clear how the request is answered; it is not asked again. */
  drawn: DrawnOrder | undefined;
  /** The surface that targets may serve in the place of the request's own, while it is not clear how it is answered. */
  alsoOn: Surface | undefined;
  /** What the request asks for, or leaves behind, stands at one account of its vendor. */
  isStateful = false;
  /** What its earlier turns hold is sealed: one account of a vendor can read it. */
  isBound = false;
  /** The vendor account that a bound request goes to, and the target that it belongs to. */
  bound: { readonly account: string; readonly target: string } | undefined;
  /** Why the strategy left nothing to try, as the caller learns it. */
  unroutable: string | undefined;
  /** Makes the error of a request in a group of models that nothing was tried for, where it is not that nothing serves. */
  refusal: (() => GatewayError) | undefined;
  /** Set where the request is paid for in dollars: what becomes of targets without a price, and who says so. */
  unpriced: { readonly rule: Unpriced; readonly who: string } | undefined;
  /** What is passed through is known to cost nothing: it only reads, cancels or counts. */
  isFree = false;
  /** The request was refused because nothing that may serve it has a price. */
  isRefusedUnpriced = false;
  /** Set where only the reasons of the route are asked for; then nothing is sent, counted or logged. */
  explaining: RankNotes | undefined;
  /** Set where a budget is spent, and another model is used beyond it: the model that was asked for, and whose budget it is. */
  over: { readonly from: string; readonly of: { readonly kind: string; readonly id: string } } | undefined;
  /** Set while a request log keeps how requests were routed. */
  record: RouteRecord | undefined;

  /** Who hears why a target stands where it does or was left out, if anybody. */
  get heard(): RankNotes | undefined {
    return this.explaining ?? this.record?.hearing;
  }
}

/** Figures of the whole exchange; those of its turns add up. */
export class Measured {
  usage: Usage | undefined;
  /** Tokens to charge: those reported, where they can be believed, else estimates. */
  charged: Usage | undefined;
  costUsd: number | undefined;
  costSource: CostSource | undefined;
  /** What the vendor reported to have cost otherwise than was computed. */
  difference: CostDifference | undefined;
  /** The first count of the upstream's that is not believed, by its name. */
  doubt: string | undefined;
  /** The cost, by what it was spent on. */
  cost: Cost | undefined;
  /** What was answered beside tokens, of all turns. */
  images = 0;
  seconds = 0;
  characters = 0;
  /** Searches of the web that the vendor made. */
  searches = 0;
  /** US dollars that the vendor's cache saved. */
  cacheSavedUsd: number | undefined;
  /** US dollars of it, as a loss, that writing to the cache cost more than sending the same without it. */
  cacheExtraUsd = 0;
  ttftMs: number | undefined;
  /** Monotonic milliseconds of the last chunk of a stream that has ended. */
  lastChunkAt: number | undefined;
  /** Milliseconds spent in provider calls, waits between them excluded. */
  upstreamMs = 0;
  /** Body bytes that were sent of an answer that goes on as it is. */
  sentBytes = 0;
  /** Bytes that passed between client and provider once their connection had left HTTP. */
  tunnel: { readonly bytesUp: number; readonly bytesDown: number } | undefined;
}

/** Written by the boundary around plugins, and by plugins through it. */
export class PluginTraces {
  /** Name of the plugin that answered in the provider's place. */
  answeredBy: string | undefined;
  /** Name of the plugin that rejected, or `gateway` itself; a verdict counts as a fault of neither side. */
  rejectedBy: string | undefined;
  /** Headers that plugins add, name and value, by their names in lower case. */
  replyHeaders: Map<string, readonly [name: string, value: string]> | undefined;
  /** Set where an answer belongs to its request alone. */
  isPrivate = false;
  /** Guards of this exchange's stream, by the plugin instance that made them. */
  streamGuards: StreamGuards | undefined;
  /** Plugins whose `after_request` verdict was noted without consequence. */
  noted: Set<PluginInstance> | undefined;
  /** Set while `on_error` runs on although the answer has gone: the plugins are in use until it settles. */
  telling: Promise<void> | undefined;
}

/** A streamed answer whose headers leave before its first chunk where that is late. */
export interface EarlyOpening {
  /** The headers have left: the status can no longer change. */
  readonly isOpen: boolean;
  /** What they say of ignored parameters. */
  readonly shownIgnored: string;
  /** A call of a provider leaves. Time counts from the first. */
  start(): void;
  /** The first chunk has come, or none will. */
  stop(): void;
}

/** What of an answer is still on its way when `run` returns. */
export class Delivery {
  /** The provider's bytes, where they go on as they arrive. They end with the exchange, whatever a plugin put in their place. */
  source: AsyncIterable<Uint8Array> | undefined;
  /** The request's own deadline holds until this settles; without it, until `run` returns. */
  timedUntil: Promise<unknown> | undefined;
  /** A provider was called with what the client sent: clients learn which one. */
  isForwarded = false;
  /** Some of the answer has left. */
  isSent = false;
  /** Set where a stream may be opened before its first chunk. */
  early: EarlyOpening | undefined;
  readText: (() => string) | undefined;
  /** An answer that was made whole for a client that asked for a stream is one chunk. */
  inOneChunk = false;
  /** A stream was asked for, and the answer is whole before any of it leaves. */
  isWhole = false;
  /** It came as a stream, and was read to its end for a guardrail. */
  isHeld = false;
  /** What a stream says is put together again although no plugin asks for it. */
  keepsText = false;
}
