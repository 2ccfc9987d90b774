import { fieldsIn } from '../_common/fields.ts';
import { wholeText } from '../_common/conversation.ts';
import { type ChatMessage, type ContentPart, type ToolCall, tryParseJson } from 'gw/contract';
import { type Fields, invalidRequest, isFields } from 'gw/common-wire';
import { textParts, toParts } from './parts.ts';
import type { ToolNames } from './tool-names.ts';
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

const ROLES: ReadonlyMap<string, string> = new Map([
  ['assistant', 'model'],
  ['tool', 'user'],
]);
const SYSTEM = new Set(['system', 'developer']);

/**
 * The conversation in the vendor's form: system texts apart, empty texts and turns left out, turns of one role merged, so that
 * the results of a turn's calls share one. `signsCalls` is whether the model refuses calls without a signature. Throws a 400
 * that names what this form has no place for. See docs/providers.md#gemini-models. Source: what the service answers to others, "contents.parts must
 * not be empty", "required oneof field 'data' must have one initialized field", "function call turn comes immediately after
 * a user turn", 2026-11-22.
 */
export function toConversation(
  messages: readonly ChatMessage[],
  signsCalls: boolean,
  names: ToolNames,
): NativeConversation {
  const system: string[] = [];
  const turns: { role: string; parts: Fields[] }[] = [];
  const called = new CalledNames(names);
  messages.forEach((message, index) => {
    if (SYSTEM.has(message.role)) {
      system.push(systemText(message, index));
      return;
    }
    const role = ROLES.get(message.role) ?? message.role;
    const last = turns.at(-1);
    const parts = partsOf(message, index, called, signsCalls);
    if (last?.role === role) for (const part of parts) last.parts.push(part);
    else if (parts.length > 0) turns.push({ role, parts: [...parts] });
  });
  return withUser(system.filter((text) => text !== '').join('\n'), turns);
}

/** The vendor refuses a conversation without a text of the user, and one that begins with a call. */
function withUser(system: string, turns: readonly Turn[]): NativeConversation {
  const [first] = turns;
  if (!first && system === '') throw invalidRequest('messages: gemini needs a turn that says something');
  if (!first) return { system: undefined, contents: [{ role: 'user', parts: [{ text: system }] }] };
  const beginsWithCall = first.role === 'model' && first.parts.some((part) => 'functionCall' in part);
  return { system: system || undefined, contents: beginsWithCall ? [EARLIER, ...turns] : turns };
}

/** Stands for what the caller has cut off. */
const EARLIER: Turn = { role: 'user', parts: [{ text: '…' }] };

function systemText(message: ChatMessage, index: number): string {
  if (Array.isArray(message.content)) {
    message.content.forEach(({ type }: ContentPart, place) => {
      if (type !== 'text')
        throw invalidRequest(
          `messages[${index}].content[${place}]: a ${message.role} message takes text only, not ${type}`,
        );
    });
  }
  return wholeText(message);
}

function partsOf(message: ChatMessage, index: number, called: CalledNames, signsCalls: boolean): readonly Fields[] {
  if (message.role === 'tool') return toolParts(message, index, called);
  if (message.role !== 'assistant') return contentParts(message, index);
  called.note(message.tool_calls ?? []);
  return assistantParts(message, index, signsCalls, called.names);
}

function contentParts({ content }: ChatMessage, index: number): readonly Fields[] {
  if (!Array.isArray(content)) return textParts(content);
  const parts: readonly ContentPart[] = content;
  return parts.flatMap((part, place) => toParts(part, `messages[${index}].content[${place}]`));
}

/** Signed thoughts, what was said, then what was called. */
function assistantParts(message: ChatMessage, index: number, signsCalls: boolean, names: ToolNames): Fields[] {
  const signatures = readSignatures(message);
  const thoughts =
    signatures.thoughts.length > 0
      ? signedParts(message.reasoning_content ?? '', signatures.thoughts, { thought: true })
      : [];
  return [
    ...thoughts.filter((part) => 'thoughtSignature' in part),
    ...saidParts(message, index, signatures),
    ...callParts(message.tool_calls ?? [], { signatures, signsCalls, names }),
  ];
}

function saidParts(message: ChatMessage, index: number, { text }: Signatures): readonly Fields[] {
  const own = contentParts(message, index);
  if (text.length === 0) return own.length > 0 ? own : textParts(message['refusal']);
  return [...signedParts(wholeText(message), text), ...own.filter((part) => !('text' in part))];
}

interface Calling {
  readonly signatures: Signatures;
  readonly signsCalls: boolean;
  readonly names: ToolNames;
}

function callParts(calls: readonly ToolCall[], { signatures, signsCalls, names }: Calling): Fields[] {
  return calls.map((call, place) => {
    const { id, function: called } = call;
    const signature = callSignature(call, signatures) ?? (signsCalls && place === 0 ? FOREIGN_SIGNATURE : undefined);
    return {
      functionCall: {
        ...(id && { id }),
        name: names.toVendor(called?.name ?? ''),
        args: fieldsIn(called?.arguments ?? ''),
      },
      ...(signature !== undefined && { thoughtSignature: signature }),
    };
  });
}

/** The result, and media it holds beside its text. */
function toolParts(message: ChatMessage, index: number, called: CalledNames): Fields[] {
  const { tool_call_id: id, content } = message;
  const parts: readonly ContentPart[] = Array.isArray(content) ? content : [];
  const media = parts.flatMap((part, place) =>
    part.type === 'text' || part.type === 'refusal' ? [] : toParts(part, `messages[${index}].content[${place}]`),
  );
  const functionResponse = {
    ...(id && { id }),
    name: called.of(message),
    response: message['is_error'] === true ? { error: wholeText(message) } : resultOf(wholeText(message)),
  };
  return [{ functionResponse }, ...media];
}

/** The functions that were called, for their results, which must name them. */
class CalledNames {
  /** Names by id, of the turn that called last: ids may return in later turns. Calls that share one are answered in their order. */
  readonly #waiting = new Map<string, { readonly all: readonly string[]; at: number }>();
  readonly names: ToolNames;

  constructor(names: ToolNames) {
    this.names = names;
  }

  note(calls: readonly ToolCall[]): void {
    const byId = Map.groupBy(calls, ({ id }) => id ?? '');
    for (const [id, own] of byId) this.#waiting.set(id, { all: own.map((call) => call.function?.name ?? ''), at: 0 });
  }

  of({ tool_call_id: id, name }: ChatMessage): string {
    const waiting = this.#waiting.get(id ?? '');
    if (!waiting) return this.names.toVendor(name ?? '');
    const next = waiting.all[waiting.at] ?? '';
    if (waiting.at < waiting.all.length - 1) waiting.at += 1;
    return this.names.toVendor(next);
  }
}

/** Results are objects here: any other JSON, and text, is wrapped. */
function resultOf(text: string): Fields {
  const value = tryParseJson(text);
  if (isFields(value)) return value;
  return { result: value === undefined ? text : value };
}
