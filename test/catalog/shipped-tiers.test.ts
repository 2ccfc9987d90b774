import { expect } from 'chai';
import { linedByHand, readCurated, untiered } from '../../builtins/catalog/build/make.ts';
import { tieredModel } from '../../builtins/catalog/build/litellm.ts';
import { disagreements, disputedLines, readTiers } from '../../builtins/catalog/build/tiers.ts';
import { loadCatalog, readBundle } from '../../builtins/catalog/load.ts';
import type { PriceConditions } from '../../host/common/prices/catalog-pricing.ts';
import { BILLED, type Usage, type UsageFacts } from '../../host/contract/index.ts';
import { CHAINS } from './catalogs.ts';

const NOON = Date.parse('2026-11-27T12:00:00Z');
const { catalog, entries } = loadCatalog(await readBundle(), undefined, { chains: CHAINS });

const costOf = (key: string, usage: Partial<Usage>, facts?: UsageFacts, at = NOON): object | undefined =>
  catalog.cost(
    key.slice(0, key.indexOf('/')),
    key.slice(key.indexOf('/') + 1),
    { usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, ...usage, ...(facts && { [BILLED]: facts }) } },
    at,
  );

/** A moment at which a line holds that asks for a day or an hour. */
const momentOf = ({ from = '2026-11-27', utc: [hour] = ['12:00', ''] }: PriceConditions): number =>
  Date.parse(`${from}T${hour}:00Z`);

/** Models whose price is disputed, so that they have no tiers. A person looks at the vendor's page and settles it in `curated.json`. */
const DISPUTED = [
  'azure/gpt-image-1',
  'bedrock/anthropic.claude-fable-5',
  'bedrock/anthropic.claude-fable-5-1',
  'bedrock/anthropic.claude-haiku-4-5-20251001-v1:0',
  'bedrock/anthropic.claude-opus-5',
  'bedrock/anthropic.claude-opus-5-5',
  'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0',
  'bedrock/jp.amazon.nova-2-lite-v1:0',
  'openai/gpt-4o-mini-tts',
  'openai/gpt-image-1',
  'openai/gpt-image-1-mini',
  'openai/gpt-image-2',
  'openai/gpt-image-2-2026-04-21',
  'xai/grok-code-fast',
  'xai/grok-code-fast-1',
  'xai/grok-code-fast-1-0825',
];

/** Lines that the sources price differently; the price package's counts. */
const DISPUTED_LINES: readonly string[] = [];

