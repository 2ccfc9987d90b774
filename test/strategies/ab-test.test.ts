import { expect } from 'chai';
import { SURFACE_NAMES } from '../../host/contract/index.ts';
import { draws, evenDraws, order, problemsOf, query, rankOf, seeded, tally, targets } from './support.ts';

const all = targets('a', 'b', 'c', 'd');
const variants = (...ab_variants: readonly object[]) => ({ ab_variants });
const split = (random: () => number, ...list: readonly object[]) => rankOf('ab-test', variants(...list), { random });
const control = { target_key: 'a', weight: 90, label: 'control' };
const fresh = { target_key: 'c', weight: 10, label: 'fresh' };
const messages = (...list: readonly object[]): string[] =>
  problemsOf('ab-test', variants(...list)).map(({ rule, path }) => `${rule} ${path}`);

function labels(count: number, random: () => number, ...list: readonly object[]): Readonly<Record<string, number>> {
  const rank = split(random, ...list);
  return tally(count, () => {
    let label = '';
    rank(all, query(), {
      variant: (drawn) => {
        label = drawn;
      },
    });
    return label;
  });
}

describe('the strategy ab-test', () => {
  it('gives each variant its share, and puts the other variants behind it', () => {
    const rank = split(evenDraws(100), control, fresh);
    expect(tally(100, () => order(rank, all))).to.deep.equal({ 'a c': 90, 'c a': 10 });
  });

  it('names the variant it drew', () => {
    expect(labels(100, evenDraws(100), control, fresh)).to.deep.equal({ control: 90, fresh: 10 });
    expect(labels(20_000, seeded(11), control, fresh)['fresh']).to.be.within(2000 - 170, 2000 + 170); // four standard deviations
  });

  it('calls a variant without a label by its target', () => {
    expect(labels(4, evenDraws(4), { ...control, label: '', weight: 1 }, { target_key: 'c', weight: 3 })).to.deep.equal(
      { a: 1, c: 3 },
    );
  });

  it('never tries a target that is not a variant, nor a drained one', () => {
    for (const surface of SURFACE_NAMES) {
      const rank = split(
        draws(0, 0.5, 0.99),
        control,
        { ...fresh, weight: 0 },
        { target_key: 'd', weight: 1, label: '' },
      );
      for (let at = 0; at < 3; at += 1)
        expect(order(rank, all, query({ surface })).split(' ')).to.have.members(['a', 'd']);
    }
  });

  it('draws among the variants that serve the model', () => {
    const rank = split(evenDraws(10), control, fresh);
    expect(tally(10, () => order(rank, targets('!a', 'b', 'c')))).to.deep.equal({ 'c a': 10 });
  });

  it('has nothing when no open variant serves, and names none', () => {
    let label: string | undefined;
    const rank = split(() => 0, { ...control, weight: 0 }, fresh);
    expect(
      order(rank, targets('a', 'b', '!c'), query(), {
        variant: (drawn) => {
          label = drawn;
        },
      }),
    ).to.equal('');
    expect(label).to.equal(undefined);
  });

  it('lists a target once that two variants share', () => {
    const twice = [
      { ...control, weight: 1 },
      { ...control, weight: 1, label: 'again' },
      { ...fresh, weight: 2 },
    ];
    expect(labels(4, evenDraws(4), ...twice)).to.deep.equal({ control: 1, again: 1, fresh: 2 });
    const rank = split(evenDraws(4), ...twice);
    expect(tally(4, () => order(rank, all))).to.deep.equal({ 'a c': 2, 'c a': 2 });
  });

  it('refuses no variants, targets that are not declared, weights below zero and a sum of zero', () => {
    expect(problemsOf('ab-test', {}).map(({ rule, path }) => `${rule} ${path}`)).to.deep.equal([
      'CV18b strategy.ab_variants',
    ]);
    expect(messages({ target_key: '', weight: 1 }, { target_key: 'z', weight: 1 })).to.deep.equal(
      [0, 1].map((at) => `CV18b strategy.ab_variants[${at}].target_key`),
    );
    expect(messages({ target_key: 'a' }, { target_key: 'b', weight: 0 })).to.deep.equal(['CV18b strategy.ab_variants']);
    const negative = problemsOf(
      'ab-test',
      variants(
        { target_key: 'a', weight: -1, label: 'odd' },
        { target_key: 'b', weight: -2 },
        { target_key: 'a', weight: 9 },
      ),
    );
    expect(negative.map(({ path }) => path)).to.deep.equal([0, 1].map((at) => `strategy.ab_variants[${at}].weight`));
    expect(negative.map(({ message }) => message).join('\n'))
      .to.contain('"odd"')
      .and.to.contain('"b"');
  });
});
