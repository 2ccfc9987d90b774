/** The formula of prices without tiers, as it stood before there were any. What it says must stay. */
import type { CatalogEntry } from '../../host/common/catalog.ts';
import { type Billed, cacheWritesIn } from '../../host/contract/index.ts';

type Parts =
  | Partial<Record<'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'reasoning' | 'other', number>>
  | undefined;

/** US dollars; `undefined` without a price. */
export function plainCost(entry: Pick<CatalogEntry, 'mode' | 'pricing'>, billed: Billed): number | undefined {
  const parts = partsOf(entry, billed);
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0, other = 0 } = parts ?? {};
  return parts && usd(input + output + cacheRead + cacheWrite + reasoning + other);
}

function partsOf({ mode, pricing }: Pick<CatalogEntry, 'mode' | 'pricing'>, billed: Billed): Parts {
  switch (mode) {
    case 'chat':
      return pricing.input_per_m_tokens === null ? undefined : tokenParts(pricing, billed.usage);
    case 'embedding':
      return times(pricing.embedding_per_m_tokens, billed.usage?.prompt_tokens, 1e-6);
    case 'image':
      return imageParts(pricing, billed);
    case 'audio_in':
      return times(pricing.audio_input_per_minute, billed.seconds, 1 / 60) ?? reportedTokens(pricing, billed);
    case 'audio_out':
      return times(pricing.audio_output_per_character, billed.characters, 1) ?? reportedTokens(pricing, billed);
    default:
      return undefined;
  }
}

/** By image; where there is no such price, by the tokens the provider reported. */
function imageParts(pricing: CatalogEntry['pricing'], billed: Billed): Parts {
  return pricing.image_per_tile === null
    ? reportedTokens(pricing, billed)
    : times(pricing.image_per_tile, billed.images, 1);
}

/** By tokens, where the model has prices for them and some were reported. */
function reportedTokens(pricing: CatalogEntry['pricing'], { usage }: Billed): Parts {
  const isReported = usage !== undefined && (usage.prompt_tokens > 0 || usage.completion_tokens > 0);
  const isPriced = pricing.input_per_m_tokens !== null || pricing.output_per_m_tokens !== null;
  return isReported && isPriced ? tokenParts(pricing, usage) : undefined;
}

/** Cached tokens are part of the prompt, reasoning tokens of the completion; each is billed once. Cache writes are apart, or part of the prompt too. */
function tokenParts(pricing: CatalogEntry['pricing'], usage: Billed['usage']): Parts {
  if (!usage) return undefined;
  const {
    input_per_m_tokens,
    output_per_m_tokens,
    cache_read_per_m_tokens,
    cache_write_per_m_tokens,
    reasoning_per_m_tokens,
  } = pricing;
  const cached = count(usage.cache_read_tokens);
  const reasoned = count(usage.reasoning_tokens);
  const stored = cache_write_per_m_tokens === null ? 0 : cacheWritesIn(usage);
  const fresh = count(usage.prompt_tokens) - (cache_read_per_m_tokens === null ? 0 : cached) - stored;
  const written = count(usage.completion_tokens) - (reasoning_per_m_tokens === null ? 0 : reasoned);
  return {
    input: perMillion(input_per_m_tokens, fresh),
    output: perMillion(output_per_m_tokens, written),
    cacheRead: perMillion(cache_read_per_m_tokens, cached),
    cacheWrite: perMillion(cache_write_per_m_tokens, count(usage.cache_write_tokens) + stored),
    reasoning: perMillion(reasoning_per_m_tokens, reasoned),
  };
}

function times(price: number | null, amount: number | undefined, unit: number): Parts {
  return price === null || amount === undefined ? undefined : { other: price * count(amount) * unit };
}

const perMillion = (price: number | null, tokens: number): number => ((price ?? 0) * Math.max(tokens, 0)) / 1e6;
/** Upstreams report all kinds of values; one that is not an amount counts as 0. */
const count = (amount: number | undefined): number =>
  amount !== undefined && Number.isFinite(amount) && amount > 0 ? amount : 0;

/** Up to this many dollars, twelve decimals are exact in a double. */
const EXACT_BELOW = 1000;

/** Twelve decimals: far below a micro-dollar, and without what binary fractions add (0.1 + 0.2). */
function usd(value: number): number {
  return value < EXACT_BELOW ? Math.round(value * 1e12) / 1e12 : Number(value.toPrecision(15));
}
