import { GatewayError } from '../../../host/contract/index.ts';
import type { Host } from '../../../host/host.ts';
import { limiterKey } from '../../../host/http/client-address.ts';
import { createBuckets } from '../../../host/state/buckets.ts';

/** Attempts of one address, good or bad. See docs/reference/admin.md#signing-in. */
const ATTEMPTS = { ratePerSecond: 10 / 60, burst: 20 };
const MOST_ADDRESSES = 10_000;

/** Takes one attempt to sign in, by whatever way. Throws where an address makes too many. */
export type TakeAttempt = (address: string) => void;

export function attempts({ counters, services: { clock } }: Pick<Host, 'counters' | 'services'>): TakeAttempt {
  const buckets = createBuckets(MOST_ADDRESSES);
  return (address) => {
    const { taken, retryAfterMs } = buckets.take(limiterKey(address), ATTEMPTS, clock.monotonic());
    if (taken) return;
    counters.add('gateway_rate_limit_rejections_total', { key_type: 'admin_session' });
    throw new GatewayError('rate_limit_exceeded', 'too many attempts to sign in from this address', { retryAfterMs });
  };
}
