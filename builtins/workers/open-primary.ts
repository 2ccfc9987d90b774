import type { Host } from '../../host/host.ts';
import type { DeniedRequest } from '../../host/http/door/denied-credentials.ts';
import { DENIED, serveAddresses } from '../../host/workers/addresses.ts';
import { serveStores, supplyShared } from '../../host/workers/stores/serve-stores.ts';
import type { PrimaryTeam } from '../../host/workers/team.ts';
import { WorkerConfigurations } from '../../host/workers/worker-configurations.ts';

/** Answers what workers ask, once there are any. */
export function openPrimary(host: Host, team: PrimaryTeam): void {
  supplyShared(host, team);
  serveStores(host, team);
  team.on(DENIED, (seen) => host.denied.record(seen as DeniedRequest));
  serveAddresses(team, {
    limit: host.settings.rateLimit,
    addresses: host.addresses,
    clock: host.services.clock,
  });
  host.companions = new WorkerConfigurations({
    team,
    log: host.log,
    start: () => {
      const { document, version, mark, isWritten } = host.applier.running;
      return { document, version, mark, isWritten, isDefault: !isWritten && host.configFile === undefined };
    },
  });
}
