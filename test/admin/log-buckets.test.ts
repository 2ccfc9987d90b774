import { expect } from 'chai';
import { Dice, fakeClock } from '../kit/index.ts';
import { type AdminHost, startAdmin } from './kit.ts';
import { fill, read, row } from './logs-kit.ts';

const MEMORY = { REQUEST_LOG_STORE_BACKEND: 'sqlite', REQUEST_LOG_STORE_DSN: ':memory:' };
/** Weeks around changes of clocks: Berlin and Lord Howe (by half an hour) in spring and autumn, and zones that are quarters off. */
const ZONES = ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Asia/Kolkata', 'America/St_Johns'];
const STRETCHES = [
  ['2026-03-26T05:07:11Z', '2026-04-07T13:00:01Z'],
  ['2026-10-01T00:00:00Z', '2026-10-28T22:59:59Z'],
] as const;
const NOW = Date.parse('2026-11-22T12:00:00Z');

const FORMATS = new Map(
  ZONES.map((zone) => [
    zone,
    new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' }),
  ]),
);

/** The day or month of a moment where the zone is, as ICU says it. */
function partOf(at: number, bucket: string, zone: string): string {
  const day = FORMATS.get(zone)?.format(at) ?? '';
  return bucket === 'month' ? day.slice(0, 7) : day;
}

describe('a series of the request log by the calendar', () => {
  let moments: number[] = [];

  const filled = async (): Promise<AdminHost> => {
    const t = await startAdmin({ clock: fakeClock(NOW), variables: MEMORY });
    const dice = new Dice(5);
    moments = STRETCHES.flatMap(([since, until]) => {
      const [from, to] = [Date.parse(since), Date.parse(until)];
      return Array.from({ length: 400 }, () => from - 3_600_000 + dice.below(to - from + 7_200_000));
    });
    fill(
      t,
      moments.map((at) => row({ created_at: at })),
    );
    return t;
  };

  it('has the parts that ICU knows, in every zone, also where its clock moves', async () => {
    const t = await filled();
    for (const zone of ZONES)
      for (const [since, until] of STRETCHES)
        for (const bucket of ['day', 'month'] as const) {
          const what = `${zone} ${bucket} ${since}`;
          const { series } = await read(
            t,
            `/admin/logs/stats?since=${since}&until=${until}&bucket=${bucket}&timezone=${zone}`,
          );
          const inside = moments.filter((at) => at >= Date.parse(since) && at < Date.parse(until));
          const expected = Map.groupBy(inside, (at) => partOf(at, bucket, zone));
          const shown = series.points.map(({ start, requests }: any) => [
            partOf(Date.parse(start), bucket, zone),
            requests,
          ]);
          expect(
            shown.filter(([, requests]: [string, number]) => requests > 0),
            what,
          ).to.deep.equal(
            [...expected].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([part, each]) => [part, each.length]),
          );
          expect(new Set(shown.map(([part]: [string]) => part)).size, `${what}: no part twice`).to.equal(shown.length);
          expect(series.points[0].start, what).to.equal(since);
        }
  });

  it('has hours without a gap, and weeks from Monday', async () => {
    const t = await filled();
    const lengths = async (query: string): Promise<number[]> => {
      const { series } = await read(t, `/admin/logs/stats?${query}`);
      const starts = series.points.map(({ start }: any) => Date.parse(start));
      return starts.map((at: number, index: number) => (starts[index + 1] ?? Date.parse(series.end)) - at);
    };
    const howe = 'since=2026-04-04T13:30:00Z&until=2026-04-04T18:30:00Z&bucket=hour&timezone=Australia/Lord_Howe';
    expect((await lengths(howe)).reduce((sum, each) => sum + each, 0)).to.equal(5 * 3_600_000);
    const { series } = await read(
      t,
      '/admin/logs/stats?since=2026-10-01T00:00:00Z&until=2026-10-20T00:00:00Z&bucket=week',
    );
    expect(series.points.map(({ start }: any) => start)).to.deep.equal([
      '2026-10-01T00:00:00Z',
      '2026-10-05T00:00:00Z',
      '2026-10-12T00:00:00Z',
      '2026-10-19T00:00:00Z',
    ]);
  });

  it('refuses what it cannot cut, and names it', async () => {
    const t = await startAdmin({ clock: fakeClock(NOW), variables: MEMORY });
    for (const [query, named] of [
      ['bucket=day', 'since'],
      ['since=2026-11-01T00:00:00Z&bucket=day&buckets=4', 'buckets'],
      ['since=2026-11-01T00:00:00Z&timezone=UTC', 'bucket'],
      ['since=2026-11-01T00:00:00Z&bucket=year', 'bucket'],
      ['since=2026-11-01T00:00:00Z&bucket=day&timezone=Mars/Base', 'timezone'],
      ['since=2026-01-01T00:00:00Z&bucket=hour', '400 parts'],
    ] as const) {
      const answer = await t.get(`/admin/logs/stats?${query}`);
      expect(answer.status, query).to.equal(400);
      expect(answer.json().error.message, query).to.contain(named);
    }
  });
});
