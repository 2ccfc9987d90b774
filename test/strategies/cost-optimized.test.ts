import { expect } from 'chai';
import type { RouteQuery } from '../../host/contract/index.ts';
import { order, prices, problemsOf, query, rankOf, targets } from './support.ts';

const table = {
  a: { input: 3, output: 15 },
  b: { input: 1, output: 40 },
  c: { input: 2 },
  o: { output: 1 },
  e: { embedding: 2 },
  f: { embedding: 1 },
  i: { image: 0.04 },
  j: { image: 0.02, input: 1 },
};
const cheapest = (unpriced_strategy?: string, costs: Parameters<typeof prices>[0] = table) =>
  rankOf('cost-optimized', unpriced_strategy === undefined ? {} : { unpriced_strategy }, { price: prices(costs) });
const chat = (characters: number, maxTokens?: number): RouteQuery =>
  query({ promptCharacters: () => characters, maxTokens });

describe('the strategy cost-optimized', () => {
  it('adds the price of the estimated prompt and that of the longest answer', () => {
    // 4000 characters are 1001 tokens: a 3003 + 15 × max, b 1001 + 40 × max (millionths of a dollar); equal near max = 80.
    expect(order(cheapest(), targets('a', 'b'), chat(4000, 80))).to.equal('b a');
    expect(order(cheapest(), targets('a', 'b'), chat(4000, 81))).to.equal('a b');
  });

  it('counts 256 tokens of answer when the request sets no ceiling', () => {
    const at256 = { a: { input: 0, output: 1 }, b: { input: 0.256, output: 0 } };
    // 256 tokens of an answer at 1 against 999 and 1001 tokens of a prompt at 0.256.
    expect(order(cheapest('fallback', at256), targets('a', 'b'), chat(3995))).to.equal('b a');
    expect(order(cheapest('fallback', at256), targets('a', 'b'), chat(4000))).to.equal('a b');
  });

  it('counts a token for each four characters, and one more', () => {
    const tokensOf = (characters: number): number | undefined => {
      let tokens: number | undefined;
      order(cheapest(), targets('a'), chat(characters), {
        target: (_key, _why, figures) => {
          tokens = figures?.['prompt_tokens'];
        },
      });
      return tokens;
    };
    expect([0, 3, 4, 7, 8, 4000].map(tokensOf)).to.deep.equal([1, 1, 2, 2, 3, 1001]);
  });

  it('keeps declared order between equal prices', () => {
    expect(
      order(cheapest('fallback', { a: { input: 1 }, b: { input: 1 }, c: { input: 0 } }), targets('a', 'b', 'c')),
    ).to.equal('c a b');
  });

  it('asks for the price of the model that the target would be sent', () => {
    const asked: string[] = [];
    const rank = rankOf(
      'cost-optimized',
      {},
      {
        price: (key, model) => {
          asked.push(`${key}/${model}`);
          return undefined;
        },
      },
    );
    rank(targets('a', 'b', '!c'), query({ upstreamModel: (key) => `${key}-model` }));
    expect(asked).to.deep.equal(['a/a-model', 'b/b-model']);
  });

  it('looks prices up once for a list of targets, and again for another model', () => {
    let lookups = 0;
    const rank = rankOf(
      'cost-optimized',
      {},
      {
        price: () => {
          lookups += 1;
          return undefined;
        },
      },
    );
    const list = targets('a', 'b');
    for (let at = 0; at < 5; at += 1) rank(list, query());
    expect(lookups).to.equal(2);
    rank(list, query({ model: 'other' }));
    expect(lookups).to.equal(4);
  });

  describe('on a target without a price', () => {
    const all = targets('n', 'o', 'a', '!x', 'c');

    it('comes behind the priced ones (fallback, also when nothing is said or it is empty)', () => {
      for (const unpriced of ['fallback', '', undefined]) expect(order(cheapest(unpriced), all)).to.equal('c a n o x');
    });

    it('is left out (skip)', () => {
      expect(order(cheapest('skip'), all)).to.equal('c a');
    });

    it('counts what is missing as free when the catalog knows the model (allow)', () => {
      expect(order(cheapest('allow'), all)).to.equal('c o a n x');
    });

    it('serves in declared order when none has a price, but answers 404 under skip', () => {
      for (const unpriced of ['fallback', 'allow'])
        expect(order(cheapest(unpriced), targets('n', 'z'))).to.equal('n z');
      let why = '';
      expect(
        order(cheapest('skip'), targets('n', 'o'), query({ model: 'some-model' }), {
          nothing: (text) => {
            why = text;
          },
        }),
      ).to.equal('');
      expect(why).to.equal('no priced provider supports model some-model');
    });

    it('has no reason to give when no target serves the model', () => {
      let why = '';
      expect(
        order(cheapest('skip'), targets('!a'), query(), {
          nothing: (text) => {
            why = text;
          },
        }),
      ).to.equal('');
      expect(why).to.equal('');
    });
  });

  it('takes a price of 0 for a price', () => {
    expect(order(cheapest('skip', { free: { input: 0, output: 0 }, a: { input: 1 } }), targets('a', 'free'))).to.equal(
      'free a',
    );
  });

  describe('beside chat', () => {
    const list = targets('a', 'e', 'f', 'n');

    it('ranks embeddings by their own price', () => {
      const surface = 'embeddings';
      expect(order(cheapest('fallback'), list, query({ surface }))).to.equal('f e');
      expect(order(cheapest('skip'), list, query({ surface }))).to.equal('f e');
      expect(order(cheapest('allow'), list, query({ surface }))).to.equal('a n f e');
    });

    it('ranks images by the price of as many as are asked for', () => {
      const figures: Record<string, number> = {};
      const rank = cheapest('fallback');
      expect(
        order(rank, targets('i', 'a', 'j'), query({ surface: 'images', images: 3 }), {
          target: (key, _why, { cost_usd } = {}) => {
            figures[key] = cost_usd ?? Number.NaN;
          },
        }),
      ).to.equal('j i');
      expect(figures).to.deep.include({ i: 0.12, j: 0.06 });
    });

    for (const surface of [
      'rerank',
      'moderations',
      'audio.speech',
      'audio.transcriptions',
      'audio.translations',
    ] as const) {
      it(`knows no price of ${surface}`, () => {
        expect(order(cheapest('fallback'), targets('a', 'b', '!c'), query({ surface }))).to.equal('a b');
        expect(order(cheapest('allow'), targets('a', 'b', '!c'), query({ surface }))).to.equal('a b');
        expect(order(cheapest('skip'), targets('a', 'b', '!c'), query({ surface }))).to.equal('');
      });
    }
  });

  it('refuses another word for what has no price', () => {
    expect(problemsOf('cost-optimized', { unpriced_strategy: 'Skip' })[0]).to.include({
      rule: 'CV16',
      path: 'strategy.unpriced_strategy',
    });
    for (const unpriced_strategy of ['', 'fallback', 'skip', 'allow'])
      expect(problemsOf('cost-optimized', { unpriced_strategy })).to.deep.equal([]);
  });
});
