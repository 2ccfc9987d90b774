import { expect } from 'chai';
import { SURFACE_NAMES, SURFACES } from '../../host/contract/index.ts';
import { expectProportion } from '../kit/index.ts';
import { order, problemsOf, query, rankOf, targets } from './support.ts';

const all = targets('a', 'b', 'c');
const rules = (...content_conditions: readonly object[]) =>
  rankOf('content-based', { content_conditions: content_conditions.map((rule) => ({ target_key: 'b', ...rule })) });
const says = (...texts: readonly string[]) => query({ userTexts: () => texts });
const messages = (block: object): string[] =>
  problemsOf('content-based', block).map(({ rule, path }) => `${rule} ${path}`);

describe('the strategy content-based', () => {
  it('finds a text in any message of the user, whatever the case', () => {
    const rank = rules({ type: 'prompt_contains', value: 'Straße' });
    expect(order(rank, all, says('hello', 'in der STRASSE? nein: in der STRAßE'))).to.equal('b a c');
    expect(order(rank, all, says('hello'))).to.equal('a b c');
  });

  it('looks at each message alone', () => {
    expect(order(rules({ type: 'prompt_contains', value: 'two words' }), all, says('two', 'words'))).to.equal('a b c');
    expect(order(rules({ type: 'prompt_regex', value: '^second' }), all, says('first', 'second'))).to.equal('b a c');
  });

  it('finds the absence of a text in all messages, and in none at all', () => {
    const rank = rules({ type: 'prompt_not_contains', value: 'secret' });
    expect(order(rank, all, says('fine', 'a SECRET'))).to.equal('a b c');
    expect(order(rank, all, says('fine', 'too'))).to.equal('b a c');
    expect(order(rank, all, says())).to.equal('b a c');
  });

  it('finds patterns anywhere, by case unless they say otherwise', () => {
    const rank = rules({ type: 'prompt_regex', value: 'summari[sz]e' });
    expect(order(rank, all, says('please summarize'))).to.equal('b a c');
    expect(order(rank, all, says('Summarize'))).to.equal('a b c');
    expect(
      order(rules({ type: 'prompt_regex', value: '(?i)\\bsummari[sz]e\\b' }), all, says('SUMMARISE this')),
    ).to.equal('b a c');
  });

  it('takes the first rule that matches', () => {
    const rank = rules(
      { type: 'prompt_contains', value: 'x', target_key: 'c' },
      { type: 'prompt_contains', value: 'xy' },
      { type: 'prompt_not_contains', value: 'x' },
    );
    expect(order(rank, all, says('xy'))).to.equal('c a b');
    expect(order(rank, all, says('z'))).to.equal('b a c');
    const reported: string[] = [];
    rank(all, says('z'), { rule: (path) => reported.push(path) });
    expect(reported).to.deep.equal(['content_conditions[2]']);
  });

  it('asks for no text where there are no messages or prompts, and none while models are listed', () => {
    const rank = rules({ type: 'prompt_not_contains', value: 'x' });
    for (const surface of SURFACE_NAMES) {
      let asked = 0;
      const expected = SURFACES[surface].isChat ? 'b a c' : 'a b c';
      expect(
        order(
          rank,
          all,
          query({
            surface,
            userTexts: () => {
              asked += 1;
              return [];
            },
          }),
        ),
        surface,
      ).to.equal(expected);
      expect(asked, surface).to.equal(expected === 'b a c' ? 1 : 0);
    }
    expect(order(rank, all, query({ isListing: true }))).to.equal('a b c');
  });

  for (const value of ['(a+)+$', '(?:a?){40}a{40}$', '(.*)*x(.*)*y']) {
    it(`takes work in proportion to the text, whatever the pattern: ${value}`, async () => {
      const rank = rules({ type: 'prompt_regex', value });
      await expectProportion(5000, (length) => {
        const hostile = says(`${'a'.repeat(length)}b`);
        return () => expect(order(rank, all, hostile)).to.equal('a b c');
      });
    });
  }

  it('refuses no rules, an unknown type, a pattern that does not compile, and a target that is not declared', () => {
    expect(messages({})).to.deep.equal(['CV18 strategy.content_conditions']);
    const one = { type: 'prompt_contains', value: 'x', target_key: 'a' };
    expect(
      messages({ content_conditions: [one, { ...one, type: 'prompt_matches' }, { ...one, type: undefined }] }),
    ).to.deep.equal(['CV18 strategy.content_conditions[1].type', 'CV18 strategy.content_conditions[2].type']);
    const patterns = ['(', 'a(?=b)', '(a)\\1', '(?<!a)b', 'a{2000}'].map((value) => ({
      ...one,
      type: 'prompt_regex',
      value,
    }));
    expect(messages({ content_conditions: patterns })).to.deep.equal(
      patterns.map((_pattern, at) => `CV18 strategy.content_conditions[${at}].value`),
    );
    expect(
      messages({
        content_conditions: [
          { ...one, target_key: '' },
          { ...one, target_key: 'z' },
        ],
      }),
    ).to.deep.equal([0, 1].map((at) => `CV18 strategy.content_conditions[${at}].target_key`));
  });
});
