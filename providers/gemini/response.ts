import {
  type CallInfo,
  type ChatChoice,
  type ChatReply,
  type ChatRequest,
  type ToolCall,
  type UnaryReply,
  type UsageFacts,
  withFacts,
} from 'gw/contract';
import { type Fields, isFields, objectOf } from 'gw/common-wire';
import { blockedPrompt, CandidateReader, readUsage } from './candidates.ts';
import { readLogprobs } from './logprobs.ts';
import { type ToolNames, toolNames } from './tool-names.ts';
import { Grounding, tierOf } from './usage-facts.ts';

/** A whole answer. Throws when it holds neither an answer nor a reason why not. See docs/providers.md#gemini-models. */
export function fromUpstream(reply: UnaryReply, call: CallInfo, request: ChatRequest): ChatReply {
  const body = objectOf(reply);
  const { responseId: id } = body;
  const usage = readUsage(body['usageMetadata']);
  const given = typeof id === 'string' && id !== '' ? id : undefined;
  return {
    id: given ?? call.model,
    model: call.model,
    choices: choicesOf(body, given ?? call.exchangeId, toolNames(request)),
    ...(usage && { usage: withFacts(usage, { tier: tierOf(usage, request), ...groundingOf(body) }) }),
  };
}

function groundingOf({ candidates }: Fields): UsageFacts {
  const found = new Grounding();
  if (Array.isArray(candidates)) found.read(candidates.filter(isFields));
  return found.facts();
}

function choicesOf(body: Fields, answer: string, names: ToolNames): ChatChoice[] {
  const { candidates } = body;
  const given = Array.isArray(candidates) ? candidates.filter(isFields) : [];
  if (given.length > 0) return given.map((candidate, index) => toChoice(candidate, index, answer, names));
  const refusal = blockedPrompt(body);
  if (refusal === undefined) throw new Error('the answer holds no candidates');
  return [{ index: 0, message: { role: 'assistant', content: null, refusal }, finish_reason: 'content_filter' }];
}

function toChoice(candidate: Fields, index: number, answer: string, names: ToolNames): ChatChoice {
  const {
    piece: { tool_calls: calls, content, ...rest },
    finish,
  } = new CandidateReader(answer, index, names).read(candidate);
  const logprobs = readLogprobs(candidate['logprobsResult']);
  return {
    index,
    message: {
      role: 'assistant',
      content: content ?? null,
      ...rest,
      ...(calls && {
        tool_calls: calls.map(({ index: _index, ...called }): ToolCall => ({
          ...called,
          function: called.function ?? {},
        })),
      }),
    },
    ...(logprobs && { logprobs }),
    finish_reason: finish,
  };
}
