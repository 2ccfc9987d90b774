import { isFields } from '../../host/contract/json/fields.ts';
import type { CatalogPricing } from '../../host/common/prices/catalog-pricing.ts';

type ToolPrice = 'web_search_per_k' | 'web_fetch_per_k' | 'file_search_per_k' | 'maps_per_k' | 'code_session';

/** How often a tool of the vendor may be used, and what that has a price by. */
export interface ToolUse {
  readonly price: ToolPrice;
  readonly uses: number;
}

/** Uses of a tool that a request sets no bound for. */
const UNDECLARED = 10;

/** Tools by the beginning of their `type`: OpenAI's Responses API and Anthropic's Messages API. */
const BY_TYPE: readonly (readonly [begins: string, price: ToolPrice])[] = [
  ['web_search', 'web_search_per_k'],
  ['web_fetch', 'web_fetch_per_k'],
  ['file_search', 'file_search_per_k'],
  ['code_interpreter', 'code_session'],
];
/** Tools by their member: the Gemini API, by both forms of its names. */
const BY_MEMBER: readonly (readonly [member: string, price: ToolPrice])[] = [
  ['google_search', 'web_search_per_k'],
  ['googleSearch', 'web_search_per_k'],
  ['google_search_retrieval', 'web_search_per_k'],
  ['googleSearchRetrieval', 'web_search_per_k'],
  ['google_maps', 'maps_per_k'],
  ['googleMaps', 'maps_per_k'],
];

/** The vendor's tools that a body asks for: each is paid for by its uses, beside tokens. */
export function toolUses(body: unknown): readonly ToolUse[] {
  if (!isFields(body)) return NONE;
  const tools: readonly unknown[] = Array.isArray(body['tools']) ? body['tools'] : NONE;
  const found = tools.flatMap((tool) => (isFields(tool) ? usesOf(tool) : []));
  return body['web_search_options'] === undefined ? found : [...found, { price: 'web_search_per_k', uses: UNDECLARED }];
}

const NONE: readonly never[] = Object.freeze([]);

function usesOf(tool: Readonly<Record<string, unknown>>): readonly ToolUse[] {
  const { type, max_uses: most } = tool;
  const uses = typeof most === 'number' && most >= 0 ? most : UNDECLARED;
  const typed = typeof type === 'string' ? BY_TYPE.filter(([begins]) => type.startsWith(begins)) : NONE;
  const named = BY_MEMBER.filter(([member]) => tool[member] !== undefined);
  return [...typed, ...named].map(([, price]) => ({ price, uses }));
}

/** What the uses cost at most, by the prices of one model, in micro-dollars. */
export function toolAmount(uses: readonly ToolUse[], pricing: CatalogPricing): number {
  return uses.reduce((sum, { price, uses: count }) => {
    const each = pricing[price] ?? 0;
    return sum + each * count * (price === 'code_session' ? 1e6 : 1e3); // the others are for a thousand
  }, 0);
}
