import type { GatewayConfig, ProviderConfig } from '../../../host/config/document.ts';
import type { Host } from '../../../host/host.ts';
import { credentialsOf } from '../../../host/upstream/instances/instance-variables.ts';
import { table } from '../report.ts';

/** The instances and the groups of a configuration, a table each; none where the document has none. */
export function fleetTables(host: Pick<Host, 'registry'>, { providers = {}, models = [] }: GatewayConfig): string[] {
  const instances = Object.entries(providers).map(([name, block]) => [
    name,
    block.kind ?? '',
    addressHost(host, block),
    credentialsOf(block)
      .map((credential) => credential.name)
      .join(', '),
  ]);
  const groups = models.map(({ name, routes, strategy, fallbacks = [] }) => [
    name,
    routes.map(({ target, model }) => (model === undefined ? target : `${target}@${model}`)).join(', '),
    strategy.mode,
    fallbacks.join(', ') || '-',
  ]);
  return [
    ...(instances.length > 0 ? [table(['INSTANCE', 'KIND', 'ADDRESS', 'CREDENTIALS'], instances)] : []),
    ...(groups.length > 0 ? [table(['GROUP', 'ROUTES', 'STRATEGY', 'FALLBACKS'], groups)] : []),
  ];
}

/** Host of the address that is written, else of the kind's; a kind may make its own of settings. */
function addressHost({ registry }: Pick<Host, 'registry'>, { kind = '', base_url: written }: ProviderConfig): string {
  const own = registry.providers.get(kind)?.connection.baseUrl;
  return URL.parse(written ?? (typeof own === 'string' ? own : ''))?.host ?? 'of its kind';
}
