import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { limitsOf } from '../../builtins/cli/import/litellm-db/limits.ts';
import { windowOf } from '../../builtins/cli/import/litellm-db/windows.ts';
import { factsOf } from '../../host/common/budgets/key-budget.ts';
import { Windows } from '../../host/common/budgets/windows.ts';
import { some } from '../kit/index.ts';

type Case = readonly [duration: string, zone: string, clock: string, now: string, ...resets: string[]];

/** When LiteLLM's own functions begin windows: test/fixtures/litellm-db/generate.py. */
const CASES = JSON.parse(
  readFileSync(new URL('../fixtures/litellm-db/windows.json', import.meta.url), 'utf8'),
) as Record<string, readonly Case[]>;
/** A part of them: of every duration and zone some. */
const someCases = (version: string): readonly Case[] => some(CASES[version]!, { every: 11 });

interface Source {
  readonly now: number;
  readonly zone: string;
  readonly clock: string;
}

const windowsOf = (duration: string, resetAt: number | undefined, at: Source) => {
  const window = windowOf(duration, resetAt, { now: at.now, timezone: at.zone, resetTime: at.clock });
  return window && new Windows(factsOf({ usd: 1, ...window }, 'budget').rule);
};

/** Where the next window is farther away than one is long, and would begin sooner here: the key comes blocked. */
const isRestricted = (duration: string, resetAt: number, { now, zone, clock }: Source): boolean =>
  limitsOf({
    row: { max_budget: 1, budget_duration: duration, budget_reset_at: new Date(resetAt).toISOString() },
    spent: {},
    clock: { now, timezone: zone, resetTime: clock },
  }).restrictions.includes('budget_reset_at');

/** Windows of civil days keep the hour over a change of the clock; lengths do not. */
const KEEPS_HOUR = /^(?:24h|daily|1d|7d|weekly|1w|30d|monthly|1mo)$/;

for (const version of ['1.94.0', '1.110.2'])
  describe(`windows of budgets of LiteLLM ${version}`, () => {
    const isWord = (duration: string): boolean => /^[a-z]/.test(duration);
    // Before 1.104 LiteLLM knew neither words nor weeks: both began again at the next midnight, and here they never begin sooner.
    const isNew = version === '1.110.2';
    const exact = someCases(version).filter(([duration]) => isNew || !(isWord(duration) || duration.endsWith('w')));

    it('begin anew when they would there, where its row says when, and where it does not', () => {
      for (const [duration, zone, clock, at, reset = ''] of exact) {
        const now = Date.parse(at);
        const end = Date.parse(reset);
        for (const known of [end, undefined]) {
          const source = { now, zone, clock };
          const { endsAt } = windowsOf(duration, known, source)!.at(now);
          if (isRestricted(duration, end, source)) expect(endsAt).to.be.below(end);
          else
            expect(new Date(endsAt).toISOString(), `${duration} ${zone} ${clock} ${at} ${known}`).to.equal(
              new Date(end).toISOString(),
            );
        }
      }
    });

    it('are refused where they would begin sooner, of few lengths alone', () => {
      const refused = exact.filter(([duration, zone, clock, at, reset = '']) =>
        isRestricted(duration, Date.parse(reset), { now: Date.parse(at), zone, clock }),
      );
      expect(refused.length / exact.length).to.be.below(0.1);
      expect(refused.filter(([duration]) => KEEPS_HOUR.test(duration))).to.deep.equal([]);
    });

    it('of days, weeks and months go on as they do there, over changes of the clock', () => {
      for (const [duration, zone, clock, at, ...resets] of exact.filter(([each]) => KEEPS_HOUR.test(each))) {
        const windows = windowsOf(duration, undefined, { now: Date.parse(at), zone, clock })!;
        for (const [place, reset] of resets.slice(0, -1).entries())
          expect(windows.at(Date.parse(reset)).endsAt, `${duration} ${zone} ${clock} ${reset}`).to.equal(
            Date.parse(resets[place + 1]!),
          );
      }
    });

    it('begin anew no more often than there', () => {
      for (const [duration, zone, clock, at, ...resets] of someCases(version)) {
        const end = Date.parse(resets[0]!);
        const source = { now: Date.parse(at), zone, clock };
        if (isRestricted(duration, end, source)) continue;
        const windows = windowsOf(duration, end, source)!;
        let begun = 0;
        for (let now = source.now; begun < 9; begun += 1) {
          now = windows.at(now).endsAt;
          if (now > Date.parse(resets.at(-1)!)) break;
        }
        expect(begun, `${duration} ${zone} ${clock} ${at}`).to.be.at.most(resets.length);
      }
    });
  });

describe('a duration of LiteLLM', () => {
  it('that no window here is like is not carried', () => {
    const clock = { now: Date.parse('2026-11-28T02:00:00Z'), timezone: 'UTC', resetTime: '00:00' };
    for (const duration of ['30s', '3600s', '2mo', '0d', 'hourly', 'tomorrow', '1y', '30', '', '1d2h', '99999999d'])
      expect(windowOf(duration, undefined, clock), duration).to.equal(undefined);
    expect(windowOf(undefined, undefined, clock)).to.deep.equal({ every: 'total' });
  });
});
