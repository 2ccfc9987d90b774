import type { Estimate, Pricing, Usage } from 'gw/contract';

/** US dollars per million tokens, which is micro-dollars per token. */
export interface Rates {
  readonly input_per_m_tokens?: number;
  readonly output_per_m_tokens?: number;
  readonly cache_read_per_m_tokens?: number;
  readonly cache_write_per_m_tokens?: number;
}

/** The operator's rates, one for all models. What is not counted in tokens costs nothing. */
export function flatPricing(rates: Rates): Pricing {
  const estimated = ({ prompt, completion }: Estimate): number => costAt(rates, { prompt_tokens: prompt, completion_tokens: completion, total_tokens: 0 });
  return {
    expected: (_exchange, estimate) => estimated(estimate),
    reported: ({ usage }) => (usage ? costAt(rates, usage) : 0),
    delivered: (_exchange, estimate) => estimated(estimate),
  };
}

/** Cached tokens are part of the prompt: without a rate of their own they cost what the rest does. Cache writes are not part of it. */
function costAt(rates: Rates, usage: Usage): number {
  const { input_per_m_tokens: input = 0, output_per_m_tokens: output = 0, cache_read_per_m_tokens: cacheRead, cache_write_per_m_tokens: cacheWrite = 0 } = rates;
  const { prompt_tokens: prompt, completion_tokens: completion, cache_read_tokens: read = 0, cache_write_tokens: written = 0 } = usage;
  const fresh = cacheRead === undefined ? prompt : Math.max(0, prompt - read);
  return input * fresh + output * completion + (cacheRead ?? 0) * read + cacheWrite * written;
}
