import type { CatalogEntry } from '../../host/common/catalog.ts';
import { type CatalogPricing, KIND_PRICES, type PriceTable } from '../../host/common/prices/catalog-pricing.ts';
import {
  type Billed,
  cacheWritesIn,
  type Cost,
  type PriceQuestion,
  type TokenPrice,
} from '../../host/contract/index.ts';
import { besideTokens, counted, feeOf, imagePrice, type ImageRates } from './counted-cost.ts';
import type { BookLine } from './price-book.ts';
import { count, longWrites, type Part, tokenClasses } from './token-classes.ts';

/** Parts of a cost in US dollars; `undefined` when there is no price for what was used, or the amount is unknown. */
type Parts =
  | Partial<Record<'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'reasoning' | 'other', number>>
  | undefined;

type Priced = Pick<CatalogEntry, 'mode' | 'model_id' | 'pricing'>;

const NO_IMAGES: ImageRates = () => undefined;

/** What was used of a model, by the formula of its mode and one line of its prices. See docs/catalog.md#what-a-request-costs. */
export function costOf(
  entry: Priced,
  line: BookLine,
  billed: Billed,
  { catalog, imagesOf = NO_IMAGES }: { readonly catalog: string; readonly imagesOf?: ImageRates },
): Cost {
  const parts = partsOf(entry, line.prices, billed, imagesOf);
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
    line: line.id,
  };
}

function partsOf({ mode, model_id, pricing }: Priced, prices: PriceTable, billed: Billed, imagesOf: ImageRates): Parts {
  switch (mode) {
    case 'chat':
      return prices.input_per_m_tokens === null
        ? undefined
        : withBeside(tokenParts(prices, billed.usage, model_id), besideTokens(pricing, prices, billed, imagesOf));
    case 'embedding':
      return times(prices.embedding_per_m_tokens, billed.usage?.prompt_tokens, 1e-6);
    case 'image':
      return imageParts(pricing, prices, billed, model_id);
    case 'audio_in':
      return (
        times(prices.audio_input_per_minute, heard(pricing, billed), 1 / 60) ?? reportedTokens(prices, billed, model_id)
      );
    case 'audio_out':
      return times(prices.audio_output_per_character, billed.characters, 1) ?? reportedTokens(prices, billed, model_id);
    case 'rerank':
      return times(prices.search_unit, believed(billed.searchUnits), 1) ?? reportedTokens(prices, billed, model_id);
    case 'ocr':
      return pagesOf(prices, billed);
    case 'video':
      return times(pricing.video_output_per_second, billed.seconds, 1);
    case 'moderation':
      return prices.input_per_m_tokens === 0 ? FREE : reportedTokens(prices, billed, model_id);
    default:
      return undefined;
  }
}

const FREE: Parts = Object.freeze({ other: 0 });

const withBeside = (parts: Parts, other: number): Parts => (parts && other > 0 ? { ...parts, other } : parts);

const believed = (value: number | undefined): number | undefined => (value === undefined ? undefined : counted(value));

/** Images by their look, where the vendor reports no tokens of them; a price for all of them goes before tokens. */
function imageParts(pricing: CatalogPricing, prices: PriceTable, billed: Billed, model: string): Parts {
  if (!pricing.images)
    return prices.image_per_tile === null
      ? reportedTokens(prices, billed, model)
      : times(prices.image_per_tile, billed.images, 1);
  const { size, quality, images } = billed;
  return reportedTokens(prices, billed, model) ?? times(imagePrice(pricing, { size, quality }), images, 1);
}

/** Vendors bill short recordings as longer ones. */
const heard = ({ audio_minimum_seconds: least = 0 }: CatalogPricing, { seconds }: Billed): number | undefined =>
  seconds === undefined || seconds <= 0 ? seconds : Math.max(seconds, least);

/** Pages with annotations cost what those do, where they have a price. */
function pagesOf({ pages_per_k: plain, annotated_pages_per_k: annotated }: PriceTable, billed: Billed): Parts {
  return times(billed.isAnnotated === true ? (annotated ?? plain) : plain, believed(billed.pages), 1 / 1000);
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

function times(price: number | null | undefined, amount: number | undefined, unit: number): Parts {
  return price == null || amount === undefined ? undefined : { other: price * count(amount) * unit };
}

const perMillion = (price: number | null, tokens: number): number => ((price ?? 0) * Math.max(tokens, 0)) / 1e6;

/** Up to this many dollars, twelve decimals are exact in a double. */
const EXACT_BELOW = 1000;

/** Twelve decimals: far below a micro-dollar, and without what binary fractions add (0.1 + 0.2). */
function usd(value: number): number {
  return value < EXACT_BELOW ? Math.round(value * 1e12) / 1e12 : Number(value.toPrecision(15));
}

/** What strategies rank by, and calls are reserved by. Embedding and image prices count for models of that mode only. */
export function tokenPriceOf({ mode, pricing }: Priced, prices: PriceTable, asked?: PriceQuestion): TokenPrice {
  const ofMode = (wanted: string, price: number | null | undefined): number | undefined =>
    mode === wanted ? (price ?? undefined) : undefined;
  const {
    cache_write_long_per_m_tokens: long,
    audio_input_per_m_tokens: sound,
    image_input_per_m_tokens: seen,
  } = prices;
  const price: { -readonly [name in keyof TokenPrice]: TokenPrice[name] } = {
    input: prices.input_per_m_tokens ?? undefined,
    output: prices.output_per_m_tokens ?? undefined,
    cacheRead: prices.cache_read_per_m_tokens ?? undefined,
    cacheWrite: prices.cache_write_per_m_tokens ?? undefined,
    embedding: ofMode('embedding', prices.embedding_per_m_tokens),
    image: mode === 'image' ? imagePrice(pricing, { size: asked?.size, quality: asked?.quality }) : undefined,
    audioMinute: ofMode('audio_in', prices.audio_input_per_minute),
    character: ofMode('audio_out', prices.audio_output_per_character),
  };
  if (long !== undefined) price.cacheWriteLong = long;
  if (sound !== undefined) price.audioInput = sound;
  if (seen !== undefined) price.imageInput = seen;
  if (mode === 'rerank' && prices.search_unit !== undefined) price.searchUnit = prices.search_unit;
  if (pricing.request !== undefined) price.call = feeOf(pricing.request, asked?.searchSize);
  return price;
}
