import type { Timer } from '../../../host/common/clock.ts';
import { HOUR_MS } from '../../../host/common/once-per.ts';
import type { SpendSettings } from '../../../host/environment/store-settings.ts';
import type { Host } from '../../../host/host.ts';
import type { SpendRepository } from '../../../host/stores/spend/spend-ledger.ts';
import type { Sweep } from '../replicas/upkeep.ts';

/** Days after which the hours of a day become one. */
const HOURS_DAYS = 35;
const DAY = 24;
const SLICE = 500;

/** What is done to rows of spend that are old: hours are merged to days, and what is beyond the retention goes. */
export function spendSweeps(
  spend: SpendRepository,
  { days }: Pick<SpendSettings, 'days'>,
  now: () => number,
): readonly Sweep[] {
  const hoursAgo = (count: number): number => Math.floor(now() / HOUR_MS) - count * DAY;
  const merge: Sweep = {
    what: 'hours of spend',
    slice: async (most) => ((await spend.mergeDay(hoursAgo(HOURS_DAYS))) ? most : 0),
  };
  if (days === undefined) return [merge];
  return [{ what: 'old spend', slice: (most) => spend.purge(hoursAgo(days), most) }, merge];
}

/** Does it once an hour, where one process has the store for itself. The result ends it. */
export function keepSpend({ services: { clock }, settings, log }: Host, spend: SpendRepository): () => Promise<void> {
  const sweeps = spendSweeps(spend, settings.spend, clock.now);
  let next: Timer | undefined;
  let round: Promise<void> = Promise.resolve();
  const state = { isEnded: false };
  const sweep = async (): Promise<void> => {
    for (const { slice } of sweeps) while (!state.isEnded && (await slice(SLICE)) === SLICE);
  };
  const later = (): void => {
    if (state.isEnded) return;
    next = clock.timer(HOUR_MS, () => {
      round = sweep()
        .catch((error: unknown) =>
          log.warn('old spend could not be merged or removed, it is tried again in an hour', { error }),
        )
        .then(later);
    });
  };
  later();
  return async () => {
    state.isEnded = true;
    next?.cancel();
    await round;
  };
}
