import type { ChatReply, ReplyMessage, ToolCall, UnaryReply, Usage } from 'gw/contract';
import { countOf, type Fields, isFields, objectOf } from 'gw/common-wire';
import { annotationsOf } from './citations.ts';

/** A whole answer in the common wire. See docs/providers.md#cohere-models. Source: Cohere API reference, "Chat" v2, 2026-11-21. */
export function fromUpstream(reply: UnaryReply): ChatReply {
  const { id, message, finish_reason: finish, usage: given } = objectOf(reply);
  if (!isFields(message)) throw new Error('the answer holds no message');
  const usage = readUsage(given);
  return {
    ...(typeof id === 'string' && { id }),
    choices: [{ index: 0, message: readMessage(message), finish_reason: typeof finish === 'string' ? finish : null }],
    ...(usage && { usage }),
  };
}

/** What the model thinks, and plans before it calls tools, is reasoning. */
function readMessage({ role, content, tool_plan: plan, tool_calls: calls, citations }: Fields): ReplyMessage {
  const blocks = (Array.isArray(content) ? content : []).filter(isFields);
  const text = typeof content === 'string' ? content : textsOf(blocks, 'text');
  const reasoning = textsOf(blocks, 'thinking') + textOf(plan);
  const toolCalls = (Array.isArray(calls) ? calls : []).filter(isFields).map(readCall);
  const annotations = annotationsOf(
    Array.isArray(citations) ? citations : [],
    (at) => textsOf(blocks.slice(0, at), 'text').length,
  );
  return {
    role: typeof role === 'string' ? role : 'assistant',
    content: text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    ...(annotations.length > 0 && { annotations }),
  };
}

/** Texts of the blocks of a kind; each holds its text under the kind's own name. */
function textsOf(blocks: readonly Fields[], kind: string): string {
  return blocks.map((block) => (block['type'] === kind ? textOf(block[kind]) : '')).join('');
}

function readCall(call: Fields): ToolCall {
  const { id, type, function: given } = call;
  const target = isFields(given) ? given : {};
  return {
    ...(typeof id === 'string' && { id }),
    type: typeof type === 'string' ? type : 'function',
    function: {
      ...(typeof target['name'] === 'string' && { name: target['name'] }),
      arguments: wholeArguments(argumentsText(target['arguments'])),
    },
  };
}

/** Tools without parameters are called with nothing, or with the word `null`. Source: @ai-sdk/cohere 3.0.63, doGenerate, 2026-11-22. */
const wholeArguments = (text: string): string => (text.trim() === '' || text.trim() === 'null' ? '{}' : text);

/** Arguments as JSON text, also where they come as the object itself. */
export function argumentsText(value: unknown): string {
  return isFields(value) ? JSON.stringify(value) : textOf(value);
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Tokens as they were processed, not as they are billed; `undefined` when none were counted. Cached ones are part of the prompt. */
export function readUsage(value: unknown): Usage | undefined {
  if (!isFields(value) || !isFields(value['tokens'])) return undefined;
  const [prompt, completion] = [countOf(value['tokens']['input_tokens']), countOf(value['tokens']['output_tokens'])];
  if (prompt + completion === 0) return undefined;
  const cached = Math.min(countOf(value['cached_tokens']), prompt);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached > 0 && { cache_read_tokens: cached }),
  };
}
