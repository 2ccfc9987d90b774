import type { PriceConditions, PriceLine, PriceName } from '../../../host/common/prices/catalog-pricing.ts';
import { isFields, setMember } from '../../../host/contract/index.ts';
import { countPrices } from './litellm-counts.ts';

/** What the source says of one of our models: its base prices, to be compared, and what it has beside them. */
export interface Tiered {
  readonly input: number;
  readonly output: number;
  /** Prices of kinds of tokens that differ from those of the rest, of what is billed by its number, and lines. */
  readonly pricing: Readonly<Record<string, unknown>>;
}

type Source = Readonly<Record<string, unknown>>;
type Prices = Partial<Record<PriceName, number>>;

/** Names of prices in the source, and ours. */
const NAMES: Readonly<Record<string, PriceName>> = {
  input_cost_per_token: 'input_per_m_tokens',
  output_cost_per_token: 'output_per_m_tokens',
  cache_read_input_token_cost: 'cache_read_per_m_tokens',
  cache_creation_input_token_cost: 'cache_write_per_m_tokens',
  cache_creation_input_token_cost_above_1hr: 'cache_write_long_per_m_tokens',
  cache_creation_input_token_cost_above_12hr: 'cache_write_long_per_m_tokens',
  input_cost_per_audio_token: 'audio_input_per_m_tokens',
  output_cost_per_audio_token: 'audio_output_per_m_tokens',
  cache_read_input_audio_token_cost: 'audio_cache_read_per_m_tokens',
  input_cost_per_image_token: 'image_input_per_m_tokens',
  output_cost_per_image_token: 'image_output_per_m_tokens',
  cache_read_input_image_token_cost: 'image_cache_read_per_m_tokens',
  input_cost_per_video_token: 'video_input_per_m_tokens',
  output_cost_per_video_token: 'video_output_per_m_tokens',
};

/** Kinds, and the price that one without its own has. One that costs what the rest does needs none. */
const KINDS: readonly (readonly [kind: PriceName, rest: PriceName])[] = [
  ['cache_write_long_per_m_tokens', 'cache_write_per_m_tokens'],
  ['audio_input_per_m_tokens', 'input_per_m_tokens'],
  ['audio_output_per_m_tokens', 'output_per_m_tokens'],
  ['audio_cache_read_per_m_tokens', 'cache_read_per_m_tokens'],
  ['image_input_per_m_tokens', 'input_per_m_tokens'],
  ['image_output_per_m_tokens', 'output_per_m_tokens'],
  ['image_cache_read_per_m_tokens', 'cache_read_per_m_tokens'],
  ['video_input_per_m_tokens', 'input_per_m_tokens'],
  ['video_output_per_m_tokens', 'output_per_m_tokens'],
];

/** Tiers in the source, and as answers name them. */
const TIERS: Readonly<Record<string, string>> = {
  priority: 'priority',
  flex: 'flex',
  batches: 'batch',
  ultrafast: 'ultrafast',
  balanced: 'balanced',
};

const PRICE = new RegExp(`^(${Object.keys(NAMES).join('|')})(?:_above_(\\d+)k_tokens)?(?:_([a-z]+))?$`);

/** Vendors that price a prompt which reaches the threshold as one above it. Sources: docs.x.ai, "Models and pricing"; aws.amazon.com, "Bedrock pricing", OpenAI models; 2026-11-26. */
const REACHES = /^(xai|bedrock)\//;

/** Where the source keeps a model of ours. */
export function sourceKey(key: string): string {
  const slash = key.indexOf('/');
  const [provider, id] = [key.slice(0, slash), key.slice(slash + 1)];
  return BARE.has(provider) ? id : `${provider}/${id}`;
}

/** Providers whose models the source knows without a prefix, and what it calls them. */
const BARE = new Set(['openai', 'anthropic', 'vertex_ai', 'bedrock']);
const OWNERS: Readonly<Record<string, RegExp>> = {
  openai: /^openai$/,
  azure: /^azure$/,
  anthropic: /^anthropic$/,
  gemini: /^gemini$/,
  vertex_ai: /^vertex_ai-language-models$/,
  xai: /^xai$/,
  bedrock: /^bedrock/,
  groq: /^groq$/,
  perplexity: /^perplexity$/,
};

/** What the source has of a model of ours that has more than one price for all; `undefined` for all others. */
export function tieredModel(key: string, source: Source): Tiered | undefined {
  const provider = key.slice(0, key.indexOf('/'));
  const given = source[sourceKey(key)];
  const owner = isFields(given) ? given['litellm_provider'] : undefined;
  if (!isFields(given) || typeof owner !== 'string' || !OWNERS[provider]?.test(owner)) return undefined;
  const rows = rowsOf(given, key);
  const base = rows.get('')?.prices ?? {};
  const { input_per_m_tokens: input = 0, output_per_m_tokens: output = 0 } = base;
  if (input === 0) return undefined;
  const lines = [...[...rows].flatMap(([id, row]) => (id === '' ? [] : lineOf(row, base))), ...factors(given)];
  const pricing = {
    ...kindsOf(base),
    ...countPrices(given, sourceKey(key), source),
    ...(lines.length > 0 && { lines }),
  };
  return Object.keys(pricing).length > 0 ? { input, output, pricing } : undefined;
}

interface Row {
  readonly when: PriceConditions;
  readonly prices: Prices;
}

/** The prices of a model by what they ask for; the base asks for nothing. */
function rowsOf(given: Source, key: string): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>();
  for (const [field, value] of Object.entries(given)) {
    const [, name = '', above, tier] = PRICE.exec(field) ?? [];
    const price = NAMES[name];
    const isKnown = tier === undefined || Object.hasOwn(TIERS, tier);
    if (!price || !isKnown || typeof value !== 'number' || value < 0) continue;
    const when = {
      ...(above !== undefined && { input_above: Number(above) * 1000 - (REACHES.test(key) ? 1 : 0) }),
      ...(tier !== undefined && { service_tier: TIERS[tier] }),
    };
    const id = JSON.stringify(when) === '{}' ? '' : JSON.stringify(when);
    const row = rows.get(id) ?? { when, prices: {} };
    setMember<number | undefined>(row.prices, price, perMillion(value));
    rows.set(id, row);
  }
  return rows;
}

/** What differs from the base; of a row with two conditions everything, because the product of others may differ. */
function lineOf({ when, prices }: Row, base: Prices): PriceLine[] {
  const isPair = Object.keys(when).length > 1;
  const set = Object.fromEntries(
    Object.entries(prices).filter(([name, price]) => isPair || base[name as PriceName] !== price),
  );
  return Object.keys(set).length > 0 ? [{ when, set }] : [];
}

function kindsOf(base: Prices): Prices {
  const kinds = KINDS.flatMap(([kind, rest]) =>
    base[kind] === undefined || base[kind] === base[rest] ? [] : [[kind, base[kind]] as const],
  );
  return Object.fromEntries(kinds);
}

/** Factors for a faster mode and for one region. */
function factors({ provider_specific_entry: given }: Source): PriceLine[] {
  if (!isFields(given)) return [];
  const { fast, us } = given;
  return [
    ...(typeof fast === 'number' && fast !== 1 ? [{ when: { speed: 'fast' }, times: fast }] : []),
    ...(typeof us === 'number' && us !== 1 ? [{ when: { region: 'us' }, times: us }] : []),
  ];
}

const perMillion = (price: number): number => Number((price * 1e6).toPrecision(10));
