/**
 * Ten vendors that bill as the sources of the shipped data say: prices are those of LiteLLM 1.110.2 and of genai-prices 0.1.8, which
 * name the pages; how they are applied is written here anew, in whole numbers, and shares nothing with the gateway.
 */
import type { Dice } from '../kit/random.ts';

/** Millionths of a US dollar for a million tokens: whole numbers for all prices of a page. */
type Price = number;

interface Prices {
  readonly input: Price;
  readonly output: Price;
  readonly cached: Price;
  /** Writes to the cache, for five minutes and for an hour. */
  readonly written?: Price;
  readonly long?: Price;
  readonly audio?: Price;
  readonly audioCached?: Price;
}

/** What was used, in words of no vendor. */
export interface Use {
  /** All of the prompt, without what was written to a cache. */
  readonly prompt: number;
  readonly cached: number;
  readonly written: number;
  readonly long: number;
  readonly audio: number;
  readonly audioCached: number;
  readonly completion: number;
  readonly tier: string;
  readonly isUs: boolean;
}

export interface Biller {
  readonly provider: string;
  readonly model: string;
  /** The wire that it answers in. */
  readonly wire: 'common' | 'gemini' | 'anthropic';
  readonly tiers: readonly string[];
  /** Tokens about which lengths of prompts are worth a try. */
  readonly edge: number;
  readonly prices: (use: Use) => Prices;
}

const usd = (dollars: number): Price => Math.round(dollars * 1e6);
const page = (input: number, cached: number, output: number): Prices => ({
  input: usd(input),
  cached: usd(cached),
  output: usd(output),
});
const flat =
  (...prices: Parameters<typeof page>): Biller['prices'] =>
  () =>
    page(...prices);

/** The page of GPT-5.4: long above 272,000 tokens, flexible at half, priority at twice. */
const gpt54 =
  (cachedOfFlex: number): Biller['prices'] =>
  ({ prompt, tier }) => {
    const isLong = prompt > 272_000;
    if (tier === 'flex') return isLong ? page(2.5, 0.25, 11.25) : page(1.25, cachedOfFlex, 7.5);
    if (tier === 'priority') return isLong ? page(10, 1, 45) : page(5, 0.5, 30);
    return isLong ? page(5, 0.5, 22.5) : page(2.5, 0.25, 15);
  };

export const BILLERS: readonly Biller[] = [
  {
    provider: 'openai',
    model: 'gpt-5.4',
    wire: 'common',
    tiers: ['flex', 'priority'],
    edge: 272_000,
    prices: gpt54(0.13),
  },
  {
    provider: 'azure-openai',
    model: 'gpt-5.4',
    wire: 'common',
    tiers: ['flex', 'priority'],
    edge: 272_000,
    prices: gpt54(0.25),
  },
  {
    provider: 'gemini',
    model: 'gemini-2.5-pro',
    wire: 'gemini',
    tiers: ['flex', 'priority'],
    edge: 200_000,
    prices: ({ prompt, tier }) => {
      const isLong = prompt > 200_000;
      if (tier === 'flex') return isLong ? page(1.25, 0.25, 7.5) : page(0.625, 0.125, 5);
      if (tier === 'priority') return isLong ? page(4.5, 0.45, 27) : page(2.25, 0.225, 18);
      return isLong ? page(2.5, 0.25, 15) : page(1.25, 0.125, 10);
    },
  },
  {
    provider: 'gemini',
    model: 'gemini-2.5-flash',
    wire: 'gemini',
    tiers: ['flex', 'priority'],
    edge: 1000,
    prices: ({ tier }) => {
      if (tier === 'flex') return { ...page(0.15, 0.03, 1.25), audio: usd(0.5), audioCached: usd(0.1) };
      if (tier === 'priority') return { ...page(0.54, 0.054, 4.5), audio: usd(1.8), audioCached: usd(0.18) };
      return { ...page(0.3, 0.03, 2.5), audio: usd(1), audioCached: usd(0.1) };
    },
  },
  {
    provider: 'anthropic',
    model: 'claude-sonnet-4-6',
    wire: 'anthropic',
    tiers: [],
    edge: 200_000,
    prices: ({ isUs }) =>
      isUs
        ? { ...page(3.3, 0.33, 16.5), written: usd(4.125), long: usd(6.6) }
        : { ...page(3, 0.3, 15), written: usd(3.75), long: usd(6) },
  },
  {
    provider: 'xai',
    model: 'grok-4.3',
    wire: 'common',
    tiers: [],
    edge: 200_000,
    prices: ({ prompt }) => (prompt >= 200_000 ? page(2.5, 0.4, 5) : page(1.25, 0.2, 2.5)),
  },
  {
    provider: 'groq',
    model: 'openai/gpt-oss-120b',
    wire: 'common',
    tiers: ['flex'],
    edge: 1000,
    prices: flat(0.15, 0.075, 0.6),
  },
  { provider: 'moonshot', model: 'kimi-k2.5', wire: 'common', tiers: [], edge: 1000, prices: flat(0.6, 0.1, 3) },
  { provider: 'mistral', model: 'mistral-large-latest', wire: 'common', tiers: [], edge: 1000, prices: flat(2, 2, 6) },
  {
    provider: 'fireworks',
    model: 'accounts/fireworks/models/kimi-k2p6',
    wire: 'common',
    tiers: [],
    edge: 1000,
    prices: flat(0.95, 0.16, 4),
  },
  {
    provider: 'cerebras',
    model: 'gpt-oss-120b',
    wire: 'common',
    tiers: [],
    edge: 1000,
    prices: flat(0.35, 0.35, 0.75),
  },
];

