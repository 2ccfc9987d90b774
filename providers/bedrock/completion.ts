import type { CallInfo, ChatChunk, Usage } from 'gw/contract';
import { countOf, type Fields, isFields } from 'gw/common-wire';
import { answerId } from './common.ts';

/** What a family that completes text calls the members of its chunks. */
export interface CompletionNames {
  readonly text: string;
  readonly reason: string;
  readonly prompt: string;
  readonly completion: string;
}

export function usageOf(prompt: number, completion: number): Usage {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/**
 * Why a completion ended, if it did. The model's own pieces always name the reason, `null` until the last; the words that a guardrail
 * of the service puts in an answer's place have none. Source: Amazon Bedrock API reference, "InvokeModel", 2026-11-23.
 */
export function reasonOf(piece: Fields, reason: string, whole: Fields = piece): string | undefined {
  if (whole['amazon-bedrock-guardrailAction'] === 'INTERVENED' && !(reason in piece)) return 'guardrail_intervened';
  const given = piece[reason];
  return typeof given === 'string' && given !== '' ? given : undefined;
}

/** One streamed answer of a family that completes text. Counts may stand in any chunk; the service adds its own to the last. */
export class CompletionStream {
  readonly #head: Pick<ChatChunk, 'id' | 'model'>;
  readonly #names: CompletionNames;
  #prompt = 0;
  #completion = 0;

  constructor(call: CallInfo, names: CompletionNames) {
    this.#head = { id: answerId(call), model: call.model };
    this.#names = names;
  }

  read(chunk: Fields): ChatChunk[] {
    const { [this.#names.text]: text, index: place } = chunk;
    const reason = reasonOf(chunk, this.#names.reason);
    const index = typeof place === 'number' ? place : 0;
    this.#count(chunk);
    const said =
      typeof text === 'string' && text !== ''
        ? [{ ...this.#head, choices: [{ index, delta: { content: text }, finish_reason: null }] }]
        : [];
    if (reason === undefined) return said;
    const usage = this.#prompt + this.#completion > 0 ? { usage: usageOf(this.#prompt, this.#completion) } : {};
    return [...said, { ...this.#head, choices: [{ index, delta: {}, finish_reason: reason }], ...usage }];
  }

  #count({
    [this.#names.prompt]: prompt,
    [this.#names.completion]: completion,
    'amazon-bedrock-invocationMetrics': metrics,
  }: Fields): void {
    const counted = isFields(metrics) ? metrics : {};
    this.#prompt = countOf(prompt) || countOf(counted['inputTokenCount']) || this.#prompt;
    this.#completion = countOf(completion) || countOf(counted['outputTokenCount']) || this.#completion;
  }
}
