import { expect } from 'chai';
import { readEntries } from '../../builtins/catalog/entries.ts';
import { BILLED, type Billed, type Cost, type UsageFacts } from '../../host/contract/index.ts';
import { catalogOf } from './catalogs.ts';

const TOKENS = { input_per_m_tokens: 2, output_per_m_tokens: 8 };
const USAGE = { prompt_tokens: 1000, completion_tokens: 0, total_tokens: 1000 };
const OF_TOKENS = 0.002;

function costOf(mode: string, pricing: object, billed: Billed, others: object = {}): Cost {
  const cost = catalogOf({ 'acme/m': { mode, pricing }, ...others }).cost('acme', 'm', billed);
  if (!cost) throw new Error('the model is not found');
  return cost;
}

const used = (facts: UsageFacts): Billed => ({ usage: { ...USAGE, [BILLED]: facts } });
const beside = (pricing: object, billed: Billed): number =>
  Number((costOf('chat', { ...TOKENS, ...pricing }, billed).totalUsd - OF_TOKENS).toFixed(9));

describe('what costs money beside tokens', () => {
  for (const [what, pricing, facts, usd] of [
    ['each search', { web_search_per_k: 10 }, { webSearches: 3 }, 0.03],
    ['each question', { web_search_per_k: 14, web_search_unit: 'query' }, { webSearches: 3 }, 0.042],
    ['a prompt with any search', { web_search_per_k: 35, web_search_unit: 'prompt' }, { webSearches: 3 }, 0.035],
    ['a prompt without a search', { web_search_per_k: 35, web_search_unit: 'prompt' }, {}, 0],
    ['searches of files', { file_search_per_k: 2.5 }, { fileSearches: 2 }, 0.005],
    ['searches of a map', { maps_per_k: 25 }, { mapSearches: 1 }, 0.025],
    ['pages that are fetched', { web_fetch_per_k: 1 }, { webFetches: 4 }, 0.004],
    ['containers', { code_session: 0.03 }, { codeSessions: 2 }, 0.06],
    ['what has no price', {}, { webSearches: 3, codeSessions: 2 }, 0],
    ['more searches than there can be', { web_search_per_k: 10 }, { webSearches: 100_001 }, 0],
    ['as many as there can be', { web_search_per_k: 10 }, { webSearches: 100_000 }, 1000],
    ['a number below 0', { web_search_per_k: 10 }, { webSearches: -1 }, 0],
    ['what is not a number', { web_search_per_k: 10 }, { webSearches: 'many' as never }, 0],
  ] as const)
    it(`is ${what}`, () => {
      expect(beside(pricing, used(facts))).to.equal(usd);
    });

  const request = { low: 0.005, medium: 0.008, high: 0.012 };
  for (const [what, pricing, billed, usd] of [
    ['one fee for all', { request: 0.025 }, { usage: USAGE }, 0.025],
    [
      'that of the size of the answer',
      { request },
      { usage: { ...USAGE, search_context_size: 'low' }, searchSize: 'high' },
      0.005,
    ],
    ['else of the size that was asked for', { request }, { usage: USAGE, searchSize: 'medium' }, 0.008],
    ['else of the usual one', { request: { ...request, default: 'low' } }, { usage: USAGE }, 0.005],
    ['else the highest', { request }, { usage: USAGE }, 0.012],
    ['a word that is none counts as silence', { request }, { usage: USAGE, searchSize: 'toString' }, 0.012],
  ] as const)
    it(`is a fee of the call: ${what}`, () => {
      expect(beside(pricing, billed)).to.equal(usd);
    });

  it('stands in the usage itself at vendors of the common wire', () => {
    expect(beside({ web_search_per_k: 5 }, { usage: { ...USAGE, num_search_queries: 4 } })).to.equal(0.02);
    const usage = { ...USAGE, server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 } };
    expect(beside({ web_search_per_k: 5, web_fetch_per_k: 3 }, { usage })).to.equal(0.013);
  });

  it('is in the total, and in no part of it', () => {
    const cost = costOf('chat', { ...TOKENS, web_search_per_k: 10 }, used({ webSearches: 1 }));
    expect(cost).to.include({ inputUsd: OF_TOKENS, outputUsd: 0, totalUsd: 0.012 });
  });
});

