import { type ChatMessage, type ContentPart, contentTexts, type ToolCall } from 'gw/contract';
import { type Fields, invalidRequest, isFields } from 'gw/common-wire';
import { toParts } from './parts.ts';
import { callSignature, FOREIGN_SIGNATURE, readSignatures, type Signatures, signedParts } from './signatures.ts';

export interface NativeConversation {
  /** Absent when nothing is in it. */
  readonly system: string | undefined;
  readonly contents: readonly Turn[];
}

interface Turn {
  readonly role: string;
  readonly parts: readonly Fields[];
}

const ROLES: ReadonlyMap<string, string> = new Map([['assistant', 'model'], ['tool', 'user']]);
const SYSTEM = new Set(['system', 'developer']);

/**
 * The conversation in the vendor's form: system texts apart, turns of one role merged. `signsCalls` is whether the model
 * refuses calls without a signature. Throws a 400 that names what cannot be said. Source: providers reference 5.2.
 */
export function toConversation(messages: readonly ChatMessage[], signsCalls: boolean): NativeConversation {
  const system: string[] = [];
  const turns: { role: string; parts: Fields[] }[] = [];
  messages.forEach((message, index) => {
    if (SYSTEM.has(message.role)) {
      system.push(systemText(message, index));
      return;
    }
    const role = ROLES.get(message.role) ?? message.role;
    const last = turns.at(-1);
    const parts = partsOf(messages, index, signsCalls);
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts });
  });
  if (turns.length === 0) turns.push({ role: 'user', parts: [] }); // the vendor takes no conversation without a turn
  const contents = turns.map(({ role, parts }) => ({ role, parts: parts.length > 0 ? parts : [{ text: '' }] }));
  return { system: system.filter((text) => text !== '').join('\n') || undefined, contents };
}

function systemText(message: ChatMessage, index: number): string {
  if (Array.isArray(message.content)) {
    message.content.forEach(({ type }: ContentPart, place) => {
      if (type !== 'text') throw invalidRequest(`messages[${index}].content[${place}]: a ${message.role} message takes text only, not ${type}`);
    });
  }
  return textOf(message);
}

const textOf = (message: ChatMessage): string => [...contentTexts(message)].join('');

function partsOf(messages: readonly ChatMessage[], index: number, signsCalls: boolean): Fields[] {
  const message = messages[index] as ChatMessage;
  if (message.role === 'tool') return toolParts(messages, message, index);
  if (message.role === 'assistant') return assistantParts(message, index, signsCalls);
  return contentParts(message, index);
}

function contentParts({ content }: ChatMessage, index: number): Fields[] {
  if (!Array.isArray(content)) return typeof content === 'string' && content !== '' ? [{ text: content }] : [];
  const parts: readonly ContentPart[] = content;
  return parts.flatMap((part, place) => toParts(part, `messages[${index}].content[${place}]`));
}

/** Signed thoughts, what was said, then what was called. */
function assistantParts(message: ChatMessage, index: number, signsCalls: boolean): Fields[] {
  const signatures = readSignatures(message);
  const thoughts = signatures.thoughts.length > 0 ? signedParts(message.reasoning_content ?? '', signatures.thoughts, { thought: true }) : [];
  return [...thoughts.filter((part) => 'thoughtSignature' in part), ...saidParts(message, index, signatures), ...callParts(message.tool_calls ?? [], signatures, signsCalls)];
}

function saidParts(message: ChatMessage, index: number, { text }: Signatures): Fields[] {
  if (text.length === 0) return contentParts(message, index);
  const media = Array.isArray(message.content) ? contentParts({ ...message, content: message.content.map((part: ContentPart) => (part.type === 'text' ? { ...part, text: '' } : part)) }, index) : [];
  return [...signedParts(textOf(message), text), ...media];
}

function callParts(calls: readonly ToolCall[], signatures: Signatures, signsCalls: boolean): Fields[] {
  return calls.map((call, place) => {
    const { id, function: called } = call;
    const signature = callSignature(call, signatures) ?? (signsCalls && place === 0 ? FOREIGN_SIGNATURE : undefined);
    return {
      functionCall: { ...(id && { id }), name: called?.name ?? '', args: argumentsOf(called?.arguments) },
      ...(signature !== undefined && { thoughtSignature: signature }),
    };
  });
}

function argumentsOf(text: string | null | undefined): Fields {
  const value = text ? parsed(text) : undefined;
  return isFields(value) ? value : {};
}

/** `undefined` for what is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The result, and media it holds beside its text. */
function toolParts(messages: readonly ChatMessage[], message: ChatMessage, index: number): Fields[] {
  const { tool_call_id: id, content } = message;
  const parts: readonly ContentPart[] = Array.isArray(content) ? content : [];
  const media = parts.flatMap((part, place) => (part.type === 'text' ? [] : toParts(part, `messages[${index}].content[${place}]`)));
  const functionResponse = { ...(id && { id }), name: calledName(messages.slice(0, index), message), response: resultOf(textOf(message)) };
  return [{ functionResponse }, ...media];
}

/** The name of the call that a result answers: the nearest before it, as ids may return in later turns. */
function calledName(before: readonly ChatMessage[], { tool_call_id: id, name }: ChatMessage): string {
  const calls = before.flatMap(({ role, tool_calls }) => (role === 'assistant' ? (tool_calls ?? []) : []));
  return calls.findLast((call) => call.id !== undefined && call.id === id)?.function?.name ?? name ?? '';
}

/** Results are objects here: any other JSON, and text, is wrapped. */
function resultOf(text: string): Fields {
  const value = parsed(text);
  if (isFields(value)) return value;
  return { result: value === undefined ? text : value };
}