describe('the tiers that ship', () => {
  it('are of models of which both sources state one base price; the others are these', () => {
    const curated = readCurated();
    expect(disagreements(untiered(curated), readTiers(), linedByHand(curated))).to.deep.equal(DISPUTED);
  });

  it('are priced alike by both sources where both have a line of one condition, but for these', () => {
    const curated = readCurated();
    expect(disputedLines(untiered(curated), readTiers(), linedByHand(curated))).to.deep.equal(DISPUTED_LINES);
  });

  it('cost no less than a tenth of the base price, and no more than twenty times that', () => {
    const wrong: string[] = [];
    for (const [key, { pricing }] of entries)
      for (const { when, set, times = 1 } of pricing.lines ?? []) {
        if (times < 0.1 || times > 20) wrong.push(`${key} ${JSON.stringify(when)}: ${times}`);
        for (const [name, price] of Object.entries(set ?? {})) {
          const own = pricing[name as keyof typeof set];
          const base = own ?? (pricing.input_per_m_tokens ?? 0) / 5; // cached tokens of what has no price for them are cheaper
          if (price < base / 10 || price > base * 20) wrong.push(`${key} ${JSON.stringify(when)} ${name}: ${price}`);
        }
      }
    expect(wrong).to.deep.equal([]);
  });

  it('set prices that the model has', () => {
    const wrong = [...entries].flatMap(([key, { pricing }]) =>
      (pricing.lines ?? []).flatMap(({ set = {} }) =>
        Object.keys(set).flatMap((name) =>
          ['input_per_m_tokens', 'output_per_m_tokens'].includes(name) && pricing[name as 'input_per_m_tokens'] === null
            ? [`${key} ${name}`]
            : [],
        ),
      ),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('have names that differ within a model', () => {
    for (const [key, { pricing }] of entries) {
      const named = (pricing.lines ?? []).map(({ when }) => {
        const { service_tier: tier, speed, region, input_above: above } = when;
        return costOf(key, { prompt_tokens: (above ?? 0) + 1 }, { tier, speed, region }, momentOf(when));
      });
      const ids = named.map((cost) => (cost as { readonly line: string }).line);
      const low = (pricing.lines ?? []).map(({ when }) => JSON.stringify(when));
      expect(new Set(low).size, key).to.equal(low.length);
      for (const id of ids) expect(id, key).to.not.equal('standard');
    }
  });

  for (const [key, lines] of [
    ['openai/gpt-5.4', ['above272000', 'priority', 'flex']],
    ['gemini/gemini-2.5-pro', ['above200000', 'priority', 'flex']],
    ['gemini/gemini-2.5-flash', ['priority', 'flex']],
    ['vertex_ai/gemini-2.5-pro', ['above200000', 'priority', 'flex']],
    ['xai/grok-4.3', ['above199999']],
    ['anthropic/claude-sonnet-4-6', ['batch', 'standard*us']],
    ['gemini/gemini-3.8-flash', ['from2027-01-01', 'from2027-01-01+priority', 'flex']],
    ['deepseek/deepseek-v4-pro', ['utc0100', 'utc0600']],
  ] as const)
    it(`are the lines that the vendor publishes for ${key}`, () => {
      for (const line of lines) {
        const parts = line.split('+');
        const above = parts.flatMap((part) => /^above(\d+)/.exec(part)?.[1] ?? [])[0];
        const from = parts.flatMap((part) => /^from(.+)/.exec(part)?.[1] ?? [])[0];
        const hour = parts.flatMap((part) => /^utc(\d\d)/.exec(part)?.[1] ?? [])[0];
        const facts = line.includes('*') ? { region: 'us' } : { tier: parts.find((part) => /^[a-z]+$/.test(part)) };
        const at = Date.parse(`${from ?? '2026-11-27'}T${hour ?? '12'}:00:00Z`);
        expect(costOf(key, { prompt_tokens: Number(above ?? 0) + 1 }, facts, at), line).to.include({ line });
      }
    });

  // as LiteLLM 1.110.2 and genai-prices 0.1.8 have the pages of the vendors
  for (const [what, key, usage, facts, usd, line] of [
    [
      'a long prompt with cached tokens',
      'openai/gpt-5.4',
      { prompt_tokens: 300_000, cache_read_tokens: 200_000, completion_tokens: 1000 },
      {},
      0.6225,
      'above272000',
    ],
    [
      'the same, flexible',
      'openai/gpt-5.4',
      { prompt_tokens: 300_000, cache_read_tokens: 200_000, completion_tokens: 1000 },
      { tier: 'flex' },
      0.31125,
      'above272000+flex',
    ],
    ['a prompt as long as the threshold', 'openai/gpt-5.4', { prompt_tokens: 272_000 }, {}, 0.68, 'standard'],
    ['a token more', 'openai/gpt-5.4', { prompt_tokens: 272_001 }, {}, 1.360005, 'above272000'],
    [
      'a long prompt',
      'gemini/gemini-2.5-pro',
      { prompt_tokens: 300_000, completion_tokens: 1000 },
      {},
      0.765,
      'above200000',
    ],
    [
      'writes for an hour',
      'anthropic/claude-sonnet-4-6',
      { prompt_tokens: 10_000, completion_tokens: 500, cache_write_tokens: 4000 },
      { writtenLong: 4000 },
      0.0615,
      'standard',
    ],
    ['sound', 'gemini/gemini-2.5-flash', { prompt_tokens: 1000 }, { audioInput: 1000 }, 0.001, 'standard'],
    ['a prompt that reaches the threshold', 'xai/grok-4.3', { prompt_tokens: 200_000 }, {}, 0.5, 'above199999'],
    ['a shorter one', 'xai/grok-4.3', { prompt_tokens: 199_999 }, {}, 0.24999875, 'standard'],
  ] as const)
    it(`price ${what} of ${key} at ${usd}`, () => {
      expect(costOf(key, usage, facts)).to.include({ totalUsd: usd, line });
    });
});

describe('reading tiers of another gateway', () => {
  const read = (key: string, row: object): unknown =>
    tieredModel(key, { [key.replace(/^(openai|bedrock)\//, '')]: row });

  it('takes length and tier out of the names of prices, and per million', () => {
    expect(
      read('openai/m', {
        litellm_provider: 'openai',
        input_cost_per_token: 2.5e-6,
        output_cost_per_token: 1.5e-5,
        cache_read_input_token_cost: 2.5e-7,
        cache_creation_input_token_cost: 3e-6,
        cache_creation_input_token_cost_above_1hr: 5e-6,
        input_cost_per_token_above_272k_tokens: 5e-6,
        input_cost_per_token_priority: 5e-6,
        output_cost_per_token_priority: 1.5e-5,
        cache_creation_input_token_cost_above_1hr_above_272k_tokens: 1e-5,
        input_cost_per_token_above_272k_tokens_flex: 2.5e-6,
        input_cost_per_token_unknowntier: 1,
        provider_specific_entry: { fast: 6, us: 1 },
      }),
    ).to.deep.equal({
      input: 2.5,
      output: 15,
      pricing: {
        cache_write_long_per_m_tokens: 5,
        lines: [
          { when: { input_above: 272_000 }, set: { input_per_m_tokens: 5, cache_write_long_per_m_tokens: 10 } },
          { when: { service_tier: 'priority' }, set: { input_per_m_tokens: 5 } },
          { when: { input_above: 272_000, service_tier: 'flex' }, set: { input_per_m_tokens: 2.5 } },
          { when: { speed: 'fast' }, times: 6 },
        ],
      },
    });
  });

  it('counts a threshold that is reached as passed where the vendor says so', () => {
    const row = { input_cost_per_token: 1e-6, input_cost_per_token_above_272k_tokens: 2e-6 };
    expect(read('bedrock/openai.m', { litellm_provider: 'bedrock_converse', ...row })).to.have.nested.property(
      'pricing.lines[0].when.input_above',
      271_999,
    );
  });

  it('takes nothing of another provider, of a model without tiers, and without a price', () => {
    const row = { litellm_provider: 'openai', input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 };
    expect(read('openai/m', row)).to.equal(undefined);
    expect(read('openai/m', { ...row, input_cost_per_token: 0, input_cost_per_token_flex: 1 })).to.equal(undefined);
    expect(read('openai/m', { ...row, litellm_provider: 'azure', input_cost_per_token_flex: 1 })).to.equal(undefined);
  });
});
