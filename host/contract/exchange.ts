import type { Placement } from './placement.ts';
import type { ClientBody, ClientWireName } from './text/client-body.ts';
import type { GatewayError } from './errors.ts';
import type { RequestEnd, RequestOrigin } from './request-end.ts';
import type { CostSource, LaterBooking, Unpriced } from './money/cost.ts';
import type { Payer } from './money/payer.ts';
import { type ChatSurface, type ReplyOf, type RequestOf, type Surface, SURFACES } from './surface.ts';
import type { Usage } from './wire/chat.ts';

/**
 * When a plugin runs: before the provider is called, once the answer is there, or after a failure.
 */
export type Stage = 'before_request' | 'after_request' | 'on_error';

/** The three stages, in the order in which a request meets them. Frozen. */
export const STAGES: readonly Stage[] = Object.freeze<Stage[]>(['before_request', 'after_request', 'on_error']);

/**
 * What a credential may ask of the admin API: `admin` everything, `read_only` what changes nothing.
 * A key for serving requests has none of them.
 */
export type Scope = 'admin' | 'read_only';

/**
 * The credential that a request was made with, as modules get it: at every stage, in `stream` and
 * `finished`, and in the query of a strategy. Its limits and its session are the host's alone.
 * Frozen; one object serves all requests of a credential.
 */
export interface Principal {
  /**
   * Names the credential: opaque, and never the secret. Of a session it is the id of the credential
   * that the session was made from, so that what is counted under it goes on in a new session. Use
   * it, and not the name, as the key of what is counted for each credential.
   */
  readonly id: string;
  /** The name of a key; of a session, its subject; of the master key, its id. */
  readonly name: string;
  /** What the credential may ask of the admin API; empty where it may ask nothing. */
  readonly scopes: readonly Scope[];
}

/** What is known of one request so far. Times are milliseconds, money is US dollars. */
export interface Measurements {
  /**
   * From arrival to now; from `after_request` on, to when the answer was there; 0 of a plugin's
   * answer. A monotonic clock measures it, so that a change of the system's time does not show.
   */
  readonly durationMs: number;
  /**
   * From arrival to the first chunk of a stream; `undefined` when none came, and for unary answers.
   * In a `finished` handler it is the sign that the client has seen a part of a stream.
   */
  readonly ttftMs: number | undefined;
  /** `undefined` while unknown or when nothing prices the model; 0 is a real price. */
  readonly costUsd: number | undefined;
  /** What that cost was computed of; `undefined` while there is none. */
  readonly costSource?: CostSource | undefined;
  /** The line of prices it was computed by; `undefined` while there is none. */
  readonly priceLine?: string | undefined;
}

/**
 * A client that speaks a wire of its own. Its request has been read into the common wire by the
 * time a plugin runs, so most plugins need none of this.
 */
export interface ClientFacts {
  /** The wire of the client, by its name. */
  readonly wire: ClientWireName;
  /**
   * The name of the surface in log rows. It is `responses` for every request of that API, those
   * that are passed through by the id of a response too.
   */
  readonly surface: string;
  /** Whether the provider that answered, or was tried last, was asked in that wire. */
  readonly isSameWire: boolean;
  /** The session that the request belongs to, as the client names it. */
  readonly sessionId: string | undefined;
  /** The provider's own id of the answer. */
  readonly upstreamRequestId: string | undefined;
}

/**
 * One client request, from its arrival to its last byte, as plugins see it. A third-party plugin
 * gets one view of it for all stages: the same object each time, whose members show the present
 * state. A write throws. Read a member when you need it, and do not copy the exchange: many members
 * are computed as they are read.
 *
 * What only an attempt can tell (`target`, `provider`, `upstreamModel`, `usage`) is `undefined` at
 * the first `before_request`.
 */
