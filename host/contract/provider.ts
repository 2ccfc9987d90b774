import type { ClientBody, ClientWireName } from './text/client-body.ts';
import type { UpstreamFault } from './errors.ts';
import type { ModelFacts } from './model-facts.ts';
import type { ChatTraits, KeyShape, NamesElsewhere, ProviderNames } from './provider-facts.ts';
import type { HttpSend, Log } from './services.ts';
import type { ReplyOf, RequestOf, TranslatedSurface } from './surface.ts';
import type { ChatChunk, ChatRequest } from './wire/chat.ts';
import type { UploadedFile } from './wire/other.ts';

/**
 * A provider is data and pure functions: where the service is, what it cannot express, and how
 * bodies translate. The host does what is not data or translation: it connects, authorises,
 * retries, frames, meters and cancels. So a provider has no state and needs no test with a network.
 */
export interface ProviderModule {
  /** The kind of module; stamped by `defineProvider`. */
  readonly kind: 'provider';
  /** What it was written for; the host refuses what it does not speak. */
  readonly contract: number | string;
  /** Canonical name, equal to the folder name and to the `virtual_key` operators write. */
  readonly name: string;
  /** `common`: the provider speaks the clients' format. `native`: any other. */
  readonly wire: 'common' | 'native';
  /** Where the service is, which variables it needs, and how a request is authorised. */
  readonly connection: Connection;
  /** Chat parameters that do not simply travel; what is not listed is forwarded. */
  readonly params: ParamTreatments;
  /**
   * The treatments in force for one model, where they depend on it. It replaces `params` as a
   * whole, so begin with a copy of that. Asked for every call: keep it cheap, and answer for any
   * text.
   */
  paramsFor?(model: string): ParamTreatments;
  /**
   * How requests and answers of each surface become the service's and the clients'; a surface that
   * is left out is not served.
   */
  readonly translators: Translators;
  /** What chats take beside the common format's core, for clients of other wires. */
  readonly chatTraits?: ChatTraits;
  /** The traits in force for one model, where they depend on it. */
  chatTraitsFor?(model: string): ChatTraits;
  /**
   * Wires of clients that the service speaks itself: such a client's request goes there as it is.
   */
  readonly sameWire?: Readonly<Partial<Record<ClientWireName, SameWire>>>;
  /**
   * How a streamed body is cut into events; `sse` unless said. `eventstream` is the binary framing
   * of AWS.
   */
  readonly framing?: 'sse' | 'ndjson' | 'eventstream';
  /** Whether other `/v1` paths may be forwarded to it; common wire only. */
  readonly passthrough?: boolean;
  /**
   * Path below the API root that forwarded requests go to, where that is not the root itself:
   * `/v1`.
   */
  readonly forwardPath?: string;
  /** Whether it has files and batches. False unless said. */
  readonly batches?: boolean;
  /**
   * Whether requests of the Responses API may be forwarded to it. `native`: its vendor serves that
   * API, so that none needs to be translated.
   */
  readonly responses?: boolean | 'native';
  /**
   * Accepts model ids that nothing can enumerate; asked only when no target owns the model. For
   * services whose users give models names of their own.
   */
  readonly anyModel?: boolean;
  /**
   * `false` where only configured and declared models are served, whatever the model catalog lists
   * for it.
   */
  readonly catalogModels?: false;
  /** Needs no network and no credential; registered only while a target names it. */
  readonly offline?: boolean;
  /**
   * How its live models are listed; without it the catalog and the configuration alone say which
   * there are.
   */
  readonly discovery?: Discovery;
  /**
   * Headers of the client's request that translators read, by lower-case name. Credentials and the
   * host's own are refused.
   */
  readonly clientHeaders?: readonly string[];
  /**
   * Where the catalog describes a model whose id it does not list for this provider:
   * `vendor/model`. For limits, never for prices.
   */
  describedAs?(model: string): string | undefined;
  /** What the catalog and telemetry call it. */
  readonly names?: ProviderNames;
  /** What other gateways call it and its settings, by the format of `gw import`. */
  readonly elsewhere?: Readonly<Record<string, NamesElsewhere>>;
  /**
   * Its place among the providers that the start shows whether or not they have a credential, from
   * 1; the first one stands in a new configuration while there is none.
   */
  readonly bannerPlace?: number;
  /** Image response formats it can produce, where that is restricted. */
  readonly imageFormats?: readonly string[];
  /**
   * Replaces the single call by several round trips (polling), or by none.
   *
   * @param send makes one round trip with the provider's credential; `request` and what it builds
   * on are paths below the API root.
   * @param call `wait` pauses between polls, and `signal` says when to stop. A service that goes on
   * by itself is stopped by a detached request.
   * @returns the reply that `fromUpstream` reads, as if one call had brought it.
   */
  converse?(send: Send, request: WireRequest, call: CallInfo): Promise<WireReply>;
  /**
   * Reads the provider's own error body; without it, or on `undefined`, the host reads the usual
   * shapes. Asked for statuses that are not 2xx. The body holds its bytes; one that is not JSON is
   * common when a proxy answers in the service's place, so parse it with `tryParseJson`.
   */
  toFault?(reply: WireReply): ProviderFault | undefined;
}

