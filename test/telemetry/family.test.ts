import { expect } from 'chai';
import { Family } from '../../builtins/telemetry/metrics/family.ts';
import { seeded } from '../kit/index.ts';

const MOST = 6;

/** What a figure counts, found without any short cut: by all labels, and beyond the most combinations as `other`. */
function tally(samples: readonly Readonly<Record<string, string>>[]): Map<string, number> {
  const sums = new Map<string, number>();
  const keyOf = (labels: object): string => JSON.stringify(labels);
  for (const labels of samples) {
    const isKept = sums.has(keyOf(labels)) || sums.size < MOST;
    const key = isKept ? keyOf(labels) : keyOf({ provider: 'other', model: 'other' });
    sums.set(key, (sums.get(key) ?? 0) + 1);
  }
  return sums;
}

describe('a figure', () => {
  it('counts each combination of labels by itself, in whatever order they come, and the rest as other', () => {
    const random = seeded(7);
    const pick = (names: readonly string[]): string => names[Math.floor(random() * names.length)]!;
    for (let round = 0; round < 50; round += 1) {
      const family = new Family({
        name: 'f',
        kind: 'counter',
        help: '',
        labels: { provider: 'any', model: 'any' },
        mostSeries: MOST,
      });
      const samples = Array.from({ length: 60 }, () => ({
        provider: pick(['a', 'b', 'other']),
        model: pick(['m', 'n', 'other', 'a']),
      }));
      for (const labels of samples) family.add(labels, 1);
      const found = new Map(
        [...family.series].map(({ labels: { provider, model }, value }) => [
          JSON.stringify({ provider, model }),
          value,
        ]),
      );
      expect(Object.fromEntries(found)).to.deep.equal(Object.fromEntries(tally(samples)));
    }
  });
});
