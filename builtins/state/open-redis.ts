import { within } from '../../host/common/clock.ts';
import type { StateSettings } from '../../host/environment/state-settings.ts';
import type { Host } from '../../host/host.ts';
import { createStateClient } from './redis-client.ts';
import { RedisLimits } from './redis-limits.ts';
import { RedisPlaces } from './redis-places.ts';

/** Milliseconds that a start waits for the server, and a stop for leaving it. */
const OPEN_MS = 2000;
const LEAVE_MS = 1000;
const LONGEST_NAME = 64;

/** Limits are held there from now on. A server that does not answer does not keep the gateway from starting. */
export async function openRedis(host: Host, settings: StateSettings): Promise<() => Promise<void>> {
  const { stores, log, services } = host;
  const { clock } = services;
  const { id } = stores.replica;
  const client = await createStateClient(settings, `gw-${id}`.slice(0, LONGEST_NAME));
  const places = new RedisPlaces({ client, prefix: settings.prefix, id });
  const limits = new RedisLimits({ client, clock, log, prefix: settings.prefix, id, heard: () => places.renew() });
  const connected = client.connect();
  try {
    await within(connected, OPEN_MS, clock, 'connecting');
    await within(refuseCluster(client), OPEN_MS, clock, 'asking the server');
  } catch (error) {
    if (error instanceof IsCluster) {
      client.destroy();
      throw error;
    }
    connected.catch(() => {}); // it goes on trying
    log.error('the shared state did not answer at the start, it is asked again all the time', {
      backend: 'redis',
      error,
    });
  }
  await within(limits.beat(), OPEN_MS, clock, 'joining').catch(() => {});
  stores.limits.supply('redis', limits);
  stores.places.supply('redis', places);
  return async () => {
    await within(Promise.all([limits.leave(), places.leave()]), LEAVE_MS, clock, 'leaving').catch(() => {}); // its word ends by itself
    client.destroy();
  };
}

class IsCluster extends Error {
  override readonly name = 'IsCluster';
}

async function refuseCluster(client: Awaited<ReturnType<typeof createStateClient>>): Promise<void> {
  const info = await client.info('cluster');
  if (/^cluster_enabled:1/m.test(info))
    throw new IsCluster(
      'GW_STATE_URL cannot be used: Redis Cluster is not supported, because a step over several keys must be one step; give a server or a proxy of one slot',
    );
}