/**
 * What becomes of a chat parameter that is not simply forwarded: the translator maps it, the
 * service does not take it, or it has another name there.
 * - `forward`: it travels as it is; for an exception in `paramsFor`.
 * - `translate`: the translator maps it, and the host leaves it alone.
 * - `unsupported`: the service does not take it. It is left out and named to the client, or
 *   refused, as `compatibility.on_unsupported_param` says.
 * - `{ rename }`: it travels with its value under another name.
 */
export type Treatment = 'forward' | 'translate' | 'unsupported' | { readonly rename: string };
/** Treatments by the name of the chat parameter. What is not listed is forwarded as it is. */
export type ParamTreatments = Readonly<Record<string, Treatment>>;

/**
 * Values of the environment variables a connection declares, by variable name; unset ones are
 * missing. They hold secrets: put them into headers that `authorize` returns, never into a path, a
 * message or a log.
 */
export type Credentials = Readonly<Record<string, string>>;

/** Where a service is, what it needs to be reached, and how a request is authorised. */
export interface Connection {
  /**
   * Variables that must all be set for the provider to be registered; a list inside means any one
   * of them. `['A', ['B', 'C']]` wants `A`, and one of `B` and `C`. An empty list wants none.
   */
  readonly env: readonly (string | readonly string[])[];
  /** Further variables that are read when set. */
  readonly optionalEnv?: readonly string[];
  /** Variable that replaces the API root; `<NAME>_BASE_URL` unless said. */
  readonly baseUrlEnv?: string;
  /** Default API root, or a function of the variables for roots that are composed. */
  readonly baseUrl: string | ((credentials: Credentials) => string);
  /**
   * Reads the configured root: `api-root` gives a bare host the version segment of the default,
   * `host` keeps it as it is.
   */
  readonly rootStyle?: 'api-root' | 'host';
  /**
   * Instead of a style: makes the API root of an address that has no userinfo and no trailing
   * slash. Also sees the default.
   */
  readonly root?: (address: string, defaultRoot: string) => string;
  /** Headers that carry the credential. Runs last, on the final request. */
  readonly authorize?: Authorize;
  /**
   * Opens what needs I/O (tokens, credential chains); the only provider code that may do any. It
   * runs before anything is served, and has 30 seconds.
   */
  open?(credentials: Credentials, deps: ConnectionDeps): OpenConnection | Promise<OpenConnection>;
  /**
   * Models that the provider's own variables name. `warn` tells the operator what was left out or
   * is out of date.
   */
  models?(credentials: Credentials, warn: (message: string) => void): readonly string[];
  /** Variable that names the one model which every chat goes to: the deployment of a resource. */
  readonly chatModelEnv?: string;
  /**
   * What its credentials look like, where they can be recognised: hidden in all logs and errors,
   * configured or not.
   */
  readonly keyShapes?: readonly KeyShape[];
  /** Milliseconds to connect, 10,000 unless said. */
  readonly connectTimeoutMs?: number;
  /**
   * Milliseconds to the response headers of a unary call; unless said 120,000, and more where the
   * answer may be long. The headers of a whole answer come when it is written, so a bound that is
   * too short cuts off what is then paid for twice.
   */
  readonly headersTimeoutMs?: number;
}

