import type { Usage } from 'gw/contract';
import { countOf, type Fields, isFields } from '../fields.ts';

/**
 * Token counts in the common form, where cache writes stand beside the prompt; `undefined` where there are none. Writes that would
 * make the parts larger than the whole are not believed. Source: openai 7.57 (npm), `ResponseUsage`, 2026-11-26.
 */
export function toUsage(usage: unknown): Usage | undefined {
  if (!isFields(usage)) return undefined;
  const {
    input_tokens: input,
    output_tokens: output,
    total_tokens: _total,
    input_tokens_details: inputDetails,
    output_tokens_details: outputDetails,
    ...others
  } = usage;
  const read = countIn(inputDetails, 'cached_tokens');
  const stated = countIn(inputDetails, 'cache_write_tokens');
  const written = read + stated <= countOf(input) ? stated : 0;
  const thought = countIn(outputDetails, 'reasoning_tokens');
  const [prompt, completion] = [countOf(input) - written, countOf(output)];
  return {
    ...others,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(read > 0 && { prompt_tokens_details: { cached_tokens: read } }),
    ...(thought > 0 && { completion_tokens_details: { reasoning_tokens: thought } }),
    ...(written > 0 && { cache_write_tokens: written }),
  };
}

const countIn = (details: unknown, name: string): number => countOf(isFields(details) ? (details as Fields)[name] : 0);
