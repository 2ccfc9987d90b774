import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { PYTHON } from './install.ts';
import { type PricedCase, pricedCases } from './prices.ts';

/** Shares within which costs count as equal: the others compute with binary fractions of a token's price. */
const TOLERANCE = 1e-6;

/** Why a model costs something else elsewhere. A difference that no row explains fails. */
const REASONS: readonly {
  readonly who: 'litellm' | 'genai' | 'both';
  readonly models: RegExp;
  /** Lines that it speaks of; all of them without. */
  readonly line?: RegExp;
  readonly why: string;
}[] = [
  { who: 'both', models: /search-preview/, why: 'the fee of the call is counted here, and not there' },
  {
    who: 'litellm',
    models: /^openai\/gpt-5\.[45]/,
    line: /^above272000\+priority$/,
    why: 'the page has no price for long prompts with priority: the product here, the price of short ones there',
  },
  {
    who: 'litellm',
    models: /^openai\/gpt-5\.[45]-pro/,
    line: /^above272000\+flex$/,
    why: 'the page has the factors of long prompts for flex too; there the tier is forgotten above the threshold',
  },
  { who: 'litellm', models: /^openai\/gpt-5\.5-2026-04-24$/, why: 'taken there for gpt-5.5, which has tiers' },
  {
    who: 'litellm',
    models: /^anthropic\/claude-sonnet-4-5/,
    line: /^above200000/,
    why: 'genai-prices has a price for long prompts, which LiteLLM has not; the dearer one counts',
  },
  {
    who: 'litellm',
    models: /^deepseek\/deepseek-(chat|reasoner)$/,
    why: 'names that were withdrawn on 2026-07-24: prices of two different days',
  },
  {
    who: 'litellm',
    models: /^mistral\/(magistral-medium|ministral-3b|mistral-large)-latest$/,
    why: 'names that move from model to model: the price package has them at an earlier one',
  },
  {
    who: 'litellm',
    models: /^xai\/grok-(code-fast|latest)/,
    why: 'disputed base prices (test/catalog/shipped-tiers.test.ts), and what latest is',
  },
];

const isNear = (one: number, other: number): boolean =>
  Math.abs(one - other) <= 1e-9 + TOLERANCE * Math.max(one, other);

/** `npm run test:differential`. */
describe('prices of LiteLLM and genai-prices', () => {
  let cases: readonly PricedCase[];

  before(async function () {
    if (!existsSync(PYTHON)) this.skip();
    this.timeout(300_000);
    cases = await pricedCases(12);
  });

  for (const who of ['litellm', 'genai'] as const)
    it(`of ${who} are ours for the same use, but for what is listed with its reason`, () => {
      const compared = cases.filter((one) => (one[who] ?? 0) > 0); // 0 is what it makes of a model that it does not know
      const differing = compared.filter((one) => !isNear(one.ours, one[who] ?? 0));
      const unexplained = differing.filter(
        ({ key, line: ours }) =>
          !REASONS.some(
            ({ who: whose, models, line = /./ }) =>
              (whose === who || whose === 'both') && models.test(key) && line.test(ours),
          ),
      );
      expect(
        unexplained.map((one) => `${one.key} ${one.line} ${JSON.stringify(one.use)}: ${one.ours}, there ${one[who]}`),
      ).to.deep.equal([]);
      expect(compared.length).to.be.above(1500);
      expect(differing.length / compared.length).to.be.below(0.1);
    });
});
