import { Buffer } from 'node:buffer';
import { type CallInfo, type ChatReply, isText, type ToolCall, type UnaryReply, withFacts } from 'gw/contract';
import { addAll, argumentsOf, type Fields, isFields, objectOf } from '../fields.ts';
import { annotationsOf } from './citations.ts';
import { exactJson } from './exact-json.ts';
import { sealedItem, thoughtItem } from './reasoning.ts';
import { ANSWER_TOOL } from './tools.ts';
import { factsOf, readCounts, toUsage } from './usage.ts';
import type { MessagesVariant } from './variant.ts';

/** A whole answer in the common wire. Throws when the body is not a message. See docs/providers.md#claude-models. */
export function readMessage(reply: UnaryReply, call: CallInfo, variant: MessagesVariant): ChatReply {
  const { id, model, usage, role, stop_reason: reason, stop_details: details } = objectOf(reply);
  const blocks = blocksOf(reply);
  const said = { content: contentOf(blocks), ...callsOf(blocks), ...thoughtsOf(blocks), ...citedIn(blocks) };
  const isEmpty = said.content === null && !said.tool_calls && !said.reasoning_details;
  if (isEmpty && typeof reason !== 'string') throw new Error('the answer is empty');
  return {
    ...(typeof id === 'string' && { id }),
    model: variant.isDirect && typeof model === 'string' ? model : call.model,
    choices: [
      {
        index: 0,
        message: {
          role: variant.isDirect && typeof role === 'string' ? role : 'assistant',
          ...said,
          ...refusalIn(details),
        },
        finish_reason: finishOf(reason, blocks.some(isAnswer)),
      },
    ],
    ...(isFields(usage) && { usage: withFacts(toUsage(readCounts(usage)), factsOf(usage)) }),
  };
}

/** The blocks of the message; where it calls tools, with every digit of their input. */
function blocksOf(reply: UnaryReply): Fields[] {
  const { content } = objectOf(reply);
  if (!Array.isArray(content)) throw new Error('the answer holds no content');
  const blocks = content.filter(isFields);
  if (!blocks.some(({ type }) => type === 'tool_use')) return blocks;
  const exact = exactJson(Buffer.from(reply.body).toString('utf8'));
  return isFields(exact) && Array.isArray(exact['content']) ? exact['content'].filter(isFields) : blocks;
}

/** The finish reason for the vendor's stop reason. A structured answer travels as a tool call, but the caller did not ask for one. See docs/reference/ingress.md#why-an-answer-ended. */
export function finishOf(reason: unknown, isStructured: boolean): string | null {
  if (typeof reason !== 'string') return null;
  if (reason === 'compaction' || (reason === 'tool_use' && isStructured)) return 'stop';
  return reason === 'model_context_window_exceeded' ? 'length' : reason;
}

/** Why the model declined, in words for people. Source: types of `@anthropic-ai/sdk` 1.12.0, "RefusalStopDetails", 2026-11-23. */
export function refusalIn(details: unknown): { refusal?: string } {
  return isFields(details) && details['type'] === 'refusal' && isText(details['explanation'])
    ? { refusal: details['explanation'] }
    : {};
}

const isAnswer = ({ type, name }: Fields): boolean => type === 'tool_use' && name === ANSWER_TOOL;

function contentOf(blocks: readonly Fields[]): string | null {
  const content = blocks.map(textOf).join('');
  return content === '' ? null : content;
}

/** What a block adds to the content. */
function textOf(block: Fields): string {
  if (isAnswer(block)) return argumentsOf(block);
  return block['type'] === 'text' && typeof block['text'] === 'string' ? block['text'] : '';
}

function citedIn(blocks: readonly Fields[]): { annotations?: Fields[] } {
  const annotations: Fields[] = [];
  let start = 0;
  for (const block of blocks) {
    const end = start + textOf(block).length;
    if (block['type'] === 'text') addAll(annotations, annotationsOf(block['citations'], { start, end }));
    start = end;
  }
  return annotations.length > 0 ? { annotations } : {};
}

function callsOf(blocks: readonly Fields[]): { tool_calls?: ToolCall[] } {
  const calls = blocks
    .filter((block) => block['type'] === 'tool_use' && !isAnswer(block))
    .map((block): ToolCall => {
      const { id, name } = block;
      return {
        ...(typeof id === 'string' && { id }),
        type: 'function',
        function: { name: typeof name === 'string' ? name : '', arguments: argumentsOf(block) },
      };
    });
  return calls.length > 0 ? { tool_calls: calls } : {};
}

function thoughtsOf(blocks: readonly Fields[]): { reasoning_content?: string; reasoning_details?: unknown[] } {
  const details: Fields[] = [];
  const texts: string[] = [];
  for (const { type, thinking, signature, data } of blocks) {
    if (type === 'redacted_thinking' && isText(data)) details.push(sealedItem(details.length, data));
    if (type !== 'thinking') continue;
    if (isText(thinking)) texts.push(thinking);
    if (isText(thinking) || isText(signature))
      details.push(
        thoughtItem(details.length, {
          ...(isText(thinking) && { text: thinking }),
          ...(isText(signature) && { signature }),
        }),
      );
  }
  return {
    ...(texts.length > 0 && { reasoning_content: texts.join('') }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}
