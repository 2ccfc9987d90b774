import { argumentsOf } from '../../_common/fields.ts';
import { Buffer } from 'node:buffer';
import {
  type CallInfo,
  type ChatReply,
  isText,
  plainCallName,
  type ToolCall,
  type UnaryReply,
  type Usage,
  type UsageFacts,
  withFacts,
} from 'gw/contract';
import { countOf, type Fields, isFields } from 'gw/common-wire';
import { exactJson } from '../../_common/anthropic/exact-json.ts';
import { sealedItem, thoughtItem } from '../../_common/anthropic/reasoning.ts';
import { ANSWER_TOOL } from '../../_common/anthropic/tools.ts';
import { toUsage } from '../../_common/anthropic/usage.ts';
import { answerId } from '../common.ts';
import { citationsOf, citedText } from './citations.ts';

/** A whole answer of Converse, or of Nova. Throws when the body is not such an answer. Source: Amazon Bedrock API reference, "Converse", 2026-11-21. */
export function readConverse(reply: UnaryReply, call: CallInfo): ChatReply {
  const body = exactJson(Buffer.from(reply.body).toString('utf8'));
  const { output, stopReason, usage, serviceTier } = isFields(body) ? body : {};
  const message = isFields(output) ? output['message'] : undefined;
  const content = isFields(message) ? message['content'] : undefined;
  if (!Array.isArray(content)) throw new Error('the answer holds no message');
  const blocks = content.filter(isFields);
  const answer = blocks.find(isAnswer);
  const counted = converseUsage(usage);
  return {
    id: answerId(call),
    model: call.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer ? answerText(answer) : textOf(blocks),
          ...callsOf(blocks),
          ...thoughtsOf(blocks),
          ...(!answer && sourcesOf(blocks)),
        },
        finish_reason: finishOf(stopReason, answer !== undefined && !blocks.some(isCall)),
      },
    ],
    ...(counted && { usage: withFacts(counted, tierFacts(serviceTier)) }),
  };
}

/** A structured answer travels as a tool call, but the caller did not ask for one: its finish reason is not `tool_calls`. */
export function finishOf(reason: unknown, isStructured: boolean): string | null {
  if (typeof reason !== 'string' || reason === '') return null;
  if (reason === 'tool_use' && isStructured) return 'stop';
  return reason === 'model_context_window_exceeded' ? 'length' : reason;
}

const toolUseOf = ({ toolUse }: Fields): Fields | undefined => (isFields(toolUse) ? toolUse : undefined);
const isAnswer = (block: Fields): boolean => plainCallName(toolUseOf(block)?.['name']) === ANSWER_TOOL;
const isCall = (block: Fields): boolean => toolUseOf(block) !== undefined && !isAnswer(block);
const answerText = (block: Fields): string => argumentsOf(toolUseOf(block) ?? {});

const wordsOf = (block: Fields): string => (typeof block['text'] === 'string' ? block['text'] : citedText(block));

function textOf(blocks: readonly Fields[]): string | null {
  const text = blocks.map(wordsOf).join('');
  return text === '' ? null : text;
}

function sourcesOf(blocks: readonly Fields[]): { annotations?: Fields[] } {
  let start = 0;
  const annotations = blocks.flatMap((block) => {
    const end = start + wordsOf(block).length;
    const found = citationsOf(block, { start, end });
    start = end;
    return found;
  });
  return annotations.length > 0 ? { annotations } : {};
}

function callsOf(blocks: readonly Fields[]): { tool_calls?: ToolCall[] } {
  const calls = blocks.filter(isCall).map((block): ToolCall => {
    const { toolUseId, name, ...called } = toolUseOf(block) ?? {};
    return {
      ...(typeof toolUseId === 'string' && { id: toolUseId }),
      type: 'function',
      function: { name: plainCallName(name), arguments: argumentsOf(called) },
    };
  });
  return calls.length > 0 ? { tool_calls: calls } : {};
}

function thoughtsOf(blocks: readonly Fields[]): { reasoning_content?: string; reasoning_details?: unknown[] } {
  const details: Fields[] = [];
  const texts: string[] = [];
  for (const { reasoningContent } of blocks) {
    if (!isFields(reasoningContent)) continue;
    const { reasoningText, redactedContent: data } = reasoningContent;
    const { text, signature } = isFields(reasoningText) ? reasoningText : {};
    if (isText(text)) texts.push(text);
    if (isText(data)) details.push(sealedItem(details.length, data));
    if (isText(text) || isText(signature))
      details.push(
        thoughtItem(details.length, { ...(isText(text) && { text }), ...(isText(signature) && { signature }) }),
      );
  }
  return {
    ...(texts.length > 0 && { reasoning_content: texts.join('') }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}

/** Converse and Nova's invoke name the cache's counts differently. The total is the vendor's unless cached tokens change it. */
export function converseUsage(value: unknown): Usage | undefined {
  if (!isFields(value)) return undefined;
  const counts = {
    input: countOf(value['inputTokens']),
    output: countOf(value['outputTokens']),
    thinking: 0,
    cacheRead: countOf(value['cacheReadInputTokens']) || countOf(value['cacheReadInputTokenCount']),
    cacheWrite: countOf(value['cacheWriteInputTokens']) || countOf(value['cacheWriteInputTokenCount']),
  };
  const usage = withFacts(toUsage(counts), { writtenLong: longWrites(value['cacheDetails']) });
  const total = countOf(value['totalTokens']);
  return total > 0 && counts.cacheRead + counts.cacheWrite === 0 ? { ...usage, total_tokens: total } : usage;
}

/** Tokens that were written to the cache for an hour. Source: AWS documentation, "TokenUsage", `cacheDetails`, 2026-11-26. */
function longWrites(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const long = details.filter(isFields).filter(({ ttl }) => ttl === '1h');
  return long.reduce((sum, { inputTokens }) => sum + countOf(inputTokens), 0) || undefined;
}

/** The tier that an answer was made in. Source: AWS documentation, "Converse", `serviceTier`, 2026-11-26. */
export function tierFacts(tier: unknown): UsageFacts {
  const type = isFields(tier) ? tier['type'] : undefined;
  return { tier: isText(type) && type !== 'default' ? type : undefined };
}
