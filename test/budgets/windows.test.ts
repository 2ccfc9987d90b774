import { expect } from 'chai';
import { ruleName, type WindowRule, Windows } from '../../host/common/budgets/windows.ts';
import { cases, Dice } from '../kit/index.ts';

const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Africa/Cairo',
  'Pacific/Apia',
  'America/Sao_Paulo',
  'UTC',
];
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const at = (text: string): number => Date.parse(text);
const civil = (kind: 'day' | 'week' | 'month', zone: string, clock: string, on: number): WindowRule => ({
  kind,
  zone,
  at: Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3)),
  on,
});
const shown = (rule: WindowRule, moment: string): unknown => {
  const { name, beginsAt, endsAt } = new Windows(rule).at(at(moment));
  return [name, new Date(beginsAt).toISOString().slice(0, 16), new Date(endsAt).toISOString().slice(0, 16)];
};

/** What the engine has of dates and zones; where it has none, the vectors below are all there is. */
const { Temporal } = globalThis as unknown as { Temporal?: any };

/** Days on which windows begin, found by looking at each day. */
function begins(rule: WindowRule, day: any): boolean {
  if (rule.kind === 'day') return true;
  if (rule.kind === 'week') return day.dayOfWeek % 7 === rule.on;
  return rule.kind === 'month' && day.day === Math.min(rule.on, day.daysInMonth);
}

/** The window of a moment by a walk over all days near it: the last start that is not after it. */
function walked(rule: WindowRule & { readonly zone: string; readonly at: number }, now: number): unknown {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(rule.zone).toPlainDate();
  const time = new Temporal.PlainTime(Math.floor(rule.at / 60), rule.at % 60);
  const starts: { readonly name: string; readonly at: number }[] = [];
  for (let offset = -40; offset <= 40; offset += 1) {
    const day = today.add({ days: offset });
    if (!begins(rule, day)) continue;
    const start = day.toZonedDateTime({ timeZone: rule.zone, plainTime: time }).epochMilliseconds as number;
    starts.push({ name: day.toString(), at: start });
  }
  const current = starts.findLast((start) => start.at <= now);
  const next = starts.find((start) => start.at > now);
  return [current?.name, current?.at, next?.at];
}

