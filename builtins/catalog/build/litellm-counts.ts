import type { ImagePrice, SizedFee } from '../../../host/common/prices/catalog-pricing.ts';
import { isFields, setMember } from '../../../host/contract/index.ts';

type Source = Readonly<Record<string, unknown>>;
type Counts = Record<string, unknown>;

/** Models that search for every answer, so that the fee is one of the call. */
const ALWAYS_SEARCHES = /search-preview|(^|\/)sonar(?!-deep)/;

/** What the source says of a model's prices for searches, containers, pages and images; `name` is its key there. */
export function countPrices(given: Source, name: string, source: Source): Counts {
  return { ...searchPrices(given, name), ...imageRows(name, source) };
}

function searchPrices(given: Source, name: string): Counts {
  const counts: Counts = {};
  const put = (member: string, value: unknown, times: number): void => {
    if (typeof value === 'number' && value > 0) setMember(counts, member, rounded(value * times));
  };
  const fees = feesOf(given['search_context_cost_per_query']);
  const [fee] = Object.values(fees);
  if (ALWAYS_SEARCHES.test(name) && fee !== undefined)
    counts['request'] = new Set(Object.values(fees)).size === 1 ? fee : { ...fees, default: 'low' };
  else if (fee !== undefined) {
    put('web_search_per_k', Object.values(fees).reduce(dearer, 0), 1000);
    const unit = unitOf(given);
    if (unit !== undefined) counts['web_search_unit'] = unit;
  }
  put('maps_per_k', given['google_maps_grounding_cost_per_query'], 1000);
  put('code_session', given['code_interpreter_cost_per_session'], 1);
  put('file_search_per_k', given['file_search_cost_per_1k_calls'], 1);
  return counts;
}

type Fees = { -readonly [size in keyof Omit<SizedFee, 'default'>]?: number };

function feesOf(value: unknown): Fees {
  const fees: Fees = {};
  if (isFields(value))
    for (const size of ['low', 'medium', 'high'] as const) {
      const fee = value[`search_context_size_${size}`];
      if (typeof fee === 'number' && fee > 0) setMember<number | undefined>(fees, size, fee);
    }
  return fees;
}

/** Google bills the questions of its newer models, and of the older ones each prompt. Source: ai.google.dev, "Gemini Developer API pricing", 2026-11-27. */
function unitOf({ litellm_provider: provider, web_search_billing_unit: unit }: Source): string | undefined {
  if (unit === 'per_query') return 'query';
  return typeof provider === 'string' && /^(gemini|vertex_ai-language)/.test(provider) ? 'prompt' : undefined;
}

const IMAGE_KEY = /^([a-z]+)\/(\d+)-x-(\d+)\/(.+)$/;
/** A word of an older model, which newer ones have no price for. */
const SKIPPED = new Set(['standard', 'auto']);

function imageRows(name: string, source: Source): { readonly images?: readonly ImagePrice[] } {
  const images = Object.entries(source).flatMap(([key, given]): ImagePrice[] => {
    const [, quality = '', width, height, model] = IMAGE_KEY.exec(key) ?? [];
    if (model !== name || SKIPPED.has(quality) || !isFields(given)) return [];
    const usd = given['output_cost_per_image'] ?? given['input_cost_per_image'];
    return typeof usd === 'number' && usd > 0 ? [{ size: `${width}x${height}`, quality, usd: rounded(usd) }] : [];
  });
  return images.length > 0 ? { images } : {};
}

const rounded = (price: number): number => Number(price.toPrecision(10));
const dearer = (one: number, other: number): number => Math.max(one, other);
