import { calcPrice, findProvider, type ModelInfo } from '@pydantic/genai-prices';
import type { CatalogPricing, PriceName } from '../../../host/common/prices/catalog-pricing.ts';

/** Release date of the price package: prices in force on that day at noon, UTC. */
export const PRICES_DATE = '2026-09-23';
const AT = Date.parse(`${PRICES_DATE}T12:00:00Z`);

export interface PricedModel {
  readonly name: string | undefined;
  readonly contextWindow: number | undefined;
  readonly isDeprecated: boolean;
  readonly prices: Readonly<Record<string, number>>;
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
  const { model, model_price } = found;
  const prices = Object.entries(model_price).flatMap(([unit, price]) =>
    price === undefined ? [] : [[unit, typeof price === 'number' ? price : price.base] as const],
  );
  return {
    name: model.id === id ? model.name : undefined,
    contextWindow: model.context_window,
    isDeprecated: model.deprecated === true,
    prices: Object.fromEntries(prices),
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

/** Prices in the catalog's units. Tiers are those of `tiers.ts`. */
export function toPricing(mode: string, { prices }: PricedModel): Partial<CatalogPricing> {
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
  };
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
