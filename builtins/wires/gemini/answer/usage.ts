import { countOf, type Fields, type Usage } from '../../../../host/contract/index.ts';

/** Token counts in the words of this wire. See docs/reference/ingress.md#token-counts. */
export function usageMetadata(usage: Usage | null | undefined): Fields {
  const [prompt, completion] = [countOf(usage?.prompt_tokens), countOf(usage?.completion_tokens)];
  const [reasoning, read, write] = [
    countOf(usage?.reasoning_tokens),
    countOf(usage?.cache_read_tokens),
    countOf(usage?.cache_write_tokens),
  ];
  return {
    promptTokenCount: prompt + write,
    ...(read > 0 && { cachedContentTokenCount: read }),
    candidatesTokenCount: Math.max(completion - reasoning, 0),
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    totalTokenCount: prompt + write + completion,
  };
}
