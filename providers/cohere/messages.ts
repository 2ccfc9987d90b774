import { type ChatMessage, contentTexts, type ContentPart, type ToolCall } from 'gw/contract';
import { type Fields, invalidRequest, isFields, isGiven, withoutAbsent } from 'gw/common-wire';
import { fileAddress, textOfAddress } from '../_common/file-types.ts';

/** Throws a 400 for parts that the vendor does not read. Names of speakers are left out. See docs/providers.md#cohere-models. */
export function toMessages(messages: readonly ChatMessage[]): readonly Fields[] {
  const turns = messages
    .map((message, at) => (message.role === 'tool' ? toolResult(message, at) : toMessage(message, at)))
    .filter(saysSomething);
  if (turns.length === 0) throw invalidRequest('messages: cohere needs a turn that says something');
  return turns;
}

/** The vendor refuses turns without content, but for those that call tools. */
const saysSomething = ({ content, tool_calls: calls }: Fields): boolean => content !== undefined || calls !== undefined;

function toMessage(message: ChatMessage, at: number): Fields {
  const role = message.role === 'developer' ? 'system' : message.role;
  const calls = (message.tool_calls ?? []).map(toCall);
  return withoutAbsent({
    role,
    content: contentOf(message, at) ?? refusalOf(message),
    // What the model thought before it called tools is the only thinking of earlier turns that it reads again.
    tool_plan: calls.length > 0 ? message.reasoning_content || undefined : undefined,
    tool_calls: calls.length > 0 ? calls : undefined,
    tool_call_id: message.tool_call_id,
  });
}

function toCall({ id, type, function: target }: ToolCall): Fields {
  return withoutAbsent({ id, type: type ?? 'function', function: { ...target, arguments: target?.arguments || '{}' } });
}

/** A document, so that the model can cite it. */
function toolResult(message: ChatMessage, at: number): Fields {
  partsOf(message).forEach((part, place) => {
    if (part.type !== 'text') throw refused(part, at, place, 'a tool result');
  });
  const data = [...contentTexts(message)].join('');
  return withoutAbsent({
    role: 'tool',
    content: [{ type: 'document', document: { data } }],
    tool_call_id: message.tool_call_id,
  });
}

/** Absent when there is nothing in it: a turn of tool calls must not say an empty text. */
function contentOf(message: ChatMessage, at: number): string | readonly Fields[] | undefined {
  if (!Array.isArray(message.content))
    return typeof message.content === 'string' && message.content !== '' ? message.content : undefined;
  const blocks = partsOf(message).flatMap((part, place) => {
    if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    if (part.type === 'refusal') return part.refusal === '' ? [] : [{ type: 'text', text: part.refusal }];
    if (part.type === 'file' && message.role === 'user') return []; // a document of the request
    if (part.type !== 'image_url' || message.role !== 'user')
      throw refused(part, at, place, `a message of the ${message.role}`);
    return [toImage(part, at, place)];
  });
  return blocks.length > 0 ? blocks : fileNames(message);
}

/** An earlier answer that was nothing but a refusal. */
const refusalOf = ({ role, refusal }: ChatMessage): string | undefined =>
  role === 'assistant' && typeof refusal === 'string' && refusal !== '' ? refusal : undefined;

/** What stands in a turn of nothing but files, which are documents of the request. */
function fileNames(message: ChatMessage): string | undefined {
  const files = partsOf(message)
    .filter(({ type }) => type === 'file')
    .map(({ file }) => (isFields(file) && isGiven(file['filename']) ? String(file['filename']) : 'document'));
  return files.length > 0 ? files.join(', ') : undefined;
}

/** Files of the user's turns, as documents that the model reads and cites: texts and JSON alone. Source: Cohere API reference, "Chat" v2, 2026-11-22. */
export function documentsOf(messages: readonly ChatMessage[]): readonly Fields[] {
  return messages.flatMap((message, at) =>
    (message.role === 'user' ? partsOf(message) : []).flatMap((part, place) =>
      part.type === 'file' ? [toDocument(part['file'], `messages[${at}].content[${place}]`)] : [],
    ),
  );
}

function toDocument(file: unknown, at: string): Fields {
  const { file_data: data, filename: title } = isFields(file) ? file : {};
  const text = typeof data === 'string' && data !== '' ? textOfAddress(fileAddress(data, title, at)) : undefined;
  if (text === undefined) throw invalidRequest(`${at}: cohere takes files of text and JSON by their file_data`);
  return { data: withoutAbsent({ text, title }) };
}

function toImage(
  { image_url: image }: ContentPart & { readonly type: 'image_url' },
  at: number,
  place: number,
): Fields {
  if (!isFields(image) || !isGiven(image.url))
    throw invalidRequest(`messages[${at}].content[${place}]: image_url holds no url`);
  return { type: 'image_url', image_url: withoutAbsent({ url: image.url, detail: image.detail }) };
}

function partsOf({ content }: ChatMessage): readonly ContentPart[] {
  return Array.isArray(content) ? (content as readonly ContentPart[]) : [];
}

function refused({ type }: ContentPart, at: number, place: number, where: string): Error {
  return invalidRequest(`messages[${at}].content[${place}]: this provider reads no "${type}" in ${where}`);
}
