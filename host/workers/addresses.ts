import type { BucketSpec } from '../contract/index.ts';
import { type Clock, within } from '../common/clock.ts';
import { PRIMARY_LIMIT_MS } from '../stores/state-trips.ts';
import type { Buckets, Taken } from '../state/buckets.ts';
import type { PrimaryTeam, WorkerTeam } from './team.ts';

const ADDRESS = 'address';
/** A request of a credential that does not count. */
export const DENIED = 'denied';
const FREE: Taken = { taken: true, retryAfterMs: 0 };

/** Takes a request of an address from the primary's buckets. While that does not answer, addresses have no limit. */
export const takeAddressOf =
  ({ channel }: WorkerTeam, limit: BucketSpec | undefined, clock: Clock) =>
  (key: string): Promise<Taken> =>
    limit
      ? within(channel.ask<Taken>(ADDRESS, key), PRIMARY_LIMIT_MS, clock, 'the primary').catch(() => FREE)
      : Promise.resolve(FREE);

export function serveAddresses(
  team: PrimaryTeam,
  {
    limit,
    addresses,
    clock,
  }: { readonly limit: BucketSpec | undefined; readonly addresses: Buckets; readonly clock: Pick<Clock, 'monotonic'> },
): void {
  if (limit) team.on(ADDRESS, (key) => addresses.take(String(key), limit, clock.monotonic()));
}
