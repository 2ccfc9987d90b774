import type { Exchange } from './exchange.ts';
import type { PluginPrices, TokenPrice } from './services.ts';
import { messageTexts } from './texts.ts';

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

/** Tokens of what a stream has delivered so far, guessed in the same way. */
export function deliveredTokens(exchange: Exchange): number {
  return exchange.deliveredText().length / CHARACTERS_PER_TOKEN;
}

/** Most tokens that the answer may have; each choice has as many. `otherwise` stands for a ceiling that was not declared. */
export function ceilingOf({ request }: Exchange, otherwise: number): number {
  const declared = request['max_completion_tokens'] ?? request['max_tokens'];
  return (typeof declared === 'number' ? declared : otherwise) * countIn(request['n']);
}

const countIn = (n: unknown): number => (typeof n === 'number' && n > 1 ? n : 1);
