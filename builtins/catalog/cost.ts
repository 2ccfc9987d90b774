import type { CatalogEntry } from '../../host/common/catalog.ts';
import { KIND_PRICES, type PriceTable } from '../../host/common/prices/catalog-pricing.ts';
import { type Billed, cacheWritesIn, type Cost, type TokenPrice } from '../../host/contract/index.ts';
import type { BookLine } from './price-book.ts';
import { count, longWrites, type Part, tokenClasses } from './token-classes.ts';

/** Parts of a cost in US dollars; `undefined` when there is no price for what was used, or the amount is unknown. */
type Parts =
  | Partial<Record<'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'reasoning' | 'other', number>>
  | undefined;

/** What was used of a model, by the formula of its mode and one line of its prices. See docs/catalog.md#what-a-request-costs. */
export function costOf(
  { mode, model_id }: Pick<CatalogEntry, 'mode' | 'model_id'>,
  { id, prices }: BookLine,
  billed: Billed,
  catalog: string,
): Cost {
  const parts = partsOf(mode, prices, billed, model_id);
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
    line: id,
  };
}

function partsOf(mode: string, prices: PriceTable, billed: Billed, model: string): Parts {
  switch (mode) {
    case 'chat':
      return prices.input_per_m_tokens === null ? undefined : tokenParts(prices, billed.usage, model);
    case 'embedding':
      return times(prices.embedding_per_m_tokens, billed.usage?.prompt_tokens, 1e-6);
    case 'image':
      return prices.image_per_tile === null
        ? reportedTokens(prices, billed, model)
        : times(prices.image_per_tile, billed.images, 1);
    case 'audio_in':
      return times(prices.audio_input_per_minute, billed.seconds, 1 / 60) ?? reportedTokens(prices, billed, model);
    case 'audio_out':
      return times(prices.audio_output_per_character, billed.characters, 1) ?? reportedTokens(prices, billed, model);
    default:
      return undefined;
  }
}

/** By tokens, where the model has prices for them and some were reported. */
function reportedTokens(prices: PriceTable, { usage }: Billed, model: string): Parts {
  const isReported = usage !== undefined && (usage.prompt_tokens > 0 || usage.completion_tokens > 0);
  const isPriced = prices.input_per_m_tokens !== null || prices.output_per_m_tokens !== null;
  return isReported && isPriced ? tokenParts(prices, usage, model) : undefined;
}

/** Most models have none of the prices of kinds, and most answers say nothing of them: then no list is made. */
function tokenParts(prices: PriceTable, usage: Billed['usage'], model: string): Parts {
  if (!usage) return undefined;
  if (!KIND_PRICES.some((name) => prices[name] !== undefined) && longWrites(usage) === 0)
    return plainParts(prices, usage);
  const classes = tokenClasses(prices, usage, model);
  const paid = (wanted: Part): number =>
    classes.reduce((sum, { part, tokens, price }) => (part === wanted ? sum + perMillion(price, tokens) : sum), 0);
  return {
    input: paid('input'),
    output: paid('output'),
    cacheRead: paid('cacheRead'),
    cacheWrite: paid('cacheWrite'),
    reasoning: paid('reasoning'),
  };
}

/** Cached tokens are part of the prompt, reasoning tokens of the completion; each is billed once. Cache writes are apart, or part of the prompt too. */
function plainParts(prices: PriceTable, usage: NonNullable<Billed['usage']>): Parts {
  const {
    input_per_m_tokens,
    output_per_m_tokens,
    cache_read_per_m_tokens,
    cache_write_per_m_tokens,
    reasoning_per_m_tokens,
  } = prices;
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

/** Up to this many dollars, twelve decimals are exact in a double. */
const EXACT_BELOW = 1000;

/** Twelve decimals: far below a micro-dollar, and without what binary fractions add (0.1 + 0.2). */
function usd(value: number): number {
  return value < EXACT_BELOW ? Math.round(value * 1e12) / 1e12 : Number(value.toPrecision(15));
}

/** What strategies rank by. Embedding and image prices count for models of that mode only. */
export function tokenPriceOf({ mode }: Pick<CatalogEntry, 'mode'>, prices: PriceTable): TokenPrice {
  const long = prices.cache_write_long_per_m_tokens;
  return {
    input: prices.input_per_m_tokens ?? undefined,
    output: prices.output_per_m_tokens ?? undefined,
    cacheRead: prices.cache_read_per_m_tokens ?? undefined,
    cacheWrite: prices.cache_write_per_m_tokens ?? undefined,
    embedding: (mode === 'embedding' ? prices.embedding_per_m_tokens : null) ?? undefined,
    image: (mode === 'image' ? prices.image_per_tile : null) ?? undefined,
    audioMinute: (mode === 'audio_in' ? prices.audio_input_per_minute : null) ?? undefined,
    character: (mode === 'audio_out' ? prices.audio_output_per_character : null) ?? undefined,
    ...(long !== undefined && { cacheWriteLong: long }),
  };
}
