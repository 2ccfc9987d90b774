import { hash } from 'node:crypto';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { type ChatMessage, type ChatRequest, type Fields, isFields, isText } from '../../../host/contract/index.ts';
import { textOf } from '../adapt.ts';
import { partSpot } from '../marks.ts';
import { Notes } from '../notes.ts';
import { WORDS } from '../words.ts';
import { readConversation } from './conversation.ts';
import { readEffort } from './effort.ts';
import { readMark } from './mark.ts';
import { systemMessage } from './system.ts';
import { readTools } from './tools.ts';

type Body = Readonly<Fields>;

/** What the common format makes of a body. */
export interface ReadMessages {
  readonly request: ChatRequest;
  readonly notes: Notes;
}

/** The first version of the API; its rules hold for what says nothing else. */
const FIRST_VERSION = '2023-06-01';

/** Members that are read here; every other one is lost, or refused. See docs/reference/ingress.md#messages-the-request. */
const READ: ReadonlySet<string> = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'stream',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'metadata',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'service_tier',
  'cache_control',
]);
/** What only the vendor holds: state, or credentials of its own. */
const VENDOR_STATE: ReadonlySet<string> = new Set([
  'container',
  'mcp_servers',
  'thread',
  'user_profile_id',
  'workspace_id',
  'fallback_credit_token',
]);
/** Refused by newer versions, whatever their value. See docs/reference/ingress.md#newer-versions-of-messages. */
const OLD_SAMPLING = ['temperature', 'top_p', 'top_k'] as const;

/** Checks what any target needs, whatever it speaks. Throws. */
export function checkMessages({ model, messages, max_tokens: maxTokens, stream }: Body, isCounting: boolean): void {
  if (!isText(model)) throw invalidRequest('model is required, and must be a string');
  if (!Array.isArray(messages)) throw invalidRequest('messages is required, and must be a list');
  if (isCounting) return;
  if (maxTokens === undefined || maxTokens === null) throw invalidRequest('max_tokens is required');
  if (typeof maxTokens !== 'number' || maxTokens < 1) throw invalidRequest('max_tokens must be a number of at least 1');
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean')
    throw invalidRequest('stream must be true or false');
}

/** A checked body in the common format, with what does not fit into that. Changes nothing in it. */
export function readMessages(body: Body, version: string | undefined, isCounting = false): ReadMessages {
  const notes = new Notes();
  const isNew = version !== undefined && version !== '' && version !== FIRST_VERSION;
  const turns = body['messages'] as readonly unknown[];
  if (turns.length === 0) notes.refuse('messages must hold at least one message');
  if (isNew)
    for (const name of OLD_SAMPLING)
      if (name in body) notes.refuse(`${name} is not supported by this anthropic-version`);
  if (isNew) refuseAssistantDocuments(turns, notes);
  const system = systemMessage(body['system'], 'system', notes);
  const said = readConversation(turns, { isStrict: isNew, isCounting }, notes);
  if (turns.length > 0 && said.length === 0) notes.refuse('messages hold no content');
  const messages = withFirstSystem(system, said);
  const effort = readEffort(body, notes);
  const request: ChatRequest = {
    model: String(body['model']),
    messages: withOwnMark(messages, body, notes),
    ...sizeOf(body, notes),
    ...samplingOf(body, notes),
    ...stopOf(body, notes),
    ...readTools(body, notes),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...formatOf(body, notes),
    ...userOf(body, notes),
    ...tierOf(body, notes),
    ...(body['stream'] === true && { stream: true }),
  };
  noteOthers(body, notes);
  return { request, notes };
}

function refuseAssistantDocuments(turns: readonly unknown[], notes: Notes): void {
  for (const [at, turn] of turns.entries()) {
    if (!isFields(turn) || turn['role'] !== 'assistant' || !Array.isArray(turn['content'])) continue;
    const place = turn['content'].findIndex((block) => isFields(block) && block['type'] === 'document');
    if (place >= 0)
      notes.refuse(
        `messages[${at}].content[${place}]: a document in an assistant message is not supported by this anthropic-version`,
      );
  }
}

/** Instructions at the start are one message. */
function withFirstSystem(system: ChatMessage | undefined, messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const end = messages.findIndex(({ role }) => role !== 'system');
  const first = [...(system ? [system] : []), ...messages.slice(0, end < 0 ? messages.length : end)];
  if (first.length < 2) return system ? [system, ...messages] : messages;
  const isPlain = first.every(({ content }) => typeof content === 'string');
  const content = isPlain
    ? first.map((message) => textOf(message.content)).join('\n')
    : first.flatMap((message) =>
        typeof message.content === 'string'
          ? [{ type: 'text' as const, text: message.content }]
          : (message.content ?? []),
      );
  return [{ role: 'system', content }, ...messages.slice(first.length - (system ? 1 : 0))];
}

