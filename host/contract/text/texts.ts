import { answerTexts } from './answer-texts.ts';
import { inForwarded, inReply, inRequest, isChosen, namedLeaves, type Names, type NamesBelow } from './chosen-names.ts';
import { bodyTexts, clientBodyOf, leaves, readings } from './client-body.ts';
import { type Exchange, isChat, isSurface } from '../exchange.ts';
import { isFields, isLabel, TOKEN } from '../json/fields.ts';
import { isRawNumber } from '../json/json-numbers.ts';
import { textOfFile } from './file-text.ts';
import type { RequestOf, Surface } from '../surface.ts';
import type { ChatMessage, ChatReply, ChatRequest, ContentPart, ReplyMessage } from '../wire/chat.ts';
import type { OpaqueRequest, ToolReply } from '../wire/other.ts';

/**
 * Request fields of the chat wire that hold no text of the caller's: numbers, switches, the model;
 * messages are read by themselves.
 */
const CONTROL_FIELDS = new Set(['model', 'messages', 'stream', 'n', 'seed']);
/** Fields whose objects have members that the chat wire names; any other is only forwarded. */
const NAMED_FIELDS = new Set(['tools', 'tool_choice', 'response_format', 'stream_options', 'logit_bias']);
const TOOL_CHOICES = /^(auto|none|required)$/;

/** Whether a field of a chat request only steers the call. */
export function isControl(field: string, value: unknown): boolean {
  return (
    CONTROL_FIELDS.has(field) || (field === 'tool_choice' && typeof value === 'string' && TOOL_CHOICES.test(value))
  );
}

/** Members of content parts that hold bytes or addresses rather than text, by the part's type. */
export const PART_MEDIA: ReadonlyMap<unknown, readonly [holder: string, member: string]> = new Map([
  ['image_url', ['image_url', 'url']],
  ['input_audio', ['input_audio', 'data']],
  ['file', ['file', 'file_data']],
]);

/**
 * Words of the wire by the name of their member: a value of that form is not a text of the client.
 */
export type Words = ReadonlyMap<string, RegExp>;

/**
 * What the wire itself defines, by the member that holds it: enumerated words and opaque tokens.
 * Only a value of that form is left out: any other value in the same place may be text of the
 * caller's, and is read.
 */
export const MESSAGE_WORDS: Words = new Map([
  ['role', /^(system|developer|user|assistant|tool|function)$/],
  ['tool_call_id', TOKEN],
]);
/** Words in a call of a tool. */
export const CALL_WORDS: Words = new Map([
  ['id', TOKEN],
  ['type', /^(function|custom)$/],
]);
/** Words in a detail of reasoning. */
export const DETAIL_WORDS: Words = new Map(['type', 'format', 'id', 'signature', 'data'].map((name) => [name, TOKEN]));
/** Words in a part of a message's content. */
export const PART_WORDS: Words = new Map([['type', /^(text|image_url|input_audio|file|refusal)$/]]);
/** Words in an image, a sound or a file. */
export const MEDIA_WORDS: Words = new Map([
  ['detail', /^(auto|low|high)$/],
  ['format', /^(wav|mp3)$/],
]);
/** The words of what a member holds, by the member's name. */
export const WORDS_BY_FIELD: ReadonlyMap<string, Words> = new Map([
  ['tools', new Map([['type', /^(function|custom)$/]])],
  ['tool_choice', new Map([['type', /^(function|custom|allowed_tools)$/]])],
  ['response_format', new Map([['type', /^(text|json_object|json_schema)$/]])],
]);

/** A label of a request beside chat. */
const LABEL = /^[\w.:-]{0,64}$/;
const REQUEST_WORDS: Words = new Map([
  ['model', /^/],
  ...[
    'encoding_format',
    'response_format',
    'size',
    'quality',
    'style',
    'voice',
    'input_type',
    'output_format',
    'stream_format',
    'background',
    'moderation',
    'truncate',
  ].map((name) => [name, LABEL] as const),
]);

