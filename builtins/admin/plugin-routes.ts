import { listedSettings } from '../../host/config/module-settings.ts';
import { pluginSchema } from '../../host/config/json-schema/configuration-schema.ts';
import type { PluginModule } from '../../host/contract/index.ts';
import { neededStages } from './lists/needed-stages.ts';
import { coverage } from '../../host/explain/coverage.ts';
import type { Host } from '../../host/host.ts';
import type { JsonRoute } from '../../host/http/json-route.ts';
import { failsOpen } from '../../host/pipeline/guards/plugin-policy.ts';

/** The plugins of the running configuration, what they read of it, and all that could stand there. See docs/admin.md#routes. */
export function pluginRoutes(host: Host): readonly JsonRoute[] {
  let catalog: object | undefined; // the registry is sealed before routes are mounted; to describe its schemas takes a tenth of a start
  let schemas: object | undefined;
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
      path: '/admin/plugins/schema',
      scope: 'read_only',
      answer: () => ({ status: 200, body: (schemas ??= { data: schemasOf(host.registry.plugins) }) }),
    },
    {
      method: 'GET',
      path: '/admin/plugins/coverage',
      scope: 'read_only',
      answer: () => ({ status: 200, body: covered() }),
    },
  ];
}

/** What a form of each plugin needs: its stages, which of them it cannot do without, and the JSON Schema of its settings. */
function schemasOf(plugins: ReadonlyMap<string, PluginModule>): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Array.from(plugins, ([name, module]) => {
      const { stages, surfaces } = module;
      const shape = { stages, also_needs: neededStages(module), ...(surfaces && { surfaces }) };
      return [name, { ...shape, schema: orNull(() => pluginSchema(module)) }];
    }),
  );
}

/** A module of a third party may fail at what it is asked; its form is then one of JSON. */
function orNull<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}

function described(module: PluginModule): object {
  const { name, type, summary } = module;
  return { name, type, summary, settings: listedSettings(module), fails_open: failsOpen(module) };
}
