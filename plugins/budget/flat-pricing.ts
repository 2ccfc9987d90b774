import { cacheWritesIn, type Estimate, type Pricing, type Usage } from 'gw/contract';

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
    reported: ({ charged }) => (charged ? costAt(rates, charged) : 0),
  };
}

/** Cached tokens are part of the prompt: without a rate of their own they cost what the rest does. So are cache writes where the vendor counts them in it. */
function costAt(rates: Rates, usage: Usage): number {
  const { input_per_m_tokens: input = 0, output_per_m_tokens: output = 0, cache_read_per_m_tokens: cacheRead, cache_write_per_m_tokens: cacheWrite } = rates;
  const { prompt_tokens: prompt, completion_tokens: completion, cache_read_tokens: read = 0, cache_write_tokens: written = 0 } = usage;
  const stored = cacheWrite === undefined ? 0 : cacheWritesIn(usage);
  const fresh = Math.max(0, prompt - (cacheRead === undefined ? 0 : read) - stored);
  return input * fresh + output * completion + (cacheRead ?? 0) * read + (cacheWrite ?? 0) * (written + stored);
}
