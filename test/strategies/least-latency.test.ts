import { expect } from 'chai';
import type { Surface } from '../../host/contract/index.ts';
import { draws, order, query, rankOf, seeded, tally, targets } from './support.ts';

const fastest = (medians: Readonly<Record<string, number>>, random: () => number = () => 0) =>
  rankOf('least-latency', {}, { medianMs: (key) => medians[key], random });

describe('the strategy least-latency', () => {
  it('tries the lowest median first, ties in declared order', () => {
    expect(order(fastest({ a: 30, b: 10, c: 20, d: 10 }), targets('a', 'b', 'c', 'd'))).to.equal('b d c a');
  });

  it('tries what has not been measured first, and keeps what cannot serve behind', () => {
    expect(order(fastest({ a: 1, b: 2 }), targets('!x', 'a', 'b', 'n'))).to.equal('n a b x');
  });

  it('takes 0 ms for a measurement', () => {
    expect(order(fastest({ a: 1, b: 0 }), targets('a', 'b'))).to.equal('b a');
  });

  it('puts several unmeasured targets in every order equally often on chat', () => {
    const rank = fastest({}, seeded(3));
    const counts = tally(6000, () => order(rank, targets('a', 'b', 'c')));
    expect(Object.keys(counts)).to.have.length(6);
    for (const count of Object.values(counts)) expect(count).to.be.within(1000 - 120, 1000 + 120);
  });

  for (const surface of [
    'embeddings',
    'images',
    'rerank',
    'moderations',
    'audio.speech',
  ] as const satisfies readonly Surface[]) {
    it(`leaves unmeasured targets in declared order on ${surface}`, () => {
      expect(order(fastest({ c: 5 }, draws(0.1, 0.9)), targets('a', 'b', 'c'), query({ surface }))).to.equal('a b c');
    });
  }

  it('ignores the measurements of targets that cannot serve', () => {
    expect(order(fastest({ a: 1, b: 2 }), targets('!a', 'b'))).to.equal('b a');
  });
});
