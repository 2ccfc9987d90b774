import type { GatewayConfig } from '../../../host/config/document.ts';
import { buildOffline } from '../../../host/generation/offline.ts';
import type { Finding } from '../../../host/host-hooks.ts';
import type { Host } from '../../../host/host.ts';

/** Said of references by the lines about secrets, and of accounts by the section about money. */
const SAID_ELSEWHERE: ReadonlySet<string> = new Set(['WN17', 'WN40', 'WN41', 'WN42', 'WN43', 'WN44', 'WN45']);

/** What a start would warn of: instances without a target, groups that nothing serves, and the like. */
export async function fleetWarnings(host: Host, config: GatewayConfig): Promise<readonly Finding[]> {
  const generation = await buildOffline(host, config);
  try {
    return generation.warnings
      .filter(({ rule }) => !SAID_ELSEWHERE.has(rule))
      .map(({ path, rule, message, fix }) => ({ level: 'warning', text: `${path}: ${rule}: ${message}; fix: ${fix}` }));
  } finally {
    await generation.dispose();
  }
}