describe('windows of budgets', () => {
  it('follow the clocks of their zone', () => {
    const berlin = civil('day', 'Europe/Berlin', '02:30', 0);
    expect(shown(berlin, '2026-03-29T01:15Z')).to.deep.equal(['2026-03-28', '2026-03-28T01:30', '2026-03-29T01:30']);
    expect(shown(berlin, '2026-03-29T01:31Z')).to.deep.equal(['2026-03-29', '2026-03-29T01:30', '2026-03-30T00:30']);
    expect(shown(berlin, '2026-10-25T00:20Z')).to.deep.equal(['2026-10-24', '2026-10-24T00:30', '2026-10-25T00:30']);
    expect(shown(berlin, '2026-10-25T00:45Z')).to.deep.equal(['2026-10-25', '2026-10-25T00:30', '2026-10-26T01:30']);
    expect(shown(civil('day', 'America/Sao_Paulo', '00:00', 0), '2018-11-04T12:00Z')).to.deep.equal([
      '2018-11-04',
      '2018-11-04T03:00',
      '2018-11-05T02:00',
    ]);
  });

  it('are 23.5 and 24.5 hours long on Lord Howe, and a day that Apia left out is never one', () => {
    const lengths = new Set<number>();
    const rule = new Windows(civil('day', 'Australia/Lord_Howe', '00:00', 0));
    for (let now = at('2026-01-01T00:00Z'); now < at('2027-01-01T00:00Z'); now += DAY / 2) {
      const { beginsAt, endsAt } = rule.at(now);
      lengths.add((endsAt - beginsAt) / HOUR);
    }
    expect([...lengths].toSorted((a, b) => a - b)).to.deep.equal([23.5, 24, 24.5]);
    const apia = new Windows(civil('day', 'Pacific/Apia', '00:00', 0));
    const names = new Set<string>();
    for (let now = at('2011-12-28T00:00Z'); now < at('2012-01-02T00:00Z'); now += HOUR) names.add(apia.at(now).name);
    expect([...names]).to.deep.equal([
      '2011-12-27',
      '2011-12-28',
      '2011-12-29',
      '2011-12-31',
      '2012-01-01',
      '2012-01-02',
    ]);
  });

  it('begin on the last day of months that are too short', () => {
    const rule = civil('month', 'Europe/Berlin', '06:00', 31);
    expect(shown(rule, '2028-02-29T04:59Z')).to.deep.equal(['2028-01-31', '2028-01-31T05:00', '2028-02-29T05:00']);
    expect(shown(rule, '2028-02-29T05:00Z')).to.deep.equal(['2028-02-29', '2028-02-29T05:00', '2028-03-31T04:00']);
  });

  it('of a duration are counted from their anchor, also before it', () => {
    const rule: WindowRule = { kind: 'duration', minutes: 300, from: at('2026-01-01T00:00Z') };
    expect(ruleName(rule)).to.equal('5h~2026-01-01T00:00:00Z');
    expect(shown(rule, '2026-01-01T04:59Z')).to.deep.equal(['0', '2026-01-01T00:00', '2026-01-01T05:00']);
    expect(shown(rule, '2026-01-01T05:00Z')).to.deep.equal(['1', '2026-01-01T05:00', '2026-01-01T10:00']);
    expect(shown(rule, '2025-12-31T23:59Z')).to.deep.equal(['-1', '2025-12-31T19:00', '2026-01-01T00:00']);
  });

  it('name each rule once', () => {
    expect(ruleName(civil('week', 'Asia/Kolkata', '05:30', 1))).to.equal('week:mon@Asia/Kolkata+05:30');
    expect(ruleName(civil('month', 'UTC', '00:00', 31))).to.equal('month:31@UTC+00:00');
    expect(ruleName(civil('day', 'UTC', '23:59', 0))).to.equal('day@UTC+23:59');
    expect(ruleName({ kind: 'duration', minutes: 90, from: 0 })).to.equal('90m~1970-01-01T00:00:00Z');
    expect(ruleName({ kind: 'total' })).to.equal('total');
  });

  for (const zone of ZONES)
    it(`in ${zone} are those that a walk over its days finds, at every change of the clocks from 2011 to 2032`, function walk() {
      if (!Temporal) this.skip();
      this.timeout(60_000);
      const dice = new Dice(ZONES.indexOf(zone) + 1);
      const moments = [at('2011-12-30T05:00Z')];
      for (let now = at('2011-01-01T00:00Z'); now < at('2032-12-31T00:00Z');) {
        const change = Temporal.Instant.fromEpochMilliseconds(now)
          .toZonedDateTimeISO(zone)
          .getTimeZoneTransition('next');
        if (!change) break;
        now = change.epochMilliseconds as number;
        moments.push(now - HOUR, now - 1, now, now + HOUR);
      }
      for (let more = 0; more < 50; more += 1)
        moments.push(at('2011-01-01T00:00Z') + dice.below(22 * 365) * DAY + dice.below(DAY));
      for (let round = 0; round < cases(600); round += 1) {
        const kind = dice.pick(['day', 'week', 'month'] as const);
        const on = kind === 'week' ? dice.below(7) : kind === 'month' ? 1 + dice.below(31) : 0;
        const clock = dice.pick(['00:00', '00:30', '01:59', '02:00', '02:30', '03:00', '12:00', '23:59']);
        const rule = civil(kind, zone, clock, on) as WindowRule & { zone: string; at: number };
        const now = dice.pick(moments) + dice.pick([0, 0, -1, 1, dice.below(2 * DAY) - DAY]);
        const { name, beginsAt, endsAt } = new Windows(rule).at(now);
        const what = `${ruleName(rule)} at ${new Date(now).toISOString()}`;
        expect([name, beginsAt, endsAt], what).to.deep.equal(walked(rule, now));
        expect(beginsAt <= now && now < endsAt, what).to.equal(true);
        expect(new Windows(rule).at(endsAt).beginsAt, what).to.equal(endsAt);
      }
    });
});
