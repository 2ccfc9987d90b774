/** What is billed by its number beside tokens: searches, containers, fees of calls, images, pages. See docs/catalog.md#counts-beside-tokens. */
import type {
  CatalogPricing,
  ImagePrice,
  PriceTable,
  SearchUnit,
  SizedFee,
} from '../../host/common/prices/catalog-pricing.ts';
import { type Billed, BILLED, isFields, type ToolCounts, type Usage } from '../../host/contract/index.ts';

/** Prices of images of another model, which a tool may use; `undefined` where nothing prices them. */
export type ImageRates = (model: string) => CatalogPricing | undefined;

/** More than this is a mistake of the vendor, and is not believed. */
const MOST_COUNTED = 100_000;

/** A number of things as a vendor reports it; 0 for what cannot be one. */
export const counted = (value: unknown): number =>
  typeof value === 'number' && value > 0 && value <= MOST_COUNTED ? value : 0;

const NO_COUNTS: ToolCounts = Object.freeze({});

/**
 * How often tools of the vendor worked, also where a vendor of the common wire says it in the usage itself. Sources: Perplexity API
 * reference, "Chat completions", `num_search_queries`; openrouter.ai, "Usage accounting", `server_tool_use`; 2026-11-27.
 */
export function toolCounts(usage: Usage): ToolCounts {
  const said = usage[BILLED];
  const { num_search_queries: queries, server_tool_use: used } = usage;
  if (queries === undefined && used === undefined) return said ?? NO_COUNTS;
  const { web_search_requests: requests, web_fetch_requests: fetches } = isFields(used) ? used : {};
  return { webSearches: counted(requests) || counted(queries), webFetches: counted(fetches), ...said };
}

/** US dollars of everything but tokens that an answer of a chat is billed for. Without a price it costs nothing. */
export function besideTokens(
  pricing: CatalogPricing,
  prices: PriceTable,
  { usage, searchSize }: Billed,
  imagesOf: ImageRates,
): number {
  if (!usage) return 0;
  const counts = toolCounts(usage);
  const fee = pricing.request === undefined ? 0 : feeOf(pricing.request, usage['search_context_size'] ?? searchSize);
  if (counts === NO_COUNTS) return fee;
  const thousands = (price: number | undefined, count: unknown): number => ((price ?? 0) * counted(count)) / 1000;
  return (
    fee +
    thousands(prices.web_search_per_k, searches(counts.webSearches, pricing.web_search_unit)) +
    thousands(prices.file_search_per_k, counts.fileSearches) +
    thousands(prices.maps_per_k, counts.mapSearches) +
    thousands(prices.web_fetch_per_k, counts.webFetches) +
    (prices.code_session ?? 0) * counted(counts.codeSessions) +
    toolImages(pricing, counts, imagesOf)
  );
}

/** A vendor that bills prompts does not ask how often each of them has searched. */
const searches = (count: unknown, unit: SearchUnit = 'call'): number =>
  unit === 'prompt' ? Math.min(counted(count), 1) : counted(count);

/** The fee of a call: of the size that is named, else of the usual one, else the highest. */
export function feeOf(fee: number | SizedFee, size?: unknown): number {
  if (typeof fee === 'number') return fee;
  const { default: usual, ...sizes } = fee;
  const named = [size, usual].find(
    (word): word is keyof typeof sizes => typeof word === 'string' && Object.hasOwn(sizes, word),
  );
  return named === undefined ? Object.values(sizes).reduce(dearer, 0) : (sizes[named] ?? 0);
}

function toolImages(pricing: CatalogPricing, { toolImages: made }: ToolCounts, imagesOf: ImageRates): number {
  if (!made) return 0;
  return made.slice(0, MOST_COUNTED).reduce((sum, { model = pricing.image_tool_model, size, quality }) => {
    const rates = model === undefined ? undefined : imagesOf(model);
    return sum + (rates ? (imagePrice(rates, { size, quality }) ?? 0) : 0);
  }, 0);
}

type Look = Pick<ImagePrice, 'size' | 'quality'>;

/**
 * US dollars of one image; `undefined` where nothing prices it. `auto` and silence fit every row, and of several that fit the dearest
 * counts.
 */
export function imagePrice(
  { images, image_per_tile: tile }: Pick<CatalogPricing, 'images' | 'image_per_tile'>,
  { size, quality }: { readonly [name in keyof Look]: Look[name] | undefined },
): number | undefined {
  const fits = (own: string | undefined, asked: string | undefined): boolean =>
    own === undefined || asked === undefined || asked === 'auto' || own === asked;
  const fitting = (images ?? NO_ROWS).filter((row) => fits(row.size, size) && fits(row.quality, quality));
  return fitting.length > 0 ? fitting.map(({ usd }) => usd).reduce(dearer) : (tile ?? undefined);
}

const NO_ROWS: readonly ImagePrice[] = [];
const dearer = (one: number, other: number): number => Math.max(one, other);
