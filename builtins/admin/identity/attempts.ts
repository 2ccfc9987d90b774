import { GatewayError } from '../../../host/contract/index.ts';
import type { Host } from '../../../host/host.ts';
import { limiterKey } from '../../../host/http/client-address.ts';
import { createBuckets, type Taken } from '../../../host/state/buckets.ts';

/** Attempts of one address, good or bad. See docs/reference/admin.md#signing-in. */
const ATTEMPTS = { ratePerSecond: 10 / 60, burst: 20 };
const MOST_ADDRESSES = 10_000;

/** Takes one attempt to sign in, by whatever way. Throws where an address makes too many. */
export type TakeAttempt = (address: string) => Promise<void>;

/** Where replicas hold limits together an attempt waits for their answer, so that guessing gains nothing from using several. */
export function attempts({ counters, limits, services: { clock } }: Host): TakeAttempt {
  const buckets = createBuckets(MOST_ADDRESSES);
  return async (address) => {
    const key = limiterKey(address);
    const { taken, retryAfterMs } = limits.isShared
      ? await takeShared(limits, key)
      : buckets.take(key, ATTEMPTS, clock.monotonic());
    if (taken) return;
    counters.add('gateway_rate_limit_rejections_total', { key_type: 'admin_session' });
    throw new GatewayError('rate_limit_exceeded', 'too many attempts to sign in from this address', { retryAfterMs });
  };
}

async function takeShared(limits: Host['limits'], key: string): Promise<Taken> {
  const spec = { ...ATTEMPTS, group: 'attempts to sign in' };
  const { refusedAt, retryAfterMs } = await limits.takeAll([{ key, spec, cost: 1, floor: 1 }]);
  return { taken: refusedAt === undefined, retryAfterMs };
}
