import { type ChatMessage, type ContentPart, contentTexts, type ToolCall } from 'gw/contract';
import { type Fields, invalidRequest, isFields } from 'gw/common-wire';
import { thinkingBlocks } from '../../_common/anthropic/reasoning.ts';
import type { Traits } from '../models.ts';
import { audioBlock, fileBlock, imageBlock } from './media.ts';

export interface Conversation {
  readonly system: readonly Fields[];
  readonly messages: readonly { readonly role: string; readonly content: readonly Fields[] }[];
}

interface Turn {
  readonly role: string;
  readonly content: Fields[];
}

/**
 * The conversation as Converse and Nova write it: roles take turns, so neighbours of one role share a turn. Throws a 400
 * that names the part a model cannot take. Source: Amazon Bedrock API reference, "Message", 2026-11-21.
 */
export function toConversation(messages: readonly ChatMessage[], traits: Traits): Conversation {
  const system: Fields[] = [];
  const turns: Turn[] = [];
  messages.forEach((message, index) => {
    const place = new Place(index, traits);
    if (message.role === 'system' || message.role === 'developer') system.push(...systemBlocks(message, place));
    else if (message.role === 'tool') addTo(turns, 'user', [resultBlock(message, place)]);
    else addTo(turns, message.role, spokenBlocks(message, place));
  });
  return { system, messages: turns.map(({ role, content }) => ({ role, content: content.length > 0 ? content : [{ text: '' }] })) };
}

/** Where a message stands, and what the model takes. */
class Place {
  readonly index: number;
  readonly traits: Traits;

  constructor(index: number, traits: Traits) {
    this.index = index;
    this.traits = traits;
  }

  at(part: number): string {
    return `messages[${this.index}].content[${part}]`;
  }
}

function addTo(turns: Turn[], role: string, content: Fields[]): void {
  const last = turns.at(-1);
  if (last?.role === role) last.content.push(...content);
  else turns.push({ role, content });
}

function systemBlocks(message: ChatMessage, place: Place): Fields[] {
  const { content, role } = message;
  if (!Array.isArray(content)) return textBlock(content);
  return content.flatMap((part: ContentPart, at) => {
    if (part.type !== 'text') throw invalidRequest(`${place.at(at)}: a ${role} message takes text only, not ${part.type}`);
    return [...textBlock(part.text), ...cachePoint(part, place.traits.caches, place.traits)];
  });
}

/** The service refuses texts without a letter. */
function textBlock(text: unknown): Fields[] {
  return typeof text === 'string' && text.trim() !== '' ? [{ text }] : [];
}

/** What stands before it is kept, where a part or tool is marked so. Source: AWS, "Prompt caching", 2026-11-21. */
export function cachePoint({ cache_control: mark }: Fields, isTaken: boolean, { cachesTools }: Traits): Fields[] {
  if (!isTaken || !isFields(mark)) return [];
  const { ttl } = mark;
  return [{ cachePoint: { type: 'default', ...(cachesTools && typeof ttl === 'string' && { ttl }) } }];
}

function spokenBlocks(message: ChatMessage, place: Place): Fields[] {
  if (message.role !== 'assistant') return partBlocks(message, place);
  return [...thinkingBlocks(message).map(reasoningBlock), ...partBlocks(message, place), ...(message.tool_calls ?? []).map(callBlock)];
}

function reasoningBlock({ type, thinking, signature, data }: Fields): Fields {
  return { reasoningContent: type === 'thinking' ? { reasoningText: { text: thinking, signature } } : { redactedContent: data } };
}

function partBlocks({ content }: ChatMessage, place: Place): Fields[] {
  if (!Array.isArray(content)) return textBlock(content);
  return content.flatMap((part: ContentPart, at) => [...partBlock(part, at, place), ...cachePoint(part, place.traits.caches, place.traits)]);
}

function partBlock(part: ContentPart, at: number, place: Place): Fields[] {
  const { images, documents, audio } = place.traits;
  if (part.type === 'text') return textBlock(part.text);
  if (part.type === 'image_url' && images) return [imageBlock(part.image_url, place.at(at))];
  if (part.type === 'file' && (documents || images)) return [fileBlock(part.file, place.at(at), `${place.index}-${at}`)];
  if (part.type === 'input_audio' && audio) return [audioBlock(part.input_audio, place.at(at))];
  throw invalidRequest(`${place.at(at)}: this model takes no ${part.type} parts`);
}

function callBlock({ id, function: called }: ToolCall): Fields {
  return { toolUse: { toolUseId: toolUseId(id), name: called?.name ?? '', input: inputOf(called?.arguments) } };
}

/** Arguments that are no JSON object become `{}`. Source: providers reference 5.1. */
function inputOf(text: string | null | undefined): Fields {
  try {
    const input: unknown = JSON.parse(text ?? '');
    return isFields(input) ? input : {};
  } catch {
    return {};
  }
}

function resultBlock(message: ChatMessage, place: Place): Fields {
  const parts: readonly ContentPart[] = Array.isArray(message.content) ? message.content : [];
  const hasMedia = parts.some(({ type }) => type !== 'text');
  const content = hasMedia ? parts.flatMap((part, at) => partBlock(part, at, place)) : textBlock([...contentTexts(message)].join(''));
  return { toolResult: { toolUseId: toolUseId(message.tool_call_id), content } };
}

/** Ids of other vendors may hold more than letters, digits, `_` and `-`. Source: Amazon Bedrock API reference, "ToolUseBlock", 2026-11-21. */
function toolUseId(id: string | null | undefined): string {
  return (id ?? '').replace(/[^\w-]/g, '_').slice(0, 64) || 'call';
}

/** Names of tools that earlier turns called: the service wants them declared. */
export function calledTools(messages: readonly ChatMessage[]): string[] {
  return [...new Set(messages.flatMap(({ tool_calls: calls }) => (calls ?? []).flatMap(({ function: called }) => called?.name ?? [])))];
}

export const hasToolTurns = (messages: readonly ChatMessage[]): boolean => messages.some(({ role, tool_calls: calls }) => role === 'tool' || (calls?.length ?? 0) > 0);
