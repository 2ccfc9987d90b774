import type { GatewayConfig } from '../../../host/config/document.ts';
import type { Finding } from '../../../host/host-hooks.ts';
import type { Host } from '../../../host/host.ts';
import { fleetWarnings } from './examine-groups.ts';
import { instanceFindings } from './examine-instances.ts';

type Add = (title: string, findings: readonly Finding[]) => void;

/** Sections of `gw doctor` about `providers` and `models`. */
export async function examineFleet(host: Host, config: GatewayConfig, add: Add): Promise<void> {
  if (config.providers) add('Instances', await instanceFindings(host, config));
  const warnings = await fleetWarnings(host, config);
  if (warnings.length > 0) add('Instances and groups', warnings);
}
