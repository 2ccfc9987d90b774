import { answerTexts } from './answer-texts.ts';
import { replyTexts, requestTexts } from './chat-texts.ts';
import { inReply, inRequest, type NamesBelow } from './chosen-names.ts';
import { bodyTexts, clientBodyOf, readings } from './client-body.ts';
import { type Exchange, isChat, isSurface } from '../exchange.ts';
import { named } from './member-texts.ts';
import { otherRequestTexts, projection } from './other-texts.ts';
import { joinedText } from './part-texts.ts';
import type { RequestOf, Surface } from '../surface.ts';
import { blockTexts, toolReplyTexts } from './tool-texts.ts';
import type { ChatReply, ChatRequest } from '../wire/chat.ts';
import type { ToolReply } from '../wire/other.ts';

/**
 * Every string that a guardrail reads at the running stage, on every surface and wire: of a chat
 * request all messages with their parts, reasoning and tool-call arguments, tools, tool_choice,
 * response_format, stop, user and fields that are only forwarded; of other requests their text and
 * what travels beside it; of answers every choice's content, reasoning and tool-call arguments and
 * what stands beside the choices, of a tool what it answered, transcripts, the revised prompt of an
 * image, documents that come back. Names of members are texts where a client, or a model, chooses
 * them: in tables of schemas such as `properties`, in arguments, below fields that are only
 * forwarded, and anywhere else those that are not words. Strings that are themselves JSON come a
 * second time, decoded, and files that hold text as that text. Image addresses, audio, ids and
 * words of the wire (roles, types) are not read. Where the client speaks a wire of its own, they
 * are those of its own body.
 *
 * Nothing is read before it is asked for, so stop early: `find` and `some` of the iterator do.
 * @example
 * ```ts
 * import { type Exchange, reject, texts, type Verdict } from 'gw/contract';
 *
 * // The request before the call, the answer after it: the stage decides which.
 * export function refuseLong(exchange: Exchange): Verdict | undefined {
 *   let length = 0;
 *   for (const text of texts(exchange)) {
 *     length += text.length; // UTF-16 code units
 *     if (length > 100_000) return reject('it is longer than 100,000 characters');
 *   }
 *   return undefined;
 * }
 * ```
 */
export function texts(exchange: Exchange): Generator<string> {
  const own = exchange.stage === 'after_request' ? exchange.clientReply : exchange.clientRequest;
  return own
    ? bodyTexts(own, belowAt(exchange))
    : textsIn(exchange, exchange.stage === 'after_request' ? exchange.reply : exchange.request);
}

const belowAt = ({ stage }: Exchange): NamesBelow => (stage === 'after_request' ? inReply : inRequest);

/**
 * Every text of another body of the exchange: that of an answer at `after_request`, else that of a
 * request.
 */
export function* textsIn(exchange: Exchange, body: unknown): Generator<string> {
  const own = clientBodyOf(body);
  if (own) yield* bodyTexts(own, belowAt(exchange));
  else if (exchange.stage === 'after_request') {
    if (isChat(exchange) && body) yield* replyTexts(body as ChatReply);
    else if (isSurface(exchange, 'mcp') && body) yield* toolReplyTexts(body as ToolReply);
    else if (body) for (const text of answerTexts(exchange.surface, body)) yield* readings(text);
  } else if (isChat(exchange)) yield* requestTexts(body as ChatRequest);
  else if (isSurface(exchange, 'mcp')) yield* named((body as RequestOf<'mcp'>).arguments, 'free', inRequest);
  else yield* otherRequestTexts(exchange.surface, body as RequestOf<Surface>);
}

/**
 * The plain message view: per message its content, the texts of parts joined; beside chat the
 * projection of the body. At `after_request` the content of every choice, the text blocks of a
 * tool's answer, or the texts of another answer. Without tools, arguments, reasoning and forwarded
 * fields.
 */
export function* messageTexts(exchange: Exchange): Generator<string> {
  if (exchange.stage === 'after_request') {
    if (!exchange.reply) return;
    if (isSurface(exchange, 'mcp')) yield* blockTexts(exchange.reply.content);
    else if (!isChat(exchange)) yield* answerTexts(exchange.surface, exchange.reply);
    else for (const choice of exchange.reply.choices) if (choice.message.content) yield choice.message.content;
    return;
  }
  if (!isChat(exchange)) {
    yield* projection(exchange.surface, exchange.request);
    return;
  }
  for (const { content } of exchange.request.messages) {
    if (typeof content === 'string') yield content;
    else if (content) yield joinedText(content);
  }
}
