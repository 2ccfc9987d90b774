import { expect } from 'chai';
import { forecast, rangeName, rangeOf } from '../../../builtins/dashboard/app/src/pages/spend/ranges.ts';
import { dayLabel, seriesOf, type SpendEntry } from '../../../builtins/dashboard/app/src/pages/spend/spend-series.ts';

const NOW = Date.UTC(2026, 10, 16);
const iso = (at: number | undefined): string => (at === undefined ? '' : new Date(at).toISOString().slice(0, 10));

describe('ranges of the page of spend', () => {
  it('end now, or with a month, and have one of the same length before them', () => {
    const shown = (['month', 'last', '7', '30'] as const).map((name) => {
      const { from, to, before, ends } = rangeOf(name, 'UTC', NOW);
      return [iso(from), iso(to), iso(before), iso(ends)];
    });
    expect(shown).to.deep.equal([
      ['2026-11-01', '2026-11-16', '2026-10-17', '2026-12-01'],
      ['2026-10-01', '2026-11-01', '2026-09-01', ''],
      ['2026-11-09', '2026-11-16', '2026-11-02', ''],
      ['2026-10-17', '2026-11-16', '2026-09-17', ''],
    ]);
    expect(rangeName('year')).to.equal('month');
  });

  it('say what a month may come to from a tenth of it on, and nothing of ranges that have no end of their own', () => {
    const at = (day: number): number | undefined => forecast(15, rangeOf('month', 'UTC', Date.UTC(2026, 10, day)));
    expect(at(3)).to.equal(undefined);
    expect(at(4)).to.equal(150);
    expect(at(16)).to.equal(30);
    expect(forecast(15, rangeOf('last', 'UTC', NOW))).to.equal(undefined);
    expect(forecast(15, rangeOf('7', 'UTC', NOW))).to.equal(undefined);
  });
});

describe('bars of spend', () => {
  const entry = (bucket: string, model: string, micro: number): SpendEntry => ({
    bucket,
    model,
    requests: 1,
    prompt_tokens: 0,
    completion_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    images: 0,
    unpriced: 0,
    usd: micro / 1e6,
    micro_usd: micro,
    estimated_usd: 0,
    reported_usd: 0,
  });

  it('have a layer for each of the eight names that cost most, and one for the others', () => {
    const entries = ['a', 'b'].flatMap((bucket) =>
      Array.from({ length: 10 }, (_name, at) => entry(bucket, `m${at}`, 1e6 * (10 - at))),
    );
    const { layers, points } = seriesOf(entries, 'model', (bucket) => bucket);
    expect(layers.map(({ name }) => name)).to.deep.equal(['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'Other']);
    expect(new Set(layers.map(({ color }) => color)).size).to.equal(9);
    expect(points).to.have.length(2);
    expect(points[0]).to.include({ label: 'a', layer0: 10, layer7: 3, other: 3 });
  });

  it('are called by the day on which they begin in the zone, one that was moved to the hour before too', () => {
    expect(dayLabel('Europe/Berlin')('2026-10-24T22:00:00Z')).to.equal('25 Oct');
    expect(dayLabel('Asia/Kolkata')('2026-11-02T18:00:00Z')).to.equal('03 Nov');
    expect(dayLabel('UTC')('nonsense')).to.equal('nonsense');
  });
});
