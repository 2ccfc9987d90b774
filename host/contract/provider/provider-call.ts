import type { ClientWireName } from '../text/client-body.ts';
import type { ModelFacts } from '../model-facts.ts';
import type { UpstreamFault } from '../errors.ts';
import type { FormPart } from '../wire/form.ts';
import type { Credentials } from './connection.ts';

/** Translation of one call. Everything here is plain data: no clock, no log. */
export interface CallInfo {
  /** The model to ask the upstream for, after `model_map`. */
  readonly model: string;
  /**
   * Name of the provider; absent where no host asks. What only the service itself reads is marked
   * with it on its way through clients.
   */
  readonly provider?: string;
  /** Whether the client asked for a stream. */
  readonly stream: boolean;
  /** API root without a trailing slash. */
  readonly root: string;
  /** The variables that the connection names, as far as they are set. */
  readonly credentials: Credentials;
  /**
   * 32 hex digits, for wires that want an id of their own. All attempts of a request have the same
   * one.
   */
  readonly exchangeId: string;
  /** Most tokens that the model can answer with, where the catalog knows. */
  readonly maxOutputTokens?: number | undefined;
  /** What the rules of models say of the model; absent where no host asks, as in a test of a translator alone. */
  readonly facts?: ModelFacts;
  /** Whether the client asked to see what the model thinks. Some services bill or refuse it, so it is asked for only then. */
  readonly wantsThoughts?: boolean;
  /** Whether thoughts of earlier turns stay behind, because the service has refused them in this attempt. */
  readonly leavesThoughts?: boolean;
  /**
   * The wire of a client that does not speak the common one; absent where it does. System messages
   * behind the first turn stand there only where the model takes them: they keep their place.
   */
  readonly clientWire?: ClientWireName | undefined;
  /**
   * Headers of the client's request that the module lists in `clientHeaders`, by lower-case name;
   * absent without any.
   */
  readonly clientHeaders?: Readonly<Record<string, string>> | undefined;
  /** Aborts when the client leaves or a deadline passes. */
  readonly signal: AbortSignal;
  /**
   * Waits; rejects when the call is cancelled. For `converse` only. A translator must not call it:
   * nothing waits for what it returns.
   */
  readonly wait: (ms: number) => Promise<void>;
}

/**
 * One request to the provider, as a translator makes it. The host adds address, credential and
 * framing. The host checks its shape, and what does not have it is a fault of the module: a `path`
 * begins with `/` or is a whole address, and holds no blanks.
 */
export interface WireRequest {
  /** `POST` unless said. */
  readonly method?: string;
  /**
   * Appended to the API root; a whole URL is taken as it is. Build it from names with `pathSegment`
   * of `gw/common-wire`: a model such as `../admin` would mean another place.
   */
  readonly path: string;
  /** Headers beside those that the host sets, by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** An object leaves as JSON. */
  readonly body?: object | string | Uint8Array;
  /** Parts of a `multipart/form-data` body, in order, instead of `body`; the host encodes them. */
  readonly form?: readonly FormPart[];
  /**
   * Whether the credential goes along; unless said, only to the origin of the API root. Say `true`
   * for another origin only where the service documents it: the credential is theirs from then on.
   */
  readonly withCredential?: boolean;
  /**
   * Most tokens the answer may have, where the request does not say so itself: what the wait for a
   * whole one is measured by.
   */
  readonly answerTokens?: number;
  /**
   * Request fields that this wire cannot carry, beyond the declared `params`; treated like
   * unsupported parameters. Name them as the client wrote them, such as `logit_bias`. They stand in
   * the header `X-Gateway-Ignored-Params`.
   */
  readonly ignored?: readonly string[];
  /**
   * Request fields that travel with the nearest value the wire takes; the host logs a warning, and
   * the client's answer does not mention it.
   */
  readonly bounded?: readonly string[];
}

/** An answer of the provider as it came, whatever its status. */
export interface WireReply {
  /** The status of HTTP. */
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The bytes of a unary reply, or the events of a stream. An iterable must be read to its end or
   * left by `return`, or its connection stays taken.
   */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** How one request of `converse` is sent. Both are false unless said. */
export interface SendOptions {
  /** Resolves with the headers; the body is iterated. */
  readonly stream?: boolean;
  /** Goes out although the call was cancelled, within 10 s: to clean up at the provider. */
  readonly detached?: boolean;
}

/**
 * Sends one request with the provider's credentials. Resolves on any status; rejects when no
 * response arrives. The path is taken as a translator's: below the API root, or whole.
 */
export type Send = (request: WireRequest, options?: SendOptions) => Promise<WireReply>;

/**
 * What an error body of the service says beside what the host reads of it by itself: a member of these
 * goes before the host's own reading, and what is absent is the host's to find
 * (docs/reference/data-plane.md#reading-an-error-body). Members of other types than these make it a
 * fault of the module, which is logged beside the error that the client gets.
 */
export interface ProviderFault {
  /** What went wrong, for people. The host cuts it, and takes credentials out. */
  readonly message?: string | undefined;
  /** What kind of failure it is, where the host's table of codes and words cannot tell. */
  readonly reason?: UpstreamFault['reason'];
  /** The service's word for it, from a place where the host does not look, such as a header. */
  readonly code?: string | undefined;
  /** A status the body states, where the transport's says less. */
  readonly status?: number;
  /** Milliseconds to wait that the body states; a header's hint wins. */
  readonly retryAfterMs?: number | undefined;
}

/** One framed piece of a streamed body. */
export interface StreamEvent {
  /**
   * SSE `event:` field, `:event-type` or `:exception-type` of an event stream; empty when there is
   * none.
   */
  readonly type: string;
  /** The data of the event as text; of several lines they are joined by line feeds. */
  readonly data: string;
}

/** A whole reply: its bytes, and the same parsed once on demand. */
export interface UnaryReply {
  /** The status of HTTP. */
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes as they came, unpacked. */
  readonly body: Uint8Array;
  /** Throws when the body is not JSON. */
  json(): unknown;
}
