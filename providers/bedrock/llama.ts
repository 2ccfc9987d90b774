import { wholeText } from '../_common/conversation.ts';
import type { CallInfo, ChatReply, ChatRequest, UnaryReply } from 'gw/contract';
import { countOf, objectOf } from 'gw/common-wire';
import { answerId, leftOver, present, temperatureOf, tierOf } from './common.ts';
import { type CompletionNames, reasonOf, usageOf } from './completion.ts';
import type { NativeBody } from './converse/request.ts';

/** Llama completes a prompt in the vendor's template. See docs/reference/providers.md#conversations-as-one-text. */
export function toLlamaBody(request: ChatRequest): NativeBody {
  const { max_completion_tokens: ceiling, max_tokens: maxTokens, top_p: topP } = request;
  const { temperature, bounded } = temperatureOf(request);
  return {
    bounded,
    body: { prompt: promptOf(request), ...present({ max_gen_len: ceiling ?? maxTokens, temperature, top_p: topP }) },
    ignored: [...tierOf(request).ignored, ...leftOver(request, false)],
  };
}

const header = (role: string): string => `<|start_header_id|>${role}<|end_header_id|>\n\n`;

function promptOf({ messages }: ChatRequest): string {
  const turns = messages.map(
    (message) => `${header(message.role === 'developer' ? 'system' : message.role)}${wholeText(message)}<|eot_id|>\n`,
  );
  return `<|begin_of_text|>${turns.join('')}${header('assistant')}`;
}

/** Whether a text holds what the template uses as marks, and could so begin a turn of its own. */
export function holdsMarks({ messages }: ChatRequest): boolean {
  return messages.some((message) => message.role.includes('<|') || /<\|\w+\|>/.test(wholeText(message)));
}

/** Source: Amazon Bedrock user guide, "Meta Llama models", 2026-11-21. */
export function readLlama(reply: UnaryReply, call: CallInfo): ChatReply {
  const answer = objectOf(reply);
  const { generation, prompt_token_count: prompt, generation_token_count: completion } = answer;
  if (typeof generation !== 'string') throw new Error('the answer holds no generation');
  return {
    id: answerId(call),
    model: call.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: generation },
        finish_reason: reasonOf(answer, 'stop_reason') ?? null,
      },
    ],
    usage: usageOf(countOf(prompt), countOf(completion)),
  };
}

/** Source: Amazon Bedrock user guide, "Meta Llama models", 2026-11-21. */
export const LLAMA_CHUNK: CompletionNames = {
  text: 'generation',
  reason: 'stop_reason',
  prompt: 'prompt_token_count',
  completion: 'generation_token_count',
};
