import type { ReplyOf, RequestOf, TranslatedSurface } from '../surface.ts';
import type { ClientBody } from '../text/client-body.ts';
import type { ChatChunk, ChatRequest } from '../wire/chat.ts';
import type { CallInfo, StreamEvent, UnaryReply, WireRequest } from './provider-call.ts';

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
   * where this call's events are such chunks; absent when the provider cannot stream. The request is
   * for what the stream alone does not tell.
   */
  readonly openStream?: 'common' | ((call: CallInfo, request: ChatRequest) => StreamDecoder | undefined);
  /**
   * Opens, for a stream that is read as `common`, what changes each chunk before the host corrects
   * it. `undefined` where nothing is to be changed; else every chunk is parsed.
   */
  readonly editStream?: (call: CallInfo, request: ChatRequest) => ChunkEdit | undefined;
  /**
   * Chats by the service's Responses API, where it answers them as well. Which of the two an attempt
   * uses the host decides, by the rules of models and the target's `chat_via`.
   */
  readonly viaResponses?: ViaResponses;
}

/**
 * Chats by the service's Responses API. It names in `ignored` all that it leaves out: the module's
 * `params` is for its chats. An answer that holds an error reaches `fromUpstream` too.
 */
export interface ViaResponses extends Omit<ChatTranslator, 'viaResponses'> {
  /**
   * Whether the host may choose it by the rules of models; elsewhere only the target's `chat_via`
   * does.
   */
  readonly isAutomatic?: boolean;
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

/** Translators by surface. Surfaces whose requests are read into a chat use that of `chat`. */
export type Translators = { readonly chat?: ChatTranslator } & {
  readonly [S in Exclude<TranslatedSurface, 'chat'>]?: Translator<S>;
};
