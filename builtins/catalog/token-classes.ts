import type { PriceName, PriceTable } from '../../host/common/prices/catalog-pricing.ts';
import { BILLED, cacheWritesIn, isFields, type Usage, type UsageKinds } from '../../host/contract/index.ts';

/** Which part of a cost a class of tokens belongs to. */
export type Part = 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'reasoning';

/** Tokens that cost the same. */
export interface TokenClass {
  readonly part: Part;
  readonly tokens: number;
  /** US dollars per million; `null` where nothing prices them. */
  readonly price: number | null;
}

/** Upstreams report all kinds of values; one that is not an amount counts as 0. */
export const count = (amount: unknown): number =>
  typeof amount === 'number' && Number.isFinite(amount) && amount > 0 ? amount : 0;

const NO_KINDS: UsageKinds = Object.freeze({});

/** What of a usage may have a price of its own; `undefined` where it says nothing of kinds. */
export function kindsOf(usage: Usage): UsageKinds | undefined {
  const input = detailsOf(usage, 'prompt_tokens_details', 'input_tokens_details');
  const output = detailsOf(usage, 'completion_tokens_details', 'output_tokens_details');
  const created = usage['cache_creation'];
  const citation = usage['citation_tokens'];
  const said = usage[BILLED];
  if (!input && !output && !created && citation === undefined) return said;
  const cached = fieldsIn(input, 'cached_tokens_details');
  return {
    audioInput: count(input?.['audio_tokens']),
    imageInput: count(input?.['image_tokens']),
    videoInput: count(input?.['video_tokens']),
    audioCached: count(cached?.['audio_tokens']),
    imageCached: count(cached?.['image_tokens']),
    audioOutput: count(output?.['audio_tokens']),
    imageOutput: count(output?.['image_tokens']),
    videoOutput: count(output?.['video_tokens']),
    citation: count(citation),
    writtenLong: longWrites(usage),
    ...said,
  };
}

/** Tokens that were written to a cache and stay there for an hour or for twelve. */
export function longWrites(usage: Usage): number {
  const said = usage[BILLED]?.writtenLong;
  if (said !== undefined) return count(said);
  const { cache_creation: created } = usage;
  if (isFields(created)) return count(created['ephemeral_1h_input_tokens']);
  const details = detailsOf(usage, 'prompt_tokens_details', 'input_tokens_details');
  return count(fieldsIn(details, 'cache_write_tokens_details')?.['ttl_12h_tokens']);
}

type Details = Readonly<Record<string, unknown>> | undefined;

function detailsOf(usage: Usage, name: string, other: string): Details {
  const found = usage[name] ?? usage[other];
  return isFields(found) ? found : undefined;
}

function fieldsIn(details: Details, name: string): Details {
  const found = details?.[name];
  return isFields(found) ? found : undefined;
}

/** Takes parts out of a whole, one after the other, and never more than is left of it. */
class Whole {
  left: number;

  constructor(tokens: number) {
    this.left = tokens;
  }

  take(tokens: number): number {
    const taken = Math.min(tokens, this.left);
    this.left -= taken;
    return taken;
  }
}

/**
 * The classes of a usage, each with its price. Together they are the prompt, what was written to a cache beside it, and the completion:
 * nothing is paid twice, and nothing is left out. See docs/catalog.md#classes-of-tokens.
 */
export function tokenClasses(prices: PriceTable, usage: Usage, model: string): readonly TokenClass[] {
  const kinds = kindsOf(usage) ?? NO_KINDS;
  return [
    ...promptClasses(prices, usage, kinds),
    ...writtenClasses(prices, usage, kinds, model),
    ...answerClasses(prices, usage, kinds),
  ];
}

/** What a kind costs; nothing is taken out of the whole for a kind without a price. */
function ofKind(prices: PriceTable, name: PriceName, tokens: number | undefined, whole: Whole): number {
  return prices[name] == null ? 0 : whole.take(count(tokens));
}

