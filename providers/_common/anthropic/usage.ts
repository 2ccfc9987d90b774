import type { Usage } from 'gw/contract';
import { countOf, isFields } from '../fields.ts';

export interface TokenCounts {
  /** Neither cached nor written to a cache. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Part of `output`. */
  readonly thinking: number;
}

export function readCounts(value: unknown): TokenCounts {
  const usage = isFields(value) ? value : {};
  const details = isFields(usage['output_tokens_details']) ? usage['output_tokens_details'] : {};
  return {
    input: countOf(usage['input_tokens']),
    output: countOf(usage['output_tokens']),
    cacheRead: countOf(usage['cache_read_input_tokens']),
    cacheWrite: countOf(usage['cache_creation_input_tokens']),
    thinking: countOf(details['thinking_tokens']),
  };
}

/** Cache reads count as prompt, cache writes stand beside. Source: providers reference 4.5 and 5.1. */
export function toUsage({ input, output, cacheRead, cacheWrite, thinking }: TokenCounts): Usage {
  const prompt = input + cacheRead;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    ...(thinking > 0 && { reasoning_tokens: thinking }),
    ...(cacheRead > 0 && { cache_read_tokens: cacheRead }),
    ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }),
  };
}
