/** A timer that can be started again from now, at the cost of a field write. */
export interface Timer {
  refresh(): void;
  cancel(): void;
}

/** All time the host knows. Injected, so that tests need no sleeps. */
export interface Clock {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds that never jump. */
  readonly monotonic: () => number;
  /** Calls `then` once, `ms` milliseconds from now or from the last refresh. */
  readonly timer: (ms: number, then: () => void) => Timer;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer: (ms, then) => {
    const timeout = setTimeout(then, Math.min(ms, MAX_TIMER_MS));
    return {
      refresh: () => {
        timeout.refresh();
      },
      cancel: () => clearTimeout(timeout),
    };
  },
};

/**
 * A clock whose time of day never goes back: what has expired stays expired when the machine's clock is set back. A step
 * forwards is followed.
 */
export function forwardClock(clock: Clock): Clock {
  let offset = Number.NEGATIVE_INFINITY;
  return {
    ...clock,
    now: () => {
      const at = clock.monotonic();
      offset = Math.max(offset, clock.now() - at);
      return Math.floor(at + offset);
    },
  };
}

/** Work that did not finish in its time. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

/** The work's result, or a failure when it takes longer: the caller does not wait for work that hangs. */
export async function within<T>(work: Promise<T>, ms: number, { timer: start }: Clock, what: string): Promise<T> {
  const limit = Promise.withResolvers<never>();
  const timer = start(ms, () => limit.reject(new TookTooLong(`${what} did not finish within ${ms} ms`)));
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    timer.cancel();
  }
}
