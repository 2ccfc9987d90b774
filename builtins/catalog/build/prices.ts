import { calcPrice, findProvider, type ModelInfo } from '@pydantic/genai-prices';
import type { CatalogPricing, PriceName } from '../../../host/common/prices/catalog-pricing.ts';
import { lineOf, type Situation, situationsOf } from './price-constraints.ts';

/** Release date of the price package: prices in force on that day at noon, UTC. */
export const PRICES_DATE = '2026-09-23';
const AT = Date.parse(`${PRICES_DATE}T12:00:00Z`);

export interface PricedModel {
  readonly name: string | undefined;
  readonly contextWindow: number | undefined;
  readonly isDeprecated: boolean;
  readonly prices: Readonly<Record<string, number>>;
  /** What holds at some hours, from later days on, and for long prompts, by the package's names. */
  readonly others: readonly Situation[];
}

/** Page the price package read, of a provider of it. */
export function pricingPage(provider: string): string {
  return findProvider({ providerId: provider })?.pricing_urls?.[0] ?? 'https://github.com/pydantic/genai-prices';
}

function lookUp(provider: string, id: string): ReturnType<typeof calcPrice> {
  return calcPrice({ input_tokens: 1 }, id, { providerId: provider, timestamp: new Date(AT) });
}

/** What the price package says of a model id: exact ids and patterns, and for some providers those of another one. */
export function pricedModel(provider: string, id: string): PricedModel | undefined {
  const found = lookUp(provider, id);
  if (!found) return undefined;
  const { model } = found;
  const [usual, ...others] = situationsOf(model.prices, PRICES_DATE);
  return {
    name: model.id === id ? model.name : undefined,
    contextWindow: model.context_window,
    isDeprecated: model.deprecated === true,
    prices: usual?.prices ?? {},
    others,
  };
}

/** Ids that name one model each: those its rule compares with, and its own when the rule accepts it. */
export function exactIds(provider: string): string[] {
  const { models = [] } = findProvider({ providerId: provider }) ?? {};
  return models.flatMap((model) => [...ownId(provider, model), ...literals(model.match)]);
}

/** Bedrock's own ids stand for several: the plain one, and one per region group that its rule mentions. */
function ownId(provider: string, { id, match }: ModelInfo): string[] {
  const [, base] = /^regional\.(.+)$/.exec(id) ?? [];
  if (base !== undefined)
    return [
      '',
      ...['us.', 'eu.', 'apac.', 'au.', 'jp.', 'in.'].filter((region) => JSON.stringify(match).includes(`"${region}`)),
    ].map((region) => region + base);
  return lookUp(provider, id)?.model.id === id ? [id] : [];
}

function literals(match: ModelInfo['match']): string[] {
  if ('equals' in match) return [match.equals];
  return 'or' in match ? match.or.flatMap(literals) : [];
}

/** Prices in the catalog's units, with lines for lengths, days and hours. Tiers of service are those of `tiers.ts`. */
export function toPricing(mode: string, { prices, others }: PricedModel, provider: string): Partial<CatalogPricing> {
  const usual = pricesOf(mode, prices);
  const base = numbersIn(usual);
  const lines = others.flatMap(
    ({ when, prices: own }) => lineOf({ when, prices: numbersIn(pricesOf(mode, own)) }, base, provider) ?? [],
  );
  return lines.length > 0 ? { ...usual, lines } : usual;
}

const numbersIn = (pricing: object): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(pricing).filter(([name, price]) => typeof price === 'number' && name !== 'request'),
  );

function pricesOf(mode: string, prices: PricedModel['prices']): Partial<CatalogPricing> {
  const {
    input_mtok: input,
    output_mtok: output,
    cache_read_mtok: cacheRead,
    cache_write_mtok: cacheWrite,
    output_reasoning_mtok: reasoning,
  } = prices;
  const hours = prices['input_audio_hours'] ?? prices['audio_hours'];
  if (mode === 'embedding') return { embedding_per_m_tokens: input ?? null };
  if (mode === 'audio_in' && hours !== undefined)
    return { audio_input_per_minute: Number((hours / 60).toPrecision(12)) };
  return {
    input_per_m_tokens: input ?? null,
    output_per_m_tokens: output ?? null,
    cache_read_per_m_tokens: cacheRead ?? null,
    cache_write_per_m_tokens: cacheWrite ?? null,
    reasoning_per_m_tokens: reasoning ?? null,
    ...kindsOf(prices),
    ...countsOf(prices),
  };
}

/** What is billed by its number, by the package's names. */
const COUNTS: Readonly<Record<string, PriceName>> = {
  web_searches_kcount: 'web_search_per_k',
  storage_searches_kcount: 'file_search_per_k',
  input_document_kpages: 'pages_per_k',
  input_annotated_document_kpages: 'annotated_pages_per_k',
  output_citation_mtok: 'citation_per_m_tokens',
};

function countsOf(prices: PricedModel['prices']): Partial<CatalogPricing> {
  const counts = Object.entries(COUNTS).flatMap(([unit, name]) =>
    prices[unit] === undefined ? [] : [[name, prices[unit]] as const],
  );
  const { requests_kcount: fee } = prices;
  return { ...Object.fromEntries(counts), ...(fee !== undefined && { request: Number((fee / 1000).toPrecision(10)) }) };
}

/** Kinds of tokens by the package's name, with what they cost without a price of their own. */
const KINDS: Readonly<Record<string, readonly [kind: PriceName, rest: string]>> = {
  cache_write_1h_mtok: ['cache_write_long_per_m_tokens', 'cache_write_mtok'],
  input_audio_mtok: ['audio_input_per_m_tokens', 'input_mtok'],
  output_audio_mtok: ['audio_output_per_m_tokens', 'output_mtok'],
  cache_audio_read_mtok: ['audio_cache_read_per_m_tokens', 'cache_read_mtok'],
  input_image_mtok: ['image_input_per_m_tokens', 'input_mtok'],
  output_image_mtok: ['image_output_per_m_tokens', 'output_mtok'],
  cache_image_read_mtok: ['image_cache_read_per_m_tokens', 'cache_read_mtok'],
  input_video_mtok: ['video_input_per_m_tokens', 'input_mtok'],
  output_video_mtok: ['video_output_per_m_tokens', 'output_mtok'],
};

const kindsOf = (prices: PricedModel['prices']): Partial<CatalogPricing> =>
  Object.fromEntries(
    Object.entries(KINDS).flatMap(([unit, [kind, rest]]) =>
      prices[unit] === undefined || prices[unit] === prices[rest] ? [] : [[kind, prices[unit]] as const],
    ),
  );
