import { type Exchange, messageTexts, type PluginPrices, type TokenPrice, type Usage } from 'gw/contract';

/** US dollars per million tokens, which is micro-dollars per token. */
export interface Rates {
  readonly input_per_m_tokens?: number;
  readonly output_per_m_tokens?: number;
  readonly cache_read_per_m_tokens?: number;
  readonly cache_write_per_m_tokens?: number;
}

/** Tokens of a call that is estimated rather than reported. */
export interface Estimate {
  readonly prompt: number;
  readonly completion: number;
}

/** What calls cost, in micro-dollars. */
export interface Pricing {
  /** What a call may cost, before a target is chosen. */
  expected(exchange: Exchange, estimate: Estimate): number;
  /** What was reported. Without a price or a report it is 0. */
  reported(exchange: Exchange): number;
  /** What was used of a stream that broke off before anything was reported. */
  delivered(exchange: Exchange, estimate: Estimate): number;
}

const MICRO = 1e6;

/** The operator's rates, one for all models. What is no token costs nothing. */
export function flatPricing(rates: Rates): Pricing {
  const estimated = ({ prompt, completion }: Estimate): number => costAt(rates, { prompt_tokens: prompt, completion_tokens: completion, total_tokens: 0 });
  return {
    expected: (_exchange, estimate) => estimated(estimate),
    reported: ({ usage }) => (usage ? costAt(rates, usage) : 0),
    delivered: (_exchange, estimate) => estimated(estimate),
  };
}

/** Cached tokens are part of the prompt: without a rate of their own they cost what the rest does. Cache writes are no part of it. */
function costAt(rates: Rates, usage: Usage): number {
  const { input_per_m_tokens: input = 0, output_per_m_tokens: output = 0, cache_read_per_m_tokens: cacheRead, cache_write_per_m_tokens: cacheWrite = 0 } = rates;
  const { prompt_tokens: prompt, completion_tokens: completion, cache_read_tokens: read = 0, cache_write_tokens: written = 0 } = usage;
  const fresh = cacheRead === undefined ? prompt : Math.max(0, prompt - read);
  return input * fresh + output * completion + (cacheRead ?? 0) * read + cacheWrite * written;
}

/** The catalog's prices, of the target that served; before one is chosen, of the dearest that may. */
export function catalogPricing(prices: PluginPrices): Pricing {
  return {
    expected: (exchange, estimate) => expectedAt(prices.highest(exchange), exchange, estimate),
    reported: ({ measurements }) => (measurements.costUsd ?? 0) * MICRO,
    delivered: ({ target, upstreamModel }, { prompt, completion }) => {
      if (target === undefined || upstreamModel === undefined) return 0;
      const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
      return (prices.cost(target, upstreamModel, { usage })?.totalUsd ?? 0) * MICRO;
    },
  };
}

function expectedAt(price: TokenPrice | undefined, { request }: Exchange, { prompt, completion }: Estimate): number {
  if (!price) return 0;
  const { embedding, image } = price;
  if (embedding !== undefined) return embedding * prompt;
  if (image !== undefined) return image * countIn(request['n']) * MICRO;
  return (price.input ?? 0) * prompt + (price.output ?? 0) * completion;
}

const CHARACTERS_PER_TOKEN = 4;

/** Tokens of the prompt, guessed from its characters. Source: governance reference 9.2. */
export function promptTokens(exchange: Exchange): number {
  let characters = 0;
  for (const text of messageTexts(exchange)) characters += text.length;
  return Math.floor(characters / CHARACTERS_PER_TOKEN) + 1;
}

export function deliveredTokens(exchange: Exchange): number {
  return exchange.deliveredText().length / CHARACTERS_PER_TOKEN;
}

/** Most tokens that the answer may have; each choice has as many. `otherwise` stands for a ceiling that was not declared. */
export function ceilingOf({ request }: Exchange, otherwise: number): number {
  const declared = request['max_completion_tokens'] ?? request['max_tokens'];
  return (typeof declared === 'number' ? declared : otherwise) * countIn(request['n']);
}

const countIn = (n: unknown): number => (typeof n === 'number' && n > 1 ? n : 1);
