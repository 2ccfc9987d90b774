import type { Clock } from '../common/clock.ts';
import { GatewayError } from '../contract/index.ts';
import type { Cancellation } from '../upstream/cancellation.ts';

/** Cancels with `gateway_timeout` after so many milliseconds, if any. Returns how to stop that. */
export function armDeadline(
  cancellation: Cancellation,
  ms: number | undefined,
  what: string,
  clock: Clock,
): (() => void) | undefined {
  if (ms === undefined) return undefined;
  const timer = clock.timer(ms, () =>
    cancellation.cancel(new GatewayError('gateway_timeout', `${what} within ${ms} ms`)),
  );
  return () => timer.cancel();
}
