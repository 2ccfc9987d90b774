import { type Exchange, isChat } from './exchange.ts';
import type { RequestOf, Surface } from './surface.ts';
import type { ChatMessage, ChatReply, ChatRequest, ContentPart } from './wire/chat.ts';

/** Request fields of the chat wire that are no content of the caller's: they steer the call. */
const CONTROL_FIELDS = new Set(['model', 'messages', 'user', 'tool_choice', 'stream', 'stream_options', 'logit_bias', 'n', 'seed']);

/** Members of content parts that hold bytes or addresses rather than text, by the part's type. */
const PART_MEDIA: ReadonlyMap<unknown, readonly [holder: string, member: string]> = new Map([
  ['image_url', ['image_url', 'url']],
  ['input_audio', ['input_audio', 'data']],
  ['file', ['file', 'file_data']],
]);

/**
 * Every string that a guardrail reads at the running stage, on every surface and wire: of a chat request all messages
 * with their parts, reasoning and tool-call arguments, tools, response_format, stop and fields that are only forwarded;
 * of other requests their text; of answers every choice's content, reasoning and tool-call arguments. Strings that are
 * themselves JSON come a second time, decoded. Image addresses and audio are not read.
 */
export function* texts(exchange: Exchange): Generator<string> {
  if (exchange.stage === 'after_request') {
    if (isChat(exchange) && exchange.reply) yield* replyTexts(exchange.reply);
    return;
  }
  if (!isChat(exchange)) {
    yield* projection(exchange.surface, exchange.request);
    return;
  }
  yield* requestTexts(exchange.request);
}

/**
 * The plain message view: per message its content, the texts of parts joined; beside chat the projection of the body.
 * At `after_request` the content of every choice. Without tools, arguments, reasoning and forwarded fields.
 */
export function* messageTexts(exchange: Exchange): Generator<string> {
  if (exchange.stage === 'after_request') {
    if (!isChat(exchange) || !exchange.reply) return;
    for (const choice of exchange.reply.choices) if (choice.message.content) yield choice.message.content;
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

/** Content of one chat message: the string, or the text of each text part. */
export function* contentTexts(message: ChatMessage): Generator<string> {
  const { content } = message;
  if (typeof content === 'string') yield content;
  else if (content) for (const part of content) if (part.type === 'text') yield part.text;
}

function* requestTexts(request: ChatRequest): Generator<string> {
  for (const { content, ...message } of request.messages) {
    if (Array.isArray(content)) yield* partTexts(content as readonly ContentPart[]);
    else yield* strings(content);
    yield* strings(message);
  }
  for (const [field, value] of Object.entries(request)) if (!CONTROL_FIELDS.has(field)) yield* strings(value);
}

/** Texts of the parts, also joined: what is cut over two parts reads as one to the model. */
function* partTexts(parts: readonly ContentPart[]): Generator<string> {
  for (const part of parts) yield* strings(withoutMedia(part));
  if (parts.length > 1) yield joinedText(parts);
}

function withoutMedia(part: ContentPart): object {
  const [holder, member] = PART_MEDIA.get(part.type) ?? [];
  if (holder === undefined || member === undefined) return part;
  const held = part[holder];
  if (typeof held !== 'object' || held === null) return { ...part, [holder]: undefined };
  return { ...part, [holder]: { ...held, [member]: undefined } };
}

function joinedText(parts: readonly ContentPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function* replyTexts(reply: ChatReply): Generator<string> {
  for (const { message } of reply.choices) yield* strings(message);
}

/** All strings inside a value, keys excluded, JSON strings also decoded. */
function* strings(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    yield value;
    yield* decoded(value);
  } else if (Array.isArray(value)) {
    for (const item of value) yield* strings(item);
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) yield* strings(member);
  }
}

/** Strings of a text that is itself a JSON object, array or string; nothing when it is not. */
function* decoded(text: string): Generator<string> {
  if (!/^\s*[{["]/.test(text)) return;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return; // ordinary text that begins like JSON
  }
  yield* leaves(value);
}

function* leaves(value: unknown): Generator<string> {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string') yield next;
    else if (typeof next === 'object' && next !== null) for (const member of Object.values(next).toReversed()) open.push(member);
  }
}

/** What plugins read of a body beside chat. Unreadable parts are left out; the host marks such exchanges. */
function projection(surface: Surface, request: RequestOf<Surface>): Iterable<string> {
  const body: Readonly<Record<string, unknown>> = request;
  const pick = PROJECTIONS[surface];
  return pick ? pick(body) : [];
}

type Body = Readonly<Record<string, unknown>>;
const onlyStrings = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((item): item is string => typeof item === 'string');

const PROJECTIONS: Partial<Record<Surface, (body: Body) => Iterable<string>>> = {
  embeddings: (body) => onlyStrings(body['input']),
  images: (body) => onlyStrings(body['prompt']),
  rerank: (body) => [...onlyStrings(body['query']), ...onlyStrings(body['documents'])],
  moderations: (body) => onlyStrings(body['input']),
  'audio.transcriptions': (body) => onlyStrings(body['prompt']),
  'audio.translations': (body) => onlyStrings(body['prompt']),
  'audio.speech': (body) => onlyStrings(body['input']),
  responses: (body) => leaves(body['json']),
  passthrough: (body) => leaves(body['json']),
};