describe('images by what they look like', () => {
  const images = [
    { size: '1024x1024', quality: 'low', usd: 0.01 },
    { size: '1024x1024', quality: 'high', usd: 0.17 },
    { size: '1536x1024', usd: 0.05 },
  ];
  for (const [size, quality, usd] of [
    ['1024x1024', 'low', 0.01],
    ['1024x1024', 'high', 0.17],
    ['1536x1024', 'high', 0.05],
    ['1536x1024', undefined, 0.05],
    ['auto', 'low', 0.05],
    [undefined, undefined, 0.17],
    ['1024x1024', 'auto', 0.17],
    ['99x99', 'low', 0.3],
  ] as const)
    it(`cost ${usd}: ${size} in ${quality}`, () => {
      expect(costOf('image', { images, image_per_tile: 0.3 }, { images: 2, size, quality }).totalUsd).to.equal(2 * usd);
    });

  it('have no price where none fits, and there is none for all', () => {
    expect(costOf('image', { images }, { images: 1, size: '99x99', quality: 'low' })).to.include({ priced: false });
  });

  it('go by tokens where the vendor reports those', () => {
    expect(costOf('image', { images, ...TOKENS }, { images: 1, usage: USAGE }).totalUsd).to.equal(OF_TOKENS);
  });

  it('of a tool are those of its model, else of the usual one; another model has no price for them', () => {
    const drawer = { 'acme/drawer': { mode: 'image', pricing: { images } } };
    const look = { size: '1024x1024', quality: 'low' };
    const cost = (pricing: object, model?: string): number =>
      Number(
        (
          costOf('chat', { ...TOKENS, ...pricing }, used({ toolImages: [{ model, ...look }] }), drawer).totalUsd -
          OF_TOKENS
        ).toFixed(9),
      );
    expect(cost({}, 'drawer')).to.equal(0.01);
    expect(cost({ image_tool_model: 'drawer' })).to.equal(0.01);
    expect(cost({})).to.equal(0);
    expect(cost({ image_tool_model: 'drawer' }, 'other')).to.equal(0);
  });
});

describe('other kinds of use', () => {
  for (const [mode, pricing, billed, usd] of [
    ['ocr', { pages_per_k: 2, annotated_pages_per_k: 3 }, { pages: 5 }, 0.01],
    ['ocr', { pages_per_k: 2, annotated_pages_per_k: 3 }, { pages: 5, isAnnotated: true }, 0.015],
    ['ocr', { pages_per_k: 2 }, { pages: 5, isAnnotated: true }, 0.01],
    ['rerank', { search_unit: 0.002 }, { searchUnits: 3 }, 0.006],
    ['rerank', { input_per_m_tokens: 2 }, { searchUnits: 3, usage: USAGE }, 0.002],
    ['video', { video_output_per_second: 0.1 }, { seconds: 8 }, 0.8],
    ['moderation', { input_per_m_tokens: 0 }, {}, 0],
    ['moderation', { input_per_m_tokens: 2 }, { usage: USAGE }, 0.002],
    ['audio_in', { audio_input_per_minute: 0.6, audio_minimum_seconds: 10 }, { seconds: 1 }, 0.1],
    ['audio_in', { audio_input_per_minute: 0.6, audio_minimum_seconds: 10 }, { seconds: 30 }, 0.3],
  ] as const)
    it(`${mode} by ${Object.keys(pricing).join(' and ')} of ${JSON.stringify(billed)} costs ${usd}`, () => {
      expect(costOf(mode, pricing, billed)).to.include({ priced: true });
      expect(costOf(mode, pricing, billed).totalUsd).to.be.closeTo(usd, 1e-12);
    });

  for (const [mode, billed] of [
    ['ocr', { pages: 5 }],
    ['rerank', { searchUnits: 3 }],
    ['video', { seconds: 3 }],
    ['moderation', { usage: USAGE }],
  ] as const)
    it(`${mode} without a price has none`, () => {
      expect(costOf(mode, {}, billed)).to.include({ priced: false, totalUsd: 0 });
    });
});

describe('prices that are more than a number', () => {
  const read = (pricing: object, base?: Parameters<typeof readEntries>[1]): ReturnType<typeof readEntries> =>
    readEntries({ 'acme/m': { pricing } }, base);
  const good = {
    request: { low: 1, high: 2, default: 'low' },
    web_search_unit: 'query',
    images: [{ size: '1x1', quality: 'low', usd: 1 }, { usd: 2 }],
    image_tool_model: 'drawer',
    video_output_per_second: 1,
    audio_minimum_seconds: 10,
  };

  it('are read, changed by an overlay one by one, and taken away by null', () => {
    const { entries, ignored } = read(good);
    expect(ignored).to.deep.equal([]);
    expect(entries.get('acme/m')?.pricing).to.deep.include(good);
    for (const name of Object.keys(good))
      expect(read({ [name]: null }, entries).entries.get('acme/m')?.pricing).to.not.have.property(name);
  });

  for (const [name, value] of [
    ['request', 'free'],
    ['request', -1],
    ['request', {}],
    ['request', { huge: 1 }],
    ['request', { low: 1, default: 'high' }],
    ['web_search_unit', 'day'],
    ['images', []],
    ['images', {}],
    ['images', [{ size: '1x1' }]],
    ['images', [{ size: 1, usd: 1 }]],
    ['image_tool_model', 7],
    ['video_output_per_second', 'x'],
    ['audio_minimum_seconds', 0],
    ['audio_minimum_seconds', 1e9],
  ] as const)
    it(`${name} cannot be ${JSON.stringify(value)}`, () => {
      const { entries, ignored } = read({ [name]: value });
      expect(ignored).to.deep.equal([`acme/m: pricing.${name}`]);
      expect(entries.get('acme/m')?.pricing).to.not.have.property(name);
    });
});
