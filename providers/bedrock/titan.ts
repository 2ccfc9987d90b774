import type { CallInfo, ChatReply, ChatRequest, UnaryReply } from 'gw/contract';
import { countOf, itemsOf, joinedConversation, objectOf } from 'gw/common-wire';
import { answerId, leftOver, present, stopOf, temperatureOf, tierOf } from './common.ts';
import { type CompletionNames, reasonOf, usageOf } from './completion.ts';
import type { NativeBody } from './converse/request.ts';

/** Titan completes a text. Throws a 400 for parts that are not text. See docs/reference/providers.md#conversations-as-one-text. */
export function toTitanBody(request: ChatRequest): NativeBody {
  const { max_completion_tokens: ceiling, max_tokens: maxTokens, top_p: topP } = request;
  const { temperature, bounded } = temperatureOf(request);
  const textGenerationConfig =
    present({ maxTokenCount: ceiling ?? maxTokens, temperature, topP, stopSequences: stopOf(request) }) ?? {};
  return {
    bounded,
    body: { inputText: joinedConversation(request), textGenerationConfig },
    ignored: [...tierOf(request).ignored, ...leftOver(request, false)],
  };
}

/** A choice per result. Throws when there is none. Source: Amazon Bedrock user guide, "Amazon Titan Text models", 2026-11-21. */
export function readTitan(reply: UnaryReply, call: CallInfo): ChatReply {
  const answer = objectOf(reply);
  const { results: given, inputTextTokenCount: prompt } = answer;
  const results = itemsOf(given, 'results');
  if (results.length === 0) throw new Error('the answer holds no result');
  const completion = results.reduce((sum, { tokenCount }) => sum + countOf(tokenCount), 0);
  return {
    id: answerId(call),
    model: call.model,
    choices: results.map((result, index) => ({
      index,
      message: { role: 'assistant', content: typeof result['outputText'] === 'string' ? result['outputText'] : '' },
      finish_reason: reasonOf(result, 'completionReason', answer) ?? null,
    })),
    usage: usageOf(countOf(prompt), completion),
  };
}

/** Source: Amazon Bedrock user guide, "Amazon Titan Text models", 2026-11-21. */
export const TITAN_CHUNK: CompletionNames = {
  text: 'outputText',
  reason: 'completionReason',
  prompt: 'inputTextTokenCount',
  completion: 'totalOutputTextTokenCount',
};
