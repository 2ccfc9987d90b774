import { listedSettings } from '../../host/config/module-settings.ts';
import type { PluginModule } from '../../host/contract/index.ts';
import type { Host } from '../../host/host.ts';
import type { JsonRoute } from '../../host/http/json-route.ts';
import { failsOpen } from '../../host/pipeline/guard.ts';

/** The plugins of the running configuration, and all that could stand there. Source: specification 2.6, admin reference 15. */
export function pluginRoutes(host: Host): readonly JsonRoute[] {
  let catalog: object | undefined; // the registry is sealed before routes are mounted; to describe its schemas takes a tenth of a start
  const configured = (): object[] => (host.current?.config.plugins ?? []).map(({ name, type = '', enabled }) => ({ name, type, enabled }));
  return [
    { method: 'GET', path: '/admin/plugins', scope: 'read_only', answer: () => ({ status: 200, body: configured() }) },
    { method: 'GET', path: '/admin/plugins/catalog', scope: 'read_only', answer: () => ({ status: 200, body: catalog ??= { data: [...host.registry.plugins.values()].map(described) } }) },
  ];
}

function described(module: PluginModule): object {
  const { name, type, summary } = module;
  return { name, type, summary, settings: listedSettings(module), fails_open: failsOpen(module) };
}