/** Millionths of a micro-dollar, whole: each token at one price, and none twice. */
export function invoice({ prices }: Biller, use: Use): number {
  const { input, output, cached, written = 0, long = 0, audio, audioCached } = prices(use);
  const heard = audio === undefined ? 0 : use.audio;
  const heardCached = audio === undefined ? 0 : use.audioCached;
  return (
    (use.prompt - use.cached - (heard - heardCached)) * input +
    (heard - heardCached) * (audio ?? 0) +
    heardCached * (audioCached ?? 0) +
    (use.cached - heardCached) * cached +
    (use.written - use.long) * written +
    use.long * long +
    use.completion * output
  );
}

export function useOf(dice: Dice, { edge, tiers, wire }: Biller): Use {
  const length = dice.pick([dice.below(2000), edge - 1, edge, edge + 1, edge + dice.below(edge)]);
  const cached = dice.pick([0, dice.below(length + 1)]);
  const audioCached = wire === 'gemini' ? dice.pick([0, dice.below(cached + 1)]) : 0;
  const audio = wire === 'gemini' ? audioCached + dice.pick([0, dice.below(length - cached + 1)]) : 0;
  const written = wire === 'anthropic' ? dice.pick([0, dice.below(9000)]) : 0;
  return {
    prompt: Math.max(length, 1),
    cached,
    written,
    long: dice.pick([0, written, dice.below(written + 1)]),
    audio,
    audioCached,
    completion: 1 + dice.below(4000),
    tier: dice.pick(['', ...tiers]),
    isUs: wire === 'anthropic' && dice.below(2) === 0,
  };
}

const TRAFFIC: Readonly<Record<string, string>> = { flex: 'ON_DEMAND_FLEX', priority: 'ON_DEMAND_PRIORITY' };

/** The answer that a vendor gives for such a use, in its own wire. */
export function answerOf({ wire }: Biller, use: Use): object {
  const { prompt, cached, completion, tier } = use;
  if (wire === 'anthropic')
    return {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'x' }],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: prompt - cached,
        output_tokens: completion,
        cache_read_input_tokens: cached,
        cache_creation_input_tokens: use.written,
        cache_creation: { ephemeral_5m_input_tokens: use.written - use.long, ephemeral_1h_input_tokens: use.long },
        service_tier: 'standard',
        inference_geo: use.isUs ? 'us' : 'global',
      },
    };
  if (wire === 'gemini')
    return {
      candidates: [{ content: { role: 'model', parts: [{ text: 'x' }] }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: prompt,
        candidatesTokenCount: completion,
        totalTokenCount: prompt + completion,
        cachedContentTokenCount: cached,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: prompt - use.audio },
          { modality: 'AUDIO', tokenCount: use.audio },
        ],
        cacheTokensDetails: [
          { modality: 'TEXT', tokenCount: cached - use.audioCached },
          { modality: 'AUDIO', tokenCount: use.audioCached },
        ],
        trafficType: TRAFFIC[tier] ?? 'ON_DEMAND',
      },
    };
  return {
    id: 'c',
    object: 'chat.completion',
    ...(tier !== '' && { service_tier: tier }),
    choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: cached },
    },
  };
}