export interface Exchange<S extends Surface = Surface> {
  /**
   * 32 lower-case hex digits: the `X-Request-ID`, the trace id and the `trace_id` of every log row.
   */
  readonly id: string;
  /**
   * The family of routes that the request came in by; `isChat` and `isSurface` narrow request and
   * reply by it.
   */
  readonly surface: S;
  /** The stage that is running; an instance listed at several stages may branch on it. */
  readonly stage: Stage;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** `undefined` when the request carried no valid credential. */
  readonly principal: Principal | undefined;
  /**
   * Entries of `X-Gateway-Metadata` in the text they were written in. Clients write them, so that
   * they prove nothing of who asks.
   */
  readonly metadata: Readonly<Record<string, string>>;
  /**
   * The body in the common wire, after earlier plugins. Read only; change it with a `rewrite`
   * verdict. It is frozen at every depth for third-party plugins; bodies that are only forwarded
   * hold next to nothing (see `needsBody`).
   */
  readonly request: RequestOf<S>;
  /**
   * The request in the wire that the client speaks; `undefined` for clients of the common wire, and
   * once a plugin has changed `request` by more than its texts and its model.
   */
  readonly clientRequest?: ClientBody | undefined;
  /**
   * At `after_request`, an answer that the client gets as its vendor gave it; `undefined` for any
   * other, streams included.
   */
  readonly clientReply?: ClientBody | undefined;
  /**
   * What is known of a client that speaks a wire of its own; `undefined` for clients of the common
   * wire.
   */
  readonly client?: ClientFacts | undefined;
  /**
   * The session that the request belongs to, as the client names it by a header; on every surface.
   * Clients write it, so that it proves nothing.
   */
  readonly sessionId?: string | undefined;
  /** The model after aliases, before `model_map`. */
  readonly model: string;
  /**
   * Whom the request is made for: its member `user`, as it was before a guardrail masked it.
   * `undefined` where the body names none, or something that is not a text.
   */
  readonly user: string | undefined;
  /** Whether the client asked for the answer as a stream of chunks. */
  readonly streaming: boolean;
  /**
   * True when the body holds content that no guardrail can read (a file, token ids, bytes). The
   * host refuses such a request by itself while a guardrail reads content, unless that says
   * `refusesUnreadable`.
   */
  readonly unreadable: boolean;
  /** Set before `after_request`; of a stream, the assembled answer. */
  readonly reply: ReplyOf<S> | undefined;
  /** Set before `on_error`. */
  readonly error: GatewayError | undefined;
  /**
   * How the request ends, as far as the stage that runs knows: at `after_request` and `on_error` it
   * is what the client gets. Each read makes a new object.
   */
  readonly ending?: RequestEnd | undefined;
  /** Where the request came from; `undefined` where it came by no connection. */
  readonly origin?: RequestOrigin | undefined;
  /**
   * Who pays for it; `undefined` where its key names no account and no tags, it brings none, and no
   * budget has another model used. Each read makes a new object.
   */
  readonly payer?: Payer | undefined;
  /** Name of the plugin that answered in the provider's place. */
  readonly answeredBy: string | undefined;
  /**
   * Virtual key that served, or the last one attempted; `undefined` before any attempt and on a
   * plugin's answer.
   */
  readonly target: string | undefined;
  /** Canonical provider of `target`. */
  readonly provider: string | undefined;
  /** The model that was sent upstream, after `model_map`. */
  readonly upstreamModel: string | undefined;
  /**
   * What the upstream says it answered with, before the answer got the name that was asked for; of
   * a plugin's answer, what that plugin knows.
   */
  readonly reportedModel: string | undefined;
  /** What a cache says of this request by the header `X-Gateway-Cache`. */
  readonly cache: 'hit' | 'miss' | undefined;
  /** Provider calls plus local refusals so far. */
  readonly attempts: number;
  /** Label of the variant an `ab-test` drew, once it has. */
  readonly abLabel: string | undefined;
  /**
   * How it was routed so far, as `gw explain` shows it, with its attempts; `undefined` unless a
   * request log keeps it.
   */
  readonly decision: object | undefined;
  /**
   * Where the request went among the entries of `providers` and `models`; `undefined` where the
   * configuration has neither, and no affinity.
   */
  readonly placement: Placement | undefined;
  /** Bytes that passed both ways once the connection had left HTTP, when that is over. */
  readonly tunnel: { readonly bytesUp: number; readonly bytesDown: number } | undefined;
  /**
   * What the vendor reported. `undefined` where it reported nothing, and until it has arrived:
   * of a stream that is at the end.
   */
  readonly usage: Usage | undefined;
  /**
   * Tokens to charge: those reported as far as they can be believed, and an estimate for the rest
   * of an answer that came. `undefined` where nothing was used, or nothing of it counts in tokens.
   */
  readonly charged?: Usage | undefined;
  /**
   * Set where the provider goes on by itself when the answer is over: what is booked by then is an
   * estimate, and is corrected once its usage is known.
   */
  readonly later?: { add(booking: LaterBooking): void } | undefined;
  /** Bytes of the body, of one that is forwarded, as far as they are known before it leaves. */
  readonly bodyBytes?: number | undefined;
  /** Times and cost as they stand when they are read; each read makes a new object. */
  readonly measurements: Measurements;
  /** Version of the catalog that priced it, where one did. */
  readonly catalogVersion: string | undefined;
  /** True when the answer holds what belongs to this request alone. */
  readonly isPrivate: boolean;
  /**
   * Aborts when the client leaves or the request's own clock runs out. Made on first use. Pass it
   * on to what a handler waits for; its reason is a `GatewayError`.
   */
  readonly signal: AbortSignal;
  /**
   * Text of a stream that has been delivered so far, over all choices. It is empty for an answer
   * that is not streamed.
   */
  deliveredText(): string;
  /**
   * Adds a response header, in place of one of that name that a plugin has set before; ignored once
   * the response has begun. A value longer than 1 KiB is cut, and ends with an ellipsis.
   *
   * @param name any case. A name that is not legal, or that belongs to the connection or the
   * gateway, such as `content-length` and `x-gateway-target`, throws a `TypeError`.
   * @param value a text; anything else throws a `TypeError`.
   */
  setHeader(name: string, value: string): void;
  /**
   * Says that the request is paid for in dollars, and what becomes of it where its model has no
   * price; of several the strictest counts. `who` stands in the refusal that the client reads.
   *
   * @param rule from `allow` over `warn` to `refuse`. `refuse` keeps the money right, and breaks
   * models that the catalog does not know yet.
   * @param who the plugin, in words that a client may read.
   */
  needsPrice(rule: Unpriced, who: string): void;
  /**
   * Says that the answer holds what belongs to this request alone: no cache keeps it or gives it to
   * another request.
   */
  keepPrivate(): void;
}

