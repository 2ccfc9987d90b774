import { cacheWritesIn, type Usage } from '../../../host/contract/index.ts';

/** Counts of an answer as the Messages wire has them. */
export interface Counts {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly thinking: number;
}

export const NO_COUNTS: Counts = Object.freeze({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 0 });

/** What was read from a cache, or written to one, may be part of the common prompt, and is not of `input_tokens`. See docs/reference/ingress.md#token-counts. */
export function countsOf(usage: Usage): Counts {
  const {
    prompt_tokens: prompt,
    completion_tokens: output,
    reasoning_tokens: thinking = 0,
    cache_read_tokens: cacheRead = 0,
    cache_write_tokens: beside = 0,
  } = usage;
  const within = cacheWritesIn(usage);
  return { input: Math.max(prompt - cacheRead - within, 0), output, cacheRead, cacheWrite: beside + within, thinking };
}

/** The usage of a whole answer, every member of it. */
export function usageOf(counts: Counts): object {
  return {
    ...streamedUsageOf(counts),
    cache_creation: null,
    server_tool_use: null,
    service_tier: null,
    inference_geo: null,
    speed: null,
  };
}

/** That of an event at the end of a stream. */
export function streamedUsageOf({ input, output, cacheRead, cacheWrite, thinking }: Counts): object {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: thinking },
  };
}

/** Claude Code keeps the number that a stream began with over a 0, and would count what came from the cache twice. See docs/reference/ingress.md#messages-events. */
export function withoutZeroInput(counts: Counts): Counts {
  return counts.input === 0 && counts.cacheRead > 0 ? { ...counts, input: 1, cacheRead: counts.cacheRead - 1 } : counts;
}
