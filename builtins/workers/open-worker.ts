import type { Host } from '../../host/host.ts';
import { DENIED } from '../../host/workers/addresses.ts';
import {
  type ChangedWord,
  type Freshness,
  STORE_TOPIC,
  supplyRemoteStores,
} from '../../host/workers/stores/remote-stores.ts';
import { every } from '../../host/workers/life/seats.ts';
import { TOPIC, type WorkerTeam } from '../../host/workers/team.ts';
import { loadsOf, STATE } from '../../host/workers/worker-states.ts';

/** Milliseconds between two signs that a worker lives. */
const BEAT_MS = 1000;

/** Goes by the stores of the primary, and says that it lives. Gives what ends that. */
export async function openWorker(host: Host, team: WorkerTeam): Promise<() => void> {
  const { channel } = team;
  const { stores, services } = host;
  const { feeds, log } = await supplyRemoteStores(host, team);
  channel.on(STORE_TOPIC.changed, async (value) => {
    const { what, id } = value as ChangedWord;
    feeds[what].tell(id);
    if (what === 'account') await stores.accounts.settled();
  });
  channel.on(STORE_TOPIC.uses, () => stores.keys.flush());
  host.denied.tell = (seen) => channel.tell(DENIED, seen);
  channel.on(STATE, () => loadsOf(host.current));
  channel.on(TOPIC.hangUp, () => host.secrets.files.look());
  const beat = async (): Promise<void> => {
    const askedAt = services.clock.monotonic();
    const freshness = await channel.ask<Freshness>(TOPIC.beat);
    for (const feed of Object.values(feeds)) feed.heard(freshness);
    const { time } = freshness;
    if (time !== undefined) stores.clock.read({ askedAt, answeredAt: services.clock.monotonic(), time });
  };
  await beat();
  const stop = every(services.clock, BEAT_MS, () => void beat().catch(() => {})); // the primary has gone, which ends this process
  return () => {
    stop();
    log?.flush();
  };
}
