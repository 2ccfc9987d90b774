import { expect } from 'chai';
import { type Billed, readUsage, type Usage } from '../../host/contract/index.ts';
import { catalogOf } from './catalogs.ts';

type Prices = Readonly<Record<string, number | null>>;

const used = (prompt_tokens: number, completion_tokens = 0, more: Partial<Usage> = {}): Billed => ({
  usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens, ...more },
});

function costOf(mode: string, pricing: Prices, billed: Billed) {
  const cost = catalogOf({ 'acme/m': { mode, pricing } }).cost('acme', 'm', billed);
  if (!cost) throw new Error('the model is not found');
  return cost;
}

describe('the cost of a chat', () => {
  const cached = { input_per_m_tokens: 2.5, output_per_m_tokens: 10, cache_read_per_m_tokens: 1.25 };

  it('bills cached tokens at their own price and leaves them out of the input', () => {
    const cost = costOf('chat', cached, used(10_000, 0, { cache_read_tokens: 8000 }));
    expect(cost).to.include({ inputUsd: 0.005, cacheReadUsd: 0.01, totalUsd: 0.015, priced: true, modelFound: true });
  });

  it('bills them as input where no cache price is known', () => {
    expect(
      costOf('chat', { ...cached, cache_read_per_m_tokens: null }, used(10_000, 0, { cache_read_tokens: 8000 })),
    ).to.include({ inputUsd: 0.025, cacheReadUsd: 0, totalUsd: 0.025 });
  });

  it('never bills less than nothing: more cached tokens than prompt tokens, more reasoning than completion', () => {
    expect(costOf('chat', cached, used(1000, 0, { cache_read_tokens: 8000 })).inputUsd).to.equal(0);
    expect(
      costOf('chat', { ...cached, reasoning_per_m_tokens: 1 }, used(0, 10, { reasoning_tokens: 50 })).outputUsd,
    ).to.equal(0);
  });

  it('adds up all classes', () => {
    const pricing = {
      input_per_m_tokens: 3,
      output_per_m_tokens: 15,
      cache_read_per_m_tokens: 0.3,
      cache_write_per_m_tokens: 3.75,
      reasoning_per_m_tokens: 15,
    };
    const cost = costOf(
      'chat',
      pricing,
      used(1_500_000, 1_000_000, {
        cache_read_tokens: 500_000,
        cache_write_tokens: 1_000_000,
        reasoning_tokens: 1_000_000,
      }),
    );
    expect(cost).to.include({
      inputUsd: 3,
      outputUsd: 0,
      cacheReadUsd: 0.15,
      cacheWriteUsd: 3.75,
      reasoningUsd: 15,
      totalUsd: 21.9,
    });
  });

  it('bills cache writes once that a vendor counts in the prompt, at their own price where there is one', () => {
    const pricing = {
      input_per_m_tokens: 2,
      output_per_m_tokens: 0,
      cache_read_per_m_tokens: 0.2,
      cache_write_per_m_tokens: 2.5,
    };
    const told = used(1_000_000, 0, {
      cache_read_tokens: 100_000,
      prompt_tokens_details: { cached_tokens: 100_000, cache_write_tokens: 800_000 },
    });
    expect(costOf('chat', pricing, told)).to.include({
      inputUsd: 0.2,
      cacheReadUsd: 0.02,
      cacheWriteUsd: 2,
      totalUsd: 2.22,
    });
    expect(costOf('chat', { ...pricing, cache_write_per_m_tokens: null }, told)).to.include({
      inputUsd: 1.8,
      cacheWriteUsd: 0,
    });
  });

  it('bills reasoning as completion where it has no price of its own', () => {
    expect(costOf('chat', cached, used(0, 1_000_000, { reasoning_tokens: 400_000 })).outputUsd).to.equal(10);
  });

  it('is what xAI bills for reasoning that it counts apart', () => {
    // Prices of Grok 4.20 and the bill, 232,856,000 ticks of a ten-billionth of a dollar. Source: Wei-Shaw/sub2api issue 5771, 2026-08-18.
    const usage = readUsage({
      prompt_tokens: 10_120,
      completion_tokens: 1499,
      total_tokens: 14_428,
      prompt_tokens_details: { cached_tokens: 128 },
      completion_tokens_details: { reasoning_tokens: 2809 },
    });
    expect(
      costOf('chat', { input_per_m_tokens: 1.25, cache_read_per_m_tokens: 0.2, output_per_m_tokens: 2.5 }, { usage })
        .totalUsd,
    ).to.equal(0.0232856);
  });

  it('is priced by the input price alone: 0 is a price, none is none', () => {
    expect(costOf('chat', { input_per_m_tokens: 0 }, used(1000, 1000))).to.include({ priced: true, totalUsd: 0 });
    expect(costOf('chat', { output_per_m_tokens: 5 }, used(1000, 1000))).to.include({
      priced: false,
      totalUsd: 0,
      modelFound: true,
    });
  });

  it('is unpriced when no tokens were reported', () => {
    expect(costOf('chat', cached, {})).to.include({ priced: false, totalUsd: 0 });
  });

  it('has no trace of binary fractions, and counts a value that is not an amount as 0', () => {
    expect(
      costOf('chat', { input_per_m_tokens: 0.1, output_per_m_tokens: 0.2 }, used(1_000_000, 1_000_000)).totalUsd,
    ).to.equal(0.3);
    expect(
      costOf('chat', cached, used(Number.NaN, -5, { cache_read_tokens: Number.POSITIVE_INFINITY })).totalUsd,
    ).to.equal(0);
  });
});