/** Words of the wire in the blocks that a tool answers with. */
const BLOCK_WORDS: Words = new Map([['type', /^(text|image|audio|resource|resource_link)$/]]);
const BYTES_WORDS: Words = new Map([...BLOCK_WORDS, ['data', TOKEN], ['mimeType', TOKEN]]);
const RESOURCE_WORDS: Words = new Map([
  ['blob', TOKEN],
  ['mimeType', TOKEN],
]);

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
 * The projection, and what else travels beside it: who asks, how to speak, fields that are only
 * forwarded.
 */
function* otherRequestTexts(surface: Surface, request: RequestOf<Surface>): Generator<string> {
  if (surface === 'passthrough' || surface === 'responses') {
    yield* named((request as OpaqueRequest).json, 'own', surface === 'responses' ? inRequest : inForwarded);
    return;
  }
  for (const text of projection(surface, request)) yield* readings(text);
  const projected = PROJECTED.get(surface);
  if (!projected) return;
  yield* membersTexts(
    Object.fromEntries(Object.entries(request).filter(([name]) => !projected.has(name))),
    REQUEST_WORDS,
    inForwarded,
  );
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

/**
 * Content of one chat message: the string, or the text of each text part; what an earlier turn
 * refused is text too.
 */
export function* contentTexts(message: ChatMessage): Generator<string> {
  const { content } = message;
  if (typeof content === 'string') yield content;
  else if (content) for (const part of content) if (isText(part)) yield partText(part);
}

function* requestTexts(request: ChatRequest): Generator<string> {
  for (const message of request.messages) yield* wholeMessageTexts(message, inRequest);
  for (const [field, value] of Object.entries(request)) {
    if (isControl(field, value)) continue;
    if (isChosen(field, 'own')) yield* readings(field);
    const words = WORDS_BY_FIELD.get(field);
    if (words) yield* membersTexts(value, words, inRequest);
    else yield* named(value, NAMED_FIELDS.has(field) ? 'own' : 'free', inRequest);
  }
}

function* replyTexts({ choices, usage: _usage, ...reply }: ChatReply): Generator<string> {
  for (const { message, logprobs: _logprobs, ...choice } of choices) {
    yield* wholeMessageTexts(message, inReply);
    yield* besideTexts(choice);
  }
  yield* besideTexts(reply);
}

function* besideTexts(fields: Readonly<Record<string, unknown>>): Generator<string> {
  for (const name in fields) {
    if (isChosen(name, 'own')) yield* readings(name);
    if (name !== 'model' && !isLabel(fields[name])) yield* named(fields[name], 'own', inReply);
  }
}

/**
 * Texts of the blocks, also joined, and of the structured answer; the bytes of images, audio and
 * files are left out.
 */
function* toolReplyTexts({ content, structuredContent }: ToolReply): Generator<string> {
  for (const block of content) {
    const { resource, ...rest } = isFields(block) ? block : { resource: block };
    yield* membersTexts(
      rest,
      rest['type'] === 'image' || rest['type'] === 'audio' ? BYTES_WORDS : BLOCK_WORDS,
      inReply,
    );
    yield* membersTexts(resource, RESOURCE_WORDS, inReply);
  }
  const texts = blockTexts(content);
  if (texts.length > 1) yield* readings(texts.join(''));
  yield* named(structuredContent, 'own', inReply);
}

/** What a tool's answer says in plain text, block by block. */
function blockTexts(content: ToolReply['content']): string[] {
  return content.flatMap((block) => {
    if (!isFields(block)) return [];
    const { text } = isFields(block['resource']) ? block['resource'] : block;
    return typeof text === 'string' ? [text] : [];
  });
}

function* wholeMessageTexts(
  { content, tool_calls, reasoning_details, ...message }: ChatMessage | ReplyMessage,
  below: NamesBelow,
): Generator<string> {
  if (Array.isArray(content)) yield* partTexts(content as readonly ContentPart[], below);
  else yield* named(content, 'own', below);
  yield* membersTexts(message, MESSAGE_WORDS, below);
  yield* membersTexts(reasoning_details, DETAIL_WORDS, below);
  yield* membersTexts(tool_calls, CALL_WORDS, below);
}

/** Texts of the parts, also joined: what is cut over two parts reads as one to the model. */
function* partTexts(parts: readonly ContentPart[], below: NamesBelow): Generator<string> {
  for (const part of parts) yield* onePartTexts(part, below);
  if (parts.filter(isText).length > 1) yield* readings(joinedText(parts));
}

function* onePartTexts(part: ContentPart, below: NamesBelow): Generator<string> {
  const [holder, member] = PART_MEDIA.get(part.type) ?? [];
  const held = holder === undefined ? undefined : part[holder];
  if (holder === undefined || member === undefined || !isFields(held)) {
    yield* membersTexts(part, PART_WORDS, below);
    return;
  }
  const { [holder]: _held, ...rest } = part;
  yield* membersTexts(rest, PART_WORDS, below);
  const media = held[member];
  yield* membersTexts(typeof media === 'string' ? { ...held, [member]: undefined } : held, MEDIA_WORDS, below);
  const text = typeof media === 'string' && part.type !== 'input_audio' ? textOfFile(media) : undefined;
  if (text !== undefined) yield* readings(text);
}

function joinedText(parts: readonly ContentPart[]): string {
  return parts.map(partText).join('');
}

const isText = ({ type }: ContentPart): boolean => type === 'text' || type === 'refusal';

function partText(part: ContentPart): string {
  if (part.type === 'text') return part.text;
  return part.type === 'refusal' ? part.refusal : '';
}

/**
 * Texts of an object of the wire, or of each object in a list, without the words that the wire
 * itself defines.
 */
function* membersTexts(value: unknown, words: Words, below: NamesBelow): Generator<string> {
  if (Array.isArray(value)) {
    for (const item of value) yield* Array.isArray(item) ? named(item, 'own', below) : membersTexts(item, words, below);
  } else if (isFields(value) && !isRawNumber(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (isChosen(name, 'own')) yield* readings(name);
      if (typeof member !== 'string' || !words.get(name)?.test(member)) yield* named(member, below(name), below);
    }
  } else yield* named(value, 'own', below);
}

/**
 * All strings inside a value, JSON strings also decoded, and the names that a client or a model
 * chose.
 */
function* named(value: unknown, names: Names, below: NamesBelow): Generator<string> {
  if (typeof value === 'string') yield* readings(value);
  else if (typeof value === 'object' && value !== null)
    for (const text of namedLeaves(value, names, below)) yield* readings(text);
}

/**
 * What plugins read of a body beside chat. Unreadable parts are left out; the host marks such
 * exchanges.
 */
function projection(surface: Surface, request: RequestOf<Surface>): Iterable<string> {
  const body: Readonly<Record<string, unknown>> = request;
  const pick = PROJECTIONS[surface];
  return pick ? pick(body) : [];
}

type Body = Readonly<Record<string, unknown>>;
const onlyStrings = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((item): item is string => typeof item === 'string');

/** Texts, and those of multimodal parts; their media is not read. */
function* inputTexts(input: unknown): Generator<string> {
  if (Array.isArray(input))
    for (const item of input)
      yield* typeof item === 'object' && item !== null
        ? onePartTexts(item as ContentPart, inRequest)
        : onlyStrings(item);
  else yield* onlyStrings(input);
}

const PROJECTIONS: Partial<Record<Surface, (body: Body) => Iterable<string>>> = {
  embeddings: (body) => onlyStrings(body['input']),
  images: (body) => onlyStrings(body['prompt']),
  rerank: (body) => [...onlyStrings(body['query']), ...onlyStrings(body['documents'])],
  moderations: (body) => inputTexts(body['input']),
  'audio.transcriptions': (body) => onlyStrings(body['prompt']),
  'audio.translations': (body) => onlyStrings(body['prompt']),
  'audio.speech': (body) => onlyStrings(body['input']),
  responses: (body) => leaves(body['json']),
  passthrough: (body) => leaves(body['json']),
  mcp: (body) => argumentTexts(body['arguments']),
};

function* argumentTexts(value: unknown): Generator<string> {
  for (const text of leaves(value)) yield* readings(text);
}

/** Members that a projection reads, on the surfaces whose other members travel too. */
const PROJECTED: ReadonlyMap<Surface, ReadonlySet<string>> = new Map([
  ['embeddings', new Set(['input'])],
  ['images', new Set(['prompt'])],
  ['rerank', new Set(['query', 'documents'])],
  ['moderations', new Set(['input'])],
  ['audio.speech', new Set(['input'])],
]);