function promptClasses(prices: PriceTable, usage: Usage, kinds: UsageKinds): TokenClass[] {
  const { input_per_m_tokens: input, cache_read_per_m_tokens: read } = prices;
  const audio = prices.audio_input_per_m_tokens ?? null;
  const image = prices.image_input_per_m_tokens ?? null;
  const video = prices.video_input_per_m_tokens ?? null;
  const prompt = new Whole(count(usage.prompt_tokens));
  const cached = new Whole(prompt.take(count(usage.cache_read_tokens)));
  const heard =
    audio === null && prices.audio_cache_read_per_m_tokens == null ? 0 : cached.take(count(kinds.audioCached));
  const seen =
    image === null && prices.image_cache_read_per_m_tokens == null ? 0 : cached.take(count(kinds.imageCached));
  prompt.take(storedIn(prices, usage));
  const parts: TokenClass[] = [
    { part: 'cacheRead', tokens: heard, price: prices.audio_cache_read_per_m_tokens ?? audio },
    { part: 'cacheRead', tokens: seen, price: prices.image_cache_read_per_m_tokens ?? image },
    { part: read === null ? 'input' : 'cacheRead', tokens: cached.left, price: read ?? input },
    {
      part: 'input',
      tokens: ofKind(prices, 'audio_input_per_m_tokens', count(kinds.audioInput) - heard, prompt),
      price: audio,
    },
    {
      part: 'input',
      tokens: ofKind(prices, 'image_input_per_m_tokens', count(kinds.imageInput) - seen, prompt),
      price: image,
    },
    { part: 'input', tokens: ofKind(prices, 'video_input_per_m_tokens', kinds.videoInput, prompt), price: video },
  ];
  return [...parts, { part: 'input', tokens: prompt.left, price: input }];
}

/** Writes that the vendor counts in the prompt, where they have a price of their own. */
const storedIn = (prices: PriceTable, usage: Usage): number =>
  prices.cache_write_per_m_tokens === null ? 0 : cacheWritesIn(usage);

/** Models of Anthropic write for an hour at twice the price of the prompt, where nothing else is said. Source: platform.claude.com, "Pricing", 2026-11-26. */
const LONG_AS_INPUT = 2;
const IS_CLAUDE = /claude/;

function writtenClasses(prices: PriceTable, usage: Usage, kinds: UsageKinds, model: string): TokenClass[] {
  const { cache_write_per_m_tokens: short, input_per_m_tokens: input } = prices;
  const written = new Whole(count(usage.cache_write_tokens) + storedIn(prices, usage));
  const ofClaude = IS_CLAUDE.test(model) && input !== null ? input * LONG_AS_INPUT : short;
  return [
    {
      part: 'cacheWrite',
      tokens: written.take(count(kinds.writtenLong)),
      price: prices.cache_write_long_per_m_tokens ?? ofClaude,
    },
    { part: 'cacheWrite', tokens: written.left, price: short },
  ];
}

function answerClasses(prices: PriceTable, usage: Usage, kinds: UsageKinds): TokenClass[] {
  const { output_per_m_tokens: output, reasoning_per_m_tokens: reasoning } = prices;
  const answer = new Whole(count(usage.completion_tokens));
  const thought = reasoning === null ? 0 : answer.take(count(usage.reasoning_tokens));
  const kind = (name: PriceName, tokens: number | undefined): TokenClass => ({
    part: 'output',
    tokens: ofKind(prices, name, tokens, answer),
    price: prices[name] ?? null,
  });
  const parts: TokenClass[] = [
    { part: 'reasoning', tokens: thought, price: reasoning },
    kind('audio_output_per_m_tokens', kinds.audioOutput),
    kind('image_output_per_m_tokens', kinds.imageOutput),
    kind('video_output_per_m_tokens', kinds.videoOutput),
    kind('citation_per_m_tokens', kinds.citation),
  ];
  return [...parts, { part: 'output', tokens: answer.left, price: output }];
}

/** The length by which a line is chosen: all of the prompt, with what was written to a cache beside it. */
export const inputOf = ({ prompt_tokens: prompt, cache_write_tokens: beside }: Usage): number =>
  count(prompt) + count(beside);
