import { systemClock, within } from '../../host/common/clock.ts';
import { errorMessage } from '../../host/common/error-message.ts';
import type { StateSettings } from '../../host/environment/state-settings.ts';
import type { Finding } from '../../host/host-hooks.ts';
import { createStateClient } from './redis-client.ts';

const LIMIT_MS = 2000;
const MAY_FORGET = 'WN85';

/** Whether the server answers, and whether it keeps what it is given. */
export async function examineState(settings: StateSettings): Promise<readonly Finding[]> {
  const address = `${settings.host}:${settings.port}`;
  try {
    const client = await createStateClient(settings, 'gw-doctor');
    try {
      await within(client.connect(), LIMIT_MS, systemClock, 'connecting');
      const info = await within(client.info(), LIMIT_MS, systemClock, 'asking the server');
      const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction';
      const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'of an unknown version';
      return [
        { level: 'good', text: `${address}: a server ${version} answers` },
        ...(policy === 'noeviction'
          ? []
          : [
              {
                level: 'warning',
                text: `${MAY_FORGET}: the server may forget limits (maxmemory-policy ${policy}), and one that is forgotten is whole again; set maxmemory-policy noeviction`,
              } as const,
            ]),
      ];
    } finally {
      client.destroy();
    }
  } catch (error) {
    return [{ level: 'bad', text: `GW_STATE_URL: ${address}: ${errorMessage(error)}` }];
  }
}