/** A mark of the whole body stands on the last part of the last message. */
function withOwnMark(messages: readonly ChatMessage[], body: Body, notes: Notes): readonly ChatMessage[] {
  const mark = readMark(body, '', notes);
  const last = messages.at(-1);
  if (!last || !mark) return messages;
  const parts =
    typeof last.content === 'string' ? [{ type: 'text' as const, text: last.content }] : (last.content ?? []);
  const end = parts.at(-1);
  notes.history.mark('cache_control', end ? partSpot(end) : { kind: 'nowhere' });
  if (!end || end['cache_control'] !== undefined) return messages;
  return [...messages.slice(0, -1), { ...last, content: [...parts.slice(0, -1), { ...end, cache_control: mark }] }];
}

function sizeOf({ max_tokens: maxTokens }: Body, notes: Notes): { max_tokens?: number } {
  if (typeof maxTokens !== 'number') return {};
  if (!Number.isInteger(maxTokens)) notes.refuse('max_tokens must be an integer');
  return { max_tokens: Math.max(1, Math.floor(maxTokens)) };
}

function samplingOf(body: Body, notes: Notes): Pick<ChatRequest, 'temperature' | 'top_p'> & { top_k?: number } {
  const within = (name: 'temperature' | 'top_p'): number | undefined => {
    const value = body[name] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value === 'number' && value >= 0 && value <= 1) return value;
    notes.refuse(`${name} must be a number between 0 and 1`);
    return undefined;
  };
  const topK = body['top_k'] ?? undefined;
  const isTopK = typeof topK === 'number' && Number.isInteger(topK) && topK >= 0;
  if (topK !== undefined && !isTopK) notes.refuse('top_k must be an integer of at least 0');
  const temperature = within('temperature');
  const topP = within('top_p');
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(isTopK && { top_k: topK }),
  };
}

/** Sequences of white space only are refused by vendors. */
function stopOf({ stop_sequences: sequences }: Body, notes: Notes): { stop?: readonly string[] } {
  if (sequences === undefined || sequences === null) return {};
  if (!Array.isArray(sequences) || !sequences.every((item) => typeof item === 'string')) {
    notes.refuse('stop_sequences must be a list of strings');
    return {};
  }
  for (const [at, sequence] of sequences.entries()) if (sequence.trim() === '') notes.lose(`stop_sequences[${at}]`);
  const stop = sequences.filter((sequence) => sequence.trim() !== '');
  return stop.length > 0 ? { stop } : {};
}

const OUTPUT_MEMBERS: ReadonlySet<string> = new Set(['effort', 'format']);

function formatOf(
  { output_config: config, output_format: old }: Body,
  notes: Notes,
): Pick<ChatRequest, 'response_format'> {
  if (config !== undefined && config !== null && !isFields(config)) notes.refuse('output_config must be an object');
  for (const name of isFields(config) ? Object.keys(config) : [])
    if (!OUTPUT_MEMBERS.has(name)) notes.lose(`output_config.${name}`);
  const own = isFields(config) ? (config['format'] ?? undefined) : undefined;
  const format = own ?? old ?? undefined;
  if (format === undefined) return {};
  if (isFields(format) && format['type'] === 'json_schema' && isFields(format['schema']))
    return { response_format: { type: 'json_schema', json_schema: { name: 'response', schema: format['schema'] } } };
  notes.refuse(`${own === undefined ? 'output_format' : 'output_config.format'} must be a json_schema with a schema`);
  return {};
}

/** Clients put ids of devices and accounts there, and other vendors take 64 characters. */
function userOf({ metadata }: Body, notes: Notes): { user?: string } {
  if (metadata === undefined || metadata === null) return {};
  if (!isFields(metadata)) {
    notes.refuse('metadata must be an object');
    return {};
  }
  const id = metadata['user_id'];
  if (id !== undefined && id !== null && typeof id !== 'string') notes.refuse('metadata.user_id must be a string');
  return isText(id) ? { user: hash('sha256', id) } : {};
}

function tierOf({ service_tier: asked }: Body, notes: Notes): { service_tier?: string } {
  const tier = notes.word(asked, WORDS.messages.service_tier, 'service_tier');
  return tier === undefined ? {} : { service_tier: tier === 'auto' ? 'auto' : 'default' };
}

function noteOthers(body: Body, notes: Notes): void {
  for (const [name, value] of Object.entries(body)) {
    if (READ.has(name) || value === null || value === undefined) continue;
    if (!VENDOR_STATE.has(name)) notes.lose(name);
    else if (!isEmpty(value)) notes.refuse(`${name} needs what only the vendor of this wire holds`);
  }
}

const isEmpty = (value: unknown): boolean =>
  value === '' || (Array.isArray(value) && value.length === 0) || (isFields(value) && Object.keys(value).length === 0);