/**
 * How an exchange ended. Every `finished` handler gets it once.
 * - `success`: the client got an answer, of a plugin or a provider.
 * - `rejected`: a plugin refused the request or the answer.
 * - `error`: anything else that failed.
 * - `client_canceled`: the client left first, or its credential was ended while the request ran. What
 * a stream had used by then is still to be paid.
 */
export type ExchangeOutcome = 'success' | 'rejected' | 'error' | 'client_canceled';

/**
 * Narrows to the surfaces whose request and reply are chat bodies. It does not ask what the client
 * speaks: requests of Messages, of the Gemini API and translated ones of the Responses API are
 * chats as well. A plugin that works on messages asks this rather than `surface === 'chat'`.
 *
 * @returns true also at stages where `reply` is `undefined`: check that by itself.
 */
export function isChat(exchange: Exchange): exchange is Exchange<ChatSurface> {
  return SURFACES[exchange.surface].isChat;
}

/**
 * Narrows to one surface, its request and its reply: `isSurface(exchange, 'embeddings')`.
 *
 * @param surface one of the table; completions are not `chat` here, although their bodies have its
 * shape.
 * @example
 * ```ts
 * import { type Exchange, isSurface, reject, type Verdict } from 'gw/contract';
 *
 * // Long lists of inputs hold a provider up; one text is not a list.
 * export function refuseLongLists(exchange: Exchange): Verdict | undefined {
 *   if (!isSurface(exchange, 'embeddings')) return undefined;
 *   const { input } = exchange.request;
 *   return Array.isArray(input) && input.length > 500 ? reject('there are more than 500 inputs') : undefined;
 * }
 * ```
 */
export function isSurface<S extends Surface>(exchange: Exchange, surface: S): exchange is Exchange<S> {
  return exchange.surface === surface;
}
