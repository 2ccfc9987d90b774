import type { Clock } from '../../host/common/clock.ts';
import { fakeClock } from '../kit/clock.ts';

/** Longer timers are limits and intervals, which never come; shorter ones are waits before a try. */
const LONGEST_WAIT_MS = 1000;

/** Time that stands still, so that no duration is measured; short waits end all the same. */
export function standingClock(): Clock {
  const clock = fakeClock();
  return {
    now: clock.now,
    monotonic: clock.monotonic,
    timer: (ms, fire) => (ms > LONGEST_WAIT_MS ? clock.timer(ms, fire) : soon(fire)),
  };
}

function soon(fire: () => void): ReturnType<Clock['timer']> {
  let timer = setTimeout(fire, 1);
  return {
    refresh: () => {
      clearTimeout(timer);
      timer = setTimeout(fire, 1);
    },
    cancel: () => clearTimeout(timer),
  };
}
