import type { CatalogEntry } from '../../host/common/catalog.ts';
import { type Billed, cacheWritesIn, type Cost, type TokenPrice } from '../../host/contract/index.ts';

/** Parts of a cost in US dollars; `undefined` when there is no price for what was used, or the amount is unknown. */
type Parts =
  | Partial<Record<'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'reasoning' | 'other', number>>
  | undefined;

/** What was used of a model, by the formula of its mode. See docs/catalog.md#what-a-request-costs. */
export function costOf(entry: CatalogEntry, billed: Billed, catalog: string): Cost {
  const parts = partsOf(entry, billed);
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0, other = 0 } = parts ?? {};
  return {
    totalUsd: usd(input + output + cacheRead + cacheWrite + reasoning + other),
    inputUsd: usd(input),
    outputUsd: usd(output),
    cacheReadUsd: usd(cacheRead),
    cacheWriteUsd: usd(cacheWrite),
    reasoningUsd: usd(reasoning),
    modelFound: true,
    priced: parts !== undefined,
    catalog,
  };
}

function partsOf({ mode, pricing }: CatalogEntry, billed: Billed): Parts {
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

/** What strategies rank by. Embedding and image prices count for models of that mode only. */
export function tokenPriceOf({ mode, pricing }: CatalogEntry): TokenPrice {
  return {
    input: pricing.input_per_m_tokens ?? undefined,
    output: pricing.output_per_m_tokens ?? undefined,
    cacheRead: pricing.cache_read_per_m_tokens ?? undefined,
    cacheWrite: pricing.cache_write_per_m_tokens ?? undefined,
    embedding: (mode === 'embedding' ? pricing.embedding_per_m_tokens : null) ?? undefined,
    image: (mode === 'image' ? pricing.image_per_tile : null) ?? undefined,
    audioMinute: (mode === 'audio_in' ? pricing.audio_input_per_minute : null) ?? undefined,
    character: (mode === 'audio_out' ? pricing.audio_output_per_character : null) ?? undefined,
  };
}
