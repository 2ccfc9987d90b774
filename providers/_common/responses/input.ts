import {
  type CallInfo,
  type ChatMessage,
  type ContentPart,
  GatewayError,
  isText,
  quoted,
  type ToolCall,
} from 'gw/contract';
import { addAll, type Fields, isFields, isGiven } from '../fields.ts';
import type { Notes } from '../notes.ts';
import { carriedState, textItems } from './state.ts';
import { BLANK_LINE } from './wire.ts';

/** What reading a conversation needs, and what it leaves behind. */
interface Reading {
  readonly call: CallInfo;
  readonly notes: Notes;
  /** Ids of calls of custom tools: their results are items of another type. */
  readonly customCalls: Set<string>;
}

/** The conversation as items, without ids: nothing is stored that they could name. Throws a 400 for what this API cannot be sent. */
export function toInput(messages: readonly ChatMessage[], call: CallInfo, notes: Notes): Fields[] {
  const reading: Reading = { call, notes, customCalls: new Set() };
  const items: Fields[] = [];
  messages.forEach((message, at) => {
    const path = `messages[${at}]`;
    if (message.role !== 'tool' && isGiven(message.name)) notes.ignored.push(`${path}.name`);
    addAll(items, itemsOf(message, path, reading));
  });
  return items;
}

function itemsOf(message: ChatMessage, path: string, reading: Reading): readonly Fields[] {
  switch (message.role) {
    case 'system':
    case 'developer':
      return [{ role: systemRole(reading.call), content: partsOf(message, path, TEXT_ALONE) }];
    case 'user':
      return [{ role: 'user', content: partsOf(message, path) }];
    case 'assistant':
      return assistantItems(message, path, reading);
    case 'tool':
      return [resultItem(message, path, reading)];
    default:
      throw notCarried(`${path}.role`, `knows no turns of the role ${quoted(message.role)}`);
  }
}

const systemRole = ({ facts }: CallInfo): string => (facts?.system_role === 'developer' ? 'developer' : 'system');

function notCarried(path: string, why: string): GatewayError {
  return new GatewayError('unsupported_parameter', `${path}: the Responses API ${why}`);
}

const TEXT_ALONE: ReadonlySet<string> = new Set(['text', 'refusal']);

function partsOf({ content }: ChatMessage, path: string, known?: ReadonlySet<string>): Fields[] {
  if (!Array.isArray(content)) return [{ type: 'input_text', text: typeof content === 'string' ? content : '' }];
  return content.map((part: ContentPart, at) => inputPart(part, `${path}.content[${at}]`, known));
}

function inputPart(part: ContentPart, path: string, known?: ReadonlySet<string>): Fields {
  const made = known && !known.has(part.type) ? undefined : madePart(part);
  if (!made) throw notCarried(path, `takes no part of the type ${quoted(part.type)} here`);
  const { prompt_cache_breakpoint: end } = part as Fields;
  return isGiven(end) ? { ...made, prompt_cache_breakpoint: end } : made;
}

function madePart(part: ContentPart): Fields | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'refusal':
      return { type: 'input_text', text: part.refusal };
    case 'image_url':
      return imagePart(part['image_url']);
    case 'file':
      return filePart(isFields(part.file) ? part.file : {});
    default:
      return undefined;
  }
}

function imagePart(image: unknown): Fields {
  const { url, detail } = isFields(image) ? image : { url: image, detail: undefined };
  return { type: 'input_image', image_url: url, detail: isText(detail) ? detail : 'auto' };
}

/** A file by its id, by its address, or as data. Source: openai 7.57 (npm), `ResponseInputFile`, 2026-11-26. */
function filePart({ file_id: id, file_data: data, filename }: Fields): Fields {
  if (isText(id)) return { type: 'input_file', file_id: id };
  if (isText(data) && /^https?:/i.test(data)) return { type: 'input_file', file_url: data };
  return { type: 'input_file', file_data: data, filename: isText(filename) ? filename : 'file' };
}

/** An earlier answer: its thoughts before what they belong to, its texts before its calls. */
function assistantItems(message: ChatMessage, path: string, reading: Reading): Fields[] {
  const { notes, call } = reading;
  if (isGiven(message['function_call'])) notes.ignored.push(`${path}.function_call`);
  const carried = carriedState(message, call);
  const items = [...carried.first, ...textItems(textOf(message, path), carried)];
  for (const toolCall of message.tool_calls ?? []) {
    const id = toolCall.id ?? '';
    addAll(items, carried.ofCalls.get(id) ?? []);
    carried.ofCalls.delete(id); // calls may share an id: what stands in front of one is sent once
    items.push(callItem(toolCall, reading));
  }
  return items;
}

function textOf({ content, refusal }: ChatMessage, path: string): string {
  const texts = Array.isArray(content)
    ? content.map((part: ContentPart, at) => wordsOf(part, `${path}.content[${at}]`))
    : [typeof content === 'string' ? content : ''];
  return [...texts, isText(refusal) ? refusal : ''].filter((text) => text !== '').join(BLANK_LINE);
}

function wordsOf(part: ContentPart, path: string): string {
  if (part.type === 'text') return part.text;
  if (part.type === 'refusal') return part.refusal;
  throw notCarried(path, `takes no part of the type ${quoted(part.type)} in an answer`);
}

function callItem({ id, type, function: called, custom }: ToolCall, { customCalls }: Reading): Fields {
  const callId = id ?? '';
  if (type === 'custom' && isFields(custom)) {
    customCalls.add(callId);
    return { type: 'custom_tool_call', call_id: callId, name: custom['name'], input: custom['input'] ?? '' };
  }
  const text = called?.arguments;
  return { type: 'function_call', call_id: callId, name: called?.name, arguments: isText(text) ? text : '{}' };
}

function resultItem(message: ChatMessage, path: string, { customCalls }: Reading): Fields {
  const { content, tool_call_id: id } = message;
  const output = Array.isArray(content) && content.length > 0 ? partsOf(message, path) : textOrNothing(content);
  return {
    type: customCalls.has(id ?? '') ? 'custom_tool_call_output' : 'function_call_output',
    call_id: id ?? '',
    output,
  };
}

const textOrNothing = (content: unknown): string => (typeof content === 'string' ? content : '');