describe('the cost of other modes', () => {
  it('embeddings: by the embedding price, which an input price does not replace', () => {
    expect(costOf('embedding', { embedding_per_m_tokens: 0.02 }, used(1_000_000))).to.include({
      totalUsd: 0.02,
      priced: true,
    });
    expect(costOf('embedding', { input_per_m_tokens: 0.02 }, used(1_000_000))).to.include({
      totalUsd: 0,
      priced: false,
    });
  });

  it('images: by image, whatever the token prices', () => {
    expect(
      costOf(
        'image',
        { image_per_tile: 0.04, input_per_m_tokens: 5, output_per_m_tokens: 10 },
        { images: 2, ...used(1_000_000, 1_000_000) },
      ),
    ).to.include({ totalUsd: 0.08, priced: true });
  });

  it('images without such a price: by the tokens reported, else unpriced', () => {
    const pricing = { input_per_m_tokens: 5, output_per_m_tokens: 10 };
    expect(costOf('image', pricing, { images: 1, ...used(1_000_000, 1_000_000) })).to.include({
      totalUsd: 15,
      priced: true,
    });
    expect(costOf('image', pricing, { images: 1 })).to.include({ totalUsd: 0, priced: false });
    expect(costOf('image', pricing, { images: 1, ...used(0, 0) })).to.include({ priced: false });
    expect(costOf('image', {}, used(1, 1))).to.include({ priced: false });
  });

  it('audio: by the minute heard and by the character spoken, unpriced while neither is known', () => {
    expect(costOf('audio_in', { audio_input_per_minute: 0.006 }, { seconds: 60 })).to.include({
      totalUsd: 0.006,
      priced: true,
    });
    expect(costOf('audio_out', { audio_output_per_character: 0.00003 }, { characters: 100 })).to.include({
      totalUsd: 0.003,
      priced: true,
    });
    expect(costOf('audio_in', { audio_input_per_minute: 0.006 }, {})).to.include({ totalUsd: 0, priced: false });
    expect(costOf('audio_out', {}, { characters: 100 })).to.include({ priced: false });
  });

  it('any other mode: never priced', () => {
    expect(costOf('weather', { input_per_m_tokens: 1 }, used(1000, 1000))).to.include({
      totalUsd: 0,
      priced: false,
      modelFound: true,
    });
  });

  it('an unknown model: none', () => {
    expect(catalogOf({ 'acme/m': {} }).cost('acme', 'other', used(1))).to.equal(undefined);
  });
});

describe('a cost', () => {
  it('names the catalog it was computed with', () => {
    const catalog = catalogOf({ 'acme/m': { pricing: { input_per_m_tokens: 1 }, updated_at: '2026-02-03' } });
    expect(catalog.cost('acme', 'm', used(1))?.catalog)
      .to.equal(catalog.version)
      .and.to.match(/^2026-02-03-[0-9a-f]{12}$/);
  });
});

describe('the price strategies rank by', () => {
  it('holds what is known, and 0 as a price', () => {
    const pricing = { input_per_m_tokens: 0, output_per_m_tokens: 2, cache_read_per_m_tokens: 0.5 };
    expect(catalogOf({ 'acme/m': { pricing } }).tokenPrice('acme', 'm')).to.deep.equal({
      input: 0,
      output: 2,
      cacheRead: 0.5,
      cacheWrite: undefined,
      embedding: undefined,
      image: undefined,
      audioMinute: undefined,
      character: undefined,
    });
  });

  it('has embedding and image prices for models of that mode only', () => {
    const pricing = { embedding_per_m_tokens: 0.02, image_per_tile: 0.04 };
    const catalog = catalogOf({
      'acme/e': { mode: 'embedding', pricing },
      'acme/i': { mode: 'image', pricing },
      'acme/c': { pricing },
    });
    expect(['e', 'i', 'c'].map((model) => catalog.tokenPrice('acme', model)?.embedding)).to.deep.equal([
      0.02,
      undefined,
      undefined,
    ]);
    expect(['e', 'i', 'c'].map((model) => catalog.tokenPrice('acme', model)?.image)).to.deep.equal([
      undefined,
      0.04,
      undefined,
    ]);
    expect(catalog.tokenPrice('acme', 'x')).to.equal(undefined);
  });
});
