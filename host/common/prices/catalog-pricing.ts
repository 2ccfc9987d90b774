import type { ReportUse } from '../../contract/index.ts';

/** What a line of prices may ask before it holds. All of it must hold at once. */
export interface PriceConditions {
  /** Tokens of the prompt, cached and written ones included, are more than this. */
  readonly input_above?: number;
  readonly service_tier?: string;
  readonly speed?: string;
  readonly region?: string;
  /** First day, `YYYY-MM-DD`, UTC. */
  readonly from?: string;
  /** First day on which it holds no more. */
  readonly until?: string;
  /** Hours of the day in UTC, `HH:MM`; the second one is exclusive, and may be that of the next day. */
  readonly utc?: readonly [string, string];
}

/** Prices of a tier: those that it has in place of the usual ones, or a factor for all prices of tokens. */
export interface PriceLine {
  readonly when: PriceConditions;
  readonly set?: Readonly<Partial<Record<PriceName, number>>>;
  readonly times?: number;
}

/** Prices of tokens of one kind, which only some models have; left out where unknown. */
export const KIND_PRICES = [
  'cache_write_long_per_m_tokens',
  'audio_input_per_m_tokens',
  'audio_output_per_m_tokens',
  'audio_cache_read_per_m_tokens',
  'image_input_per_m_tokens',
  'image_output_per_m_tokens',
  'image_cache_read_per_m_tokens',
  'video_input_per_m_tokens',
  'video_output_per_m_tokens',
  'citation_per_m_tokens',
] as const;

/** Prices of what is billed by its number; left out where unknown. US dollars, those that end in `_per_k` for a thousand. */
export const COUNT_PRICES = [
  'web_search_per_k',
  'file_search_per_k',
  'maps_per_k',
  'web_fetch_per_k',
  /** A container in which code runs. */
  'code_session',
  'pages_per_k',
  'annotated_pages_per_k',
  /** A search over documents, as rerank is billed. */
  'search_unit',
] as const;

type CountPrices = { readonly [name in (typeof COUNT_PRICES)[number]]?: number };

/** What a search of the web is billed by: each call, each question that it asks, or each prompt that has any. */
export type SearchUnit = 'call' | 'query' | 'prompt';

/** A fee that depends on how much a search reads; `default` names the size that counts where nothing says it. */
export interface SizedFee {
  readonly low?: number;
  readonly medium?: number;
  readonly high?: number;
  readonly default?: SearchSize;
}

export type SearchSize = 'low' | 'medium' | 'high';

/** US dollars for one image. A size or a quality that is left out fits every image. */
export interface ImagePrice {
  readonly size?: string;
  readonly quality?: string;
  readonly usd: number;
}

/** Prices that are more than a number; left out where unknown. No line changes them. */
export interface SpecialPrices {
  /** The fee of each call, beside its tokens. */
  readonly request?: number | SizedFee;
  /** `call` unless said. */
  readonly web_search_unit?: SearchUnit;
  readonly images?: readonly ImagePrice[];
  /** The model that makes the images of the tool `image_generation`, where the request names none. */
  readonly image_tool_model?: string;
  /** A second of moving pictures. */
  readonly video_output_per_second?: number;
  /** Seconds that a shorter recording counts as. */
  readonly audio_minimum_seconds?: number;
}

type KindPrices = { readonly [name in (typeof KIND_PRICES)[number]]?: number };

/** US dollars; `null` is unknown or not applicable, 0 is free. */
export interface BasePrices {
  readonly input_per_m_tokens: number | null;
  readonly output_per_m_tokens: number | null;
  readonly cache_read_per_m_tokens: number | null;
  readonly cache_write_per_m_tokens: number | null;
  readonly reasoning_per_m_tokens: number | null;
  readonly embedding_per_m_tokens: number | null;
  /** Per generated image. */
  readonly image_per_tile: number | null;
  readonly audio_input_per_minute: number | null;
  readonly audio_output_per_character: number | null;
}

/** Everything that has a price. */
export type PriceName = keyof BasePrices | keyof KindPrices | keyof CountPrices;

/** Prices that are in force together. */
export interface PriceTable extends BasePrices, KindPrices, CountPrices {}

/** Prices of a model, and the lines of its tiers. */
export interface CatalogPricing extends PriceTable, SpecialPrices {
  /** Left out where the model has one price for all. */
  readonly lines?: readonly PriceLine[];
  /** What becomes of a cost that the vendor reports; left out, the configuration or the provider says it. */
  readonly reported?: ReportUse;
}
