import { type ChatMessage, type ContentPart, contentTexts, type ToolCall } from 'gw/contract';
import { type Fields, invalidRequest, isFields } from '../fields.ts';
import { exactJson } from './exact-json.ts';
import { fileBlock, imageBlock } from './media.ts';
import { thinkingBlocks } from './reasoning.ts';
import type { MessagesVariant } from './variant.ts';

export interface NativeConversation {
  /** Absent when nothing is in it. */
  readonly system: string | readonly Fields[] | undefined;
  readonly messages: readonly Fields[];
  /** A tool's result follows an assistant's turn without thinking. */
  readonly lacksThinking: boolean;
}

interface Turn {
  readonly role: string;
  content: string | Fields[];
  /** Came from one message of the role, not from a tool's result. */
  readonly isSpoken: boolean;
}

/** The conversation in the vendor's form. Throws a 400 that names what cannot be said in it. Source: providers reference 5.1. */
export function toConversation(messages: readonly ChatMessage[], variant: MessagesVariant): NativeConversation {
  const system: ChatMessage[] = [];
  const turns: Turn[] = [];
  messages.forEach((message, index) => {
    const at = `messages[${index}]`;
    if (message.role === 'system' || message.role === 'developer') {
      refuseMedia(message, at);
      system.push(message);
    } else if (message.role === 'tool') addResult(turns, resultBlock(message, at, variant));
    else addTurn(turns, { role: message.role, content: contentOf(message, at, variant), isSpoken: true });
  });
  return { system: systemOf(system), messages: turns.map(({ role, content }) => ({ role, content })), lacksThinking: lacksThinking(turns) };
}

function refuseMedia({ content, role }: ChatMessage, at: string): void {
  if (!Array.isArray(content)) return;
  content.forEach((part: ContentPart, place) => {
    if (part.type !== 'text') throw invalidRequest(`${at}.content[${place}]: a ${role} message takes text only, not ${part.type}`);
  });
}

/** One text; blocks where some part marks a cache. */
function systemOf(messages: readonly ChatMessage[]): string | readonly Fields[] | undefined {
  const isMarked = messages.some(({ content }) => Array.isArray(content) && content.some((part: Fields) => isFields(part['cache_control'])));
  if (!isMarked) return messages.map(textOf).filter((text) => text !== '').join('\n') || undefined;
  return messages.flatMap(({ content }) => (typeof content === 'string' ? textBlocks(content) : (content ?? []).flatMap((part) => textBlocks(part['text'], part))));
}

const textOf = (message: ChatMessage): string => [...contentTexts(message)].join('');

/** The vendor refuses text blocks that say nothing. */
function textBlocks(text: unknown, marked: Fields = {}): Fields[] {
  return typeof text === 'string' && text.trim() !== '' ? [{ type: 'text', text, ...cacheMark(marked) }] : [];
}

function cacheMark({ cache_control: mark }: Fields): Fields {
  return isFields(mark) ? { cache_control: mark } : {};
}

function contentOf(message: ChatMessage, at: string, variant: MessagesVariant): string | Fields[] {
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  const thinking = message.role === 'assistant' ? thinkingBlocks(message) : [];
  const isPlain = !Array.isArray(message.content) && calls.length === 0 && thinking.length === 0;
  if (isPlain) return textOf(message);
  const blocks = [...thinking, ...partBlocks(message, at, variant), ...calls.map((call, place) => callBlock(call, `${at}.tool_calls[${place}]`, variant))];
  return blocks.length > 0 ? blocks : textOf(message);
}

function partBlocks({ content }: ChatMessage, at: string, variant: MessagesVariant): Fields[] {
  if (!Array.isArray(content)) return textBlocks(content);
  return content.flatMap((part: ContentPart, place) => partBlock(part, `${at}.content[${place}]`, variant));
}

function partBlock(part: ContentPart, at: string, variant: MessagesVariant): Fields[] {
  switch (part.type) {
    case 'text': return textBlocks(part.text, part);
    case 'image_url': return [{ ...imageBlock(part.image_url, at, variant), ...cacheMark(part) }];
    case 'file': return [{ ...fileBlock(part.file, at, variant), ...cacheMark(part) }];
    default: throw invalidRequest(`${at}: ${variant.label} takes no ${part.type} parts`);
  }
}

function callBlock({ id, function: called }: ToolCall, at: string, variant: MessagesVariant): Fields {
  return { type: 'tool_use', id, name: called?.name, input: inputOf(called?.arguments, at, variant) };
}

function inputOf(text: string | null | undefined, at: string, { label, repairsArguments }: MessagesVariant): Fields {
  if (text === undefined || text === null || text.trim() === '') return {};
  const input = exactJson(text);
  if (isFields(input)) return input;
  if (repairsArguments) return {};
  throw invalidRequest(`${at}.function.arguments must be a JSON object for ${label}`);
}

/** Plain text; blocks where it holds more than text. A cache mark of a part covers the whole result. */
function resultBlock(message: ChatMessage, at: string, variant: MessagesVariant): Fields {
  const parts: readonly ContentPart[] = Array.isArray(message.content) ? message.content : [];
  const hasMedia = parts.some(({ type }) => type !== 'text');
  const marked = parts.findLast((part) => isFields(part.cache_control));
  const content = hasMedia ? parts.flatMap((part, place) => unmarked(partBlock(part, `${at}.content[${place}]`, variant))) : textOf(message);
  return { type: 'tool_result', tool_use_id: message.tool_call_id ?? '', content, ...(marked && cacheMark(marked)) };
}

const unmarked = (blocks: readonly Fields[]): Fields[] => blocks.map(({ cache_control: _mark, ...block }) => block);

/** Results of parallel calls share one turn. */
function addResult(turns: Turn[], block: Fields): void {
  const last = turns.at(-1);
  if (last?.role === 'user' && Array.isArray(last.content)) last.content.push(block);
  else turns.push({ role: 'user', content: [block], isSpoken: false });
}

/** The caller's turns that follow each other become one. */
function addTurn(turns: Turn[], turn: Turn): void {
  const last = turns.at(-1);
  if (turn.role === 'user' && last?.role === 'user' && last.isSpoken) last.content = [...blocksOf(last.content), ...blocksOf(turn.content)];
  else turns.push(turn);
}

const blocksOf = (content: string | readonly Fields[]): readonly Fields[] => (typeof content === 'string' ? textBlocks(content) : content);

/** Whether the turn that called the tools, whose results come last, begins without thinking. Source: platform.claude.com, "Extended thinking", 2026-11-21. */
function lacksThinking(turns: readonly Turn[]): boolean {
  const [caller, results] = turns.slice(-2);
  if (caller?.role !== 'assistant' || !Array.isArray(results?.content) || !results.content.some(({ type }) => type === 'tool_result')) return false;
  const [first] = caller.content;
  return !isFields(first) || !String(first['type']).endsWith('thinking');
}
