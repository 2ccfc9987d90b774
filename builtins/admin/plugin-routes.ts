import { listedSettings } from '../../host/config/module-settings.ts';
import type { PluginModule } from '../../host/contract/index.ts';
import { coverage } from '../../host/explain/coverage.ts';
import type { Host } from '../../host/host.ts';
import type { JsonRoute } from '../../host/http/json-route.ts';
import { failsOpen } from '../../host/pipeline/guards/plugin-policy.ts';

/** The plugins of the running configuration, what they read of it, and all that could stand there. See docs/admin.md#routes. */
export function pluginRoutes(host: Host): readonly JsonRoute[] {
  let catalog: object | undefined; // the registry is sealed before routes are mounted; to describe its schemas takes a tenth of a start
  const configured = (): object[] =>
    (host.current?.config.plugins ?? []).map(({ name, type = '', enabled }) => ({ name, type, enabled }));
  const covered = (): object => {
    const { rows, warnings } = host.current ? coverage(host, host.current.config) : { rows: [], warnings: [] };
    return { data: rows, warnings };
  };
  return [
    { method: 'GET', path: '/admin/plugins', scope: 'read_only', answer: () => ({ status: 200, body: configured() }) },
    {
      method: 'GET',
      path: '/admin/plugins/catalog',
      scope: 'read_only',
      answer: () => ({ status: 200, body: (catalog ??= { data: [...host.registry.plugins.values()].map(described) }) }),
    },
    {
      method: 'GET',
      path: '/admin/plugins/coverage',
      scope: 'read_only',
      answer: () => ({ status: 200, body: covered() }),
    },
  ];
}

function described(module: PluginModule): object {
  const { name, type, summary } = module;
  return { name, type, summary, settings: listedSettings(module), fails_open: failsOpen(module) };
}
