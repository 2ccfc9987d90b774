import type { Clock, Timer } from '../../host/common/clock.ts';

export interface FakeClock extends Clock {
  /** Moves time on; timers that become due run in order. */
  advance(ms: number): void;
  /** Timers that wait. */
  readonly waiting: number;
  /** Milliseconds until the next of them; undefined without any. */
  readonly next: number | undefined;
}

interface Waiting {
  at: number;
  readonly ms: number;
  readonly fire: () => void;
}

/** Time that stands still until the test moves it on. */
export function fakeClock(start = 1_700_000_000_000): FakeClock {
  let elapsed = 0;
  const waiting = new Set<Waiting>();
  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    timer: (ms, fire): Timer => {
      const entry: Waiting = { at: elapsed + ms, ms, fire };
      waiting.add(entry);
      return {
        refresh: () => {
          entry.at = elapsed + ms;
          waiting.add(entry);
        },
        cancel: () => {
          waiting.delete(entry);
        },
      };
    },
    advance: (ms) => {
      const end = elapsed + ms;
      for (;;) {
        const due = [...waiting].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
        if (!due) break;
        waiting.delete(due);
        elapsed = due.at;
        due.fire();
      }
      elapsed = end;
    },
    get waiting() {
      return waiting.size;
    },
    get next() {
      return waiting.size === 0 ? undefined : Math.min(...[...waiting].map(({ at }) => at)) - elapsed;
    },
  };
}
