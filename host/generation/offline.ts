import type { Counters, Log } from '../contract/index.ts';
import type { GatewayConfig } from '../config/document.ts';
import type { Host } from '../host.ts';
import { type ConnectedProvider, connectProvider, hasCredentials } from '../upstream/connect.ts';
import { buildGeneration } from './build.ts';
import type { Generation } from './generation.ts';

const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const UNCOUNTED: Counters = { add: () => {}, observe: () => {} };

/**
 * Builds a configuration that has passed every check to answer questions about it: it calls nobody, logs and counts
 * nothing, resolves no reference, and holds no plugin. A target is registered when the environment holds its credential.
 */
export async function buildOffline(host: Host, config: GatewayConfig): Promise<Generation> {
  const services = { ...host.services, log: SILENT, counters: UNCOUNTED };
  const offline = Object.assign(Object.create(host) as Host, { log: SILENT, counters: UNCOUNTED, services, providers: await registeredProviders(host, config) });
  await host.hooks.openOffline.promise(offline);
  return buildGeneration(offline, { ...config, plugins: [], mcp_servers: [], observability: {} }, 0);
}

async function registeredProviders(host: Host, { targets }: GatewayConfig): Promise<ReadonlyMap<string, ConnectedProvider>> {
  const registered = new Map<string, ConnectedProvider>();
  for (const { virtual_key: name } of targets) {
    const module = host.registry.providers.get(name);
    if (!module || module.offline || !hasCredentials(module, host.variables)) continue;
    const provider = await connectProvider(module, host.variables, { log: SILENT, now: host.services.clock.now, isOffline: true }).catch(() => undefined);
    if (provider) registered.set(name, provider); // one that cannot be set up is left out at start, too
  }
  return registered;
}
