import { expect } from 'chai';
import { SURFACE_NAMES } from '../../host/contract/index.ts';
import { draws, evenDraws, order, problemsOf, query, rankOf, seeded, tally, targets } from './support.ts';

const balance = (random: () => number) => rankOf('loadbalance', {}, { random });

describe('the strategy loadbalance', () => {
  it('gives each target its share of the requests, and to the next in rotation what it cannot serve', () => {
    const rank = balance(evenDraws(1000));
    expect(tally(1000, () => order(rank, targets('a=1', 'b=0', 'c=6', 'd=3')))).to.deep.equal({
      'a c d': 100,
      'c d a': 600,
      'd a c': 300,
    });
  });

  it('gives the shares of ordinary chance, too', () => {
    const rank = balance(seeded(7));
    const counts = tally(20_000, () => order(rank, targets('a=1', 'b=3')).charAt(0));
    expect(counts['b']).to.be.within(15_000 - 250, 15_000 + 250); // four standard deviations
  });

  it('starts at the first target whose cumulative weight exceeds the draw', () => {
    const starts = [0, 0.2499, 0.25, 0.7499, 0.75, 0.9999].map((draw) =>
      order(
        balance(() => draw),
        targets('a=1', 'b=2', 'c=1'),
      ).charAt(0),
    );
    expect(starts.join('')).to.equal('aabbcc');
  });

  it('takes the last positive one when rounding leaves the draw at the sum', () => {
    expect(
      order(
        balance(() => 1),
        targets('a=0.1', 'b=0.2', 'c=0', '!d=5'),
      ),
    ).to.equal('b a');
  });

  it('never lets the target after a drained one inherit its place', () => {
    expect(
      order(
        balance(() => 0),
        targets('a=0', 'b=1', 'c=1'),
      ),
    ).to.equal('b c');
    expect(
      order(
        balance(() => 0.5),
        targets('a=1', 'b=0', 'c=1'),
      ),
    ).to.equal('c a');
  });

  it('gives a drained target nothing, not even behind the others, on any surface', () => {
    for (const surface of SURFACE_NAMES) {
      const rank = balance(draws(0, 0.3, 0.6, 0.99));
      for (let at = 0; at < 4; at += 1)
        expect(order(rank, targets('a=0', 'b=1', 'c=2'), query({ surface })), surface).to.not.contain('a');
    }
  });

  it('weighs only what serves the model, and has nothing when all of that is drained', () => {
    const rank = balance(evenDraws(10));
    expect(tally(10, () => order(rank, targets('!a=9', 'b=1', 'c=1')))).to.deep.equal({ 'b c': 5, 'c b': 5 });
    expect(order(rank, targets('a=0', '!b=1'))).to.equal('');
  });

  it('takes any fraction for a weight', () => {
    const rank = balance(evenDraws(1000));
    expect(tally(1000, () => order(rank, targets('a=0.001', 'b=0.003')).charAt(0))).to.deep.equal({ a: 250, b: 750 });
  });

  it('refuses weights below zero and a sum of zero', () => {
    expect(problemsOf('loadbalance', {}, { a: -1, b: 3 })).to.have.length(1);
    expect(problemsOf('loadbalance', {}, { a: -1, b: 3 })[0]).to.include({ path: 'targets[0].weight', rule: 'CV14' });
    expect(problemsOf('loadbalance', {}, { a: 0, b: 0 }).map(({ rule }) => rule)).to.deep.equal(['CV15']);
    expect(problemsOf('loadbalance', {}, { a: 0, b: 0.5 })).to.deep.equal([]);
  });
});
