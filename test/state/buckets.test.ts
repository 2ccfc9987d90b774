import { expect } from 'chai';
import { createBuckets } from '../../host/state/buckets.ts';

const SPEC = { ratePerSecond: 2, burst: 4 };

describe('token buckets', () => {
  it('start full, and refill continuously to their burst', () => {
    const buckets = createBuckets(10);
    const take = (now: number, cost?: number): boolean => buckets.take('k', SPEC, now, cost).taken;
    expect([take(0), take(0), take(0), take(0), take(0)]).to.deep.equal([true, true, true, true, false]);
    expect([take(499), take(500), take(999), take(1000)]).to.deep.equal([false, true, false, true]);
    expect([take(60_000, 4), take(60_000, 1)]).to.deep.equal([true, false]);
  });

  it('say how long it takes until they hold enough', () => {
    const buckets = createBuckets(10);
    expect(buckets.take('k', SPEC, 0, 4)).to.deep.equal({ taken: true, retryAfterMs: 0 });
    expect(buckets.take('k', SPEC, 0, 3)).to.deep.equal({ taken: false, retryAfterMs: 1500 });
    expect(buckets.take('k', SPEC, 250, 3)).to.deep.equal({ taken: false, retryAfterMs: 1250 });
  });

  it('may be left below zero by what costs more than it asks for', () => {
    const buckets = createBuckets(10);
    expect(buckets.take('k', SPEC, 0, 10, 1).taken).to.equal(true);
    expect(buckets.take('k', SPEC, 0, 1)).to.deep.equal({ taken: false, retryAfterMs: 3500 });
    expect(buckets.take('k', SPEC, 3500, 1).taken).to.equal(true);
  });

  it('do not lose tokens to a clock that stands still or goes back', () => {
    const buckets = createBuckets(10);
    buckets.take('k', SPEC, 1000, 4);
    expect(buckets.take('k', SPEC, 500, 0).taken).to.equal(true);
    expect(buckets.take('k', SPEC, 500, 1).taken).to.equal(false);
  });

  it('are one per key, and at the limit the least recently used hundredth makes room', () => {
    const buckets = createBuckets(200);
    for (let key = 0; key < 200; key += 1) buckets.take(`k${key}`, SPEC, 0, 4);
    expect(buckets.take('k0', SPEC, 0).taken).to.equal(false); // used again, so k1 and k2 are the oldest
    expect(buckets.size).to.equal(200);
    buckets.take('new', SPEC, 0, 4);
    expect(buckets.size).to.equal(199);
    expect([
      buckets.take('k0', SPEC, 0).taken,
      buckets.take('k3', SPEC, 0).taken,
      buckets.take('k1', SPEC, 0).taken,
      buckets.take('new', SPEC, 0).taken,
    ]).to.deep.equal([false, false, true, false]);
  });
});