/** What `open` of a connection works with, given once per configuration. */
export interface ConnectionDeps {
  /** Structured log; every line names the provider. */
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** API root without a trailing slash, as it is configured. */
  readonly root: string;
  /** One request over the pooled transport, for tokens; redirects are never followed. */
  readonly send: HttpSend;
}

/** What `open` returns: a connection that holds something, such as a token that it renews. */
export interface OpenConnection {
  /** Takes the place of `authorize` of the connection. */
  readonly authorize: Authorize;
  /** Runs once when nothing uses the connection any more. What it throws is logged. */
  dispose?(): void | Promise<void>;
}

/**
 * The request as it will leave, for schemes that sign it. Nothing of it changes between `authorize`
 * and the wire, so a signature over it holds.
 */
export interface OutgoingRequest {
  /** The method of HTTP, in capitals. */
  readonly method: string;
  /** The whole address, its query included. */
  readonly url: string;
  /** Headers by lower-case name, without those that carry the credential. */
  readonly headers: Readonly<Record<string, string>>;
  /** An iterable for forms, whose files are streamed. */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

type Headers = Readonly<Record<string, string>>;
/**
 * Returns the headers that carry the credential, by lower-case name. It gets the request as it will
 * leave, and the variables that the connection names; what it throws fails the call. A promise is
 * waited for, before every call: return the headers at once where nothing has to be fetched.
 *
 * @example
 * ```ts
 * import type { Authorize } from 'gw/contract';
 *
 * export const authorize: Authorize = ({ method }, { ACME_ID = '', ACME_KEY = '' }) => ({
 *   authorization: `Acme ${ACME_ID}:${ACME_KEY}`,
 *   'x-acme-method': method.toLowerCase(),
 * });
 * ```
 */
export type Authorize = (request: OutgoingRequest, credentials: Credentials) => Headers | Promise<Headers>;

/** Translation of one call. Everything here is plain data: no clock, no log. */
export interface CallInfo {
  /** The model to ask the upstream for, after `model_map`. */
  readonly model: string;
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

/** A part of a form: a text, or a file. */
export type FormPart = FormField | FormFile;

/** A part of a form that is a text. */
export interface FormField {
  /** Name of the part. */
  readonly name: string;
  /** Its text, sent as UTF-8. */
  readonly value: string;
}

/**
 * Leaves as `application/octet-stream` with its file name; its content is streamed, once per
 * attempt.
 */
export interface FormFile {
  /** Name of the part; the file has a name of its own. */
  readonly name: string;
  /** The file as the client sent it. */
  readonly file: UploadedFile;
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
 * What an error body of the service says. A member is there only where the body states it. Members
 * of other types than these make it a fault of the module, which is logged beside the error that
 * the client gets.
 */
export interface ProviderFault {
  /** What went wrong, for people. The host cuts it, and takes credentials out. */
  readonly message?: string | undefined;
  /** What kind of failure it is, which decides whether the next target is tried. */
  readonly reason?: UpstreamFault['reason'];
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

/** Changes a chunk of the common wire in place. */
export type ChunkEdit = (chunk: ChatChunk) => void;

/**
 * Turns events into chunks, synchronously. Throws a `GatewayError` or any error to end the stream
 * as failed. A stream gets one of its own, so that it may keep what the wire says piece by piece.
 * An empty list is the answer to an event that says nothing to clients, such as a ping. Every event
 * of every stream passes it: do no more than the wire needs.
 *
 * @param event one framed piece; its `data` is whole, and not yet parsed.
 * @returns chunks in the order in which clients get them.
 */
export type StreamDecoder = (event: StreamEvent) => readonly ChatChunk[];

/**
 * Translates one surface between the common wire and the service's own. Pure and synchronous: no
 * network, no clock, and nothing is changed in what it gets.
 */
export interface Translator<S extends TranslatedSurface> {
  /**
   * Throws a `GatewayError` for what the provider cannot express: nothing is sent then.
   *
   * @param request the client's, after aliases and plugins. Members of any type may stand in it
   * that the type does not list.
   * @param call what is known beside the body; `call.model` is the name to send, not
   * `request.model`.
   * @returns path and body. It may share members with the request, and changes none of them.
   */
  toUpstream(request: RequestOf<S>, call: CallInfo): WireRequest;
  /**
   * Only called for 2xx replies with the whole body. Throws when the body is unusable: the call has
   * then failed.
   *
   * @param reply a success by its status. Services that put failures into such replies are read by
   * `failedAnswer`.
   * @param call what `toUpstream` knew of the call.
   * @param request for what the reply alone does not tell, such as how many inputs there were.
   */
  fromUpstream(reply: UnaryReply, call: CallInfo, request: RequestOf<S>): ReplyOf<S>;
  /**
   * For raw replies: the bytes of a 2xx reply go on to the client as they arrive, and
   * `fromUpstream` is not called.
   */
  readonly relaysBytes?: boolean;
}

/**
 * Translates chat, whole and streamed. Completions and the wires of other clients are served by it
 * as well.
 */
export interface ChatTranslator extends Translator<'chat'> {
  /**
   * How a streamed answer is read: `common` when each event's data is a chunk of the common wire,
   * which the host can relay without decoding; a function that opens a decoder per stream, or none
   * where this call's events are such chunks; absent when the provider cannot stream.
   */
  readonly openStream?: 'common' | ((call: CallInfo) => StreamDecoder | undefined);
  /**
   * Opens, for a stream that is read as `common`, what changes each chunk before the host corrects
   * it. `undefined` where nothing is to be changed; else every chunk is parsed.
   */
  readonly editStream?: (call: CallInfo, request: ChatRequest) => ChunkEdit | undefined;
}

/**
 * How a request goes to a service that speaks its client's wire. `client.value` may leave as it is,
 * or as a copy that shares what it does not change: the host sends the client's own bytes, but for
 * what differs. The answer is read by the translator of the surface, and goes on in the bytes it
 * came in.
 */
export interface SameWire {
  /**
   * `undefined` where this call must go through the common format; `ignored` are paths of the
   * client's body. Pure.
   */
  toUpstream(client: ClientBody, call: CallInfo): WireRequest | undefined;
  /** The call that counts the tokens of a request, where the service has one. */
  countTokens?(client: ClientBody, call: CallInfo): WireRequest | undefined;
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

/** Translators by surface. Surfaces whose requests are read into a chat use that of `chat`. */
export type Translators = { readonly chat?: ChatTranslator } & {
  readonly [S in Exclude<TranslatedSurface, 'chat'>]?: Translator<S>;
};

/**
 * How to list the models that are live at the provider. It is asked in the background, again and
 * again; a service that fails, or lists nothing, keeps the models that it had.
 */
export interface Discovery {
  /** Appended to the API root. */
  readonly path: string;
  /**
   * Returns ids and, where stated, creation times in Unix seconds.
   *
   * @param body the parsed answer. It comes from outside: check every member before you use it.
   * @returns the models that requests may name. A throw is logged as `live models could not be
   * listed`.
   */
  read(body: unknown): readonly DiscoveredModel[];
}

/** A model that the provider says it serves. */
export interface DiscoveredModel {
  /** The id that requests name it by. */
  readonly id: string;
  /** Unix seconds; `undefined` where the provider does not say. */
  readonly created?: number;
}
