import { kindKeys } from '../../../host/common/kinds/kind-keys.ts';
import type { ProviderModule } from '../../../host/contract/index.ts';
import type { Host } from '../../../host/host.ts';
import { SHIPPED } from '../../../host/registry/registry.ts';
import { connectionOf } from '../../../host/upstream/instance.ts';
import type { Query } from '../query.ts';

interface CatalogEntry {
  readonly id: string;
  readonly registered: boolean;
  readonly catalog_models: number;
  /** Names of the instances of the kind. */
  readonly instances?: readonly string[];
  /** Keys that an instance of the kind may have beside those that all have. */
  readonly settings?: readonly KeyEntry[];
}

interface KeyEntry {
  readonly key: string;
  readonly required: boolean;
  readonly secret: boolean;
}

/**
 * Every provider that this build ships, whether or not it is set up. What an instance needs is said where the
 * configuration declares one, or where `include=settings` asks for it. See docs/admin.md#routes.
 */
export function builtInProviders(host: Host, query: Query): readonly CatalogEntry[] {
  const { registry, services, current } = host;
  const { catalog } = services;
  const registered = registeredKinds(host);
  const isAsked = query.words('include', ['settings']).length > 0;
  const hasMore = isAsked || current?.config.providers !== undefined;
  const shipped = [...registry.providers.values()].filter(
    ({ name, offline }) => !offline && registry.originOf('provider', name) === SHIPPED,
  );
  const isCurrent = (provider: string, model: string): boolean =>
    !['deprecated', 'legacy'].includes(catalog.entry(provider, model)?.lifecycle.status ?? '');
  return shipped
    .toSorted((a, b) => Number(isGeneral(a)) - Number(isGeneral(b)) || (a.name < b.name ? -1 : 1))
    .map((module) => ({
      id: module.name,
      registered: registered.has(module.name),
      catalog_models: catalog.modelsOf(module.name).filter((model) => isCurrent(module.name, model)).length,
      ...(hasMore && { instances: instancesOf(host, module), settings: keysOf(module) }),
    }));
}

/** Only the configuration registers it, for any service. */
const isGeneral = ({ connection }: ProviderModule): boolean => connection.onlyDeclared === true;

/** Kinds of which something can be called. */
function registeredKinds({ current, providers }: Host): ReadonlySet<string> {
  const { environment = providers, instances } = current ?? {};
  const declared = [...(instances?.values() ?? [])].filter(connectionOf).map(({ kind }) => kind);
  return new Set([...environment.keys(), ...declared]);
}

const instancesOf = ({ current }: Host, { name }: ProviderModule): readonly string[] =>
  [...(current?.instances.values() ?? [])].filter(({ kind }) => kind === name).map((instance) => instance.name);

/** The address first, then settings and secrets as the kind lists them. A secret is required where each set of them has it. */
function keysOf(module: ProviderModule): readonly KeyEntry[] {
  const { settings, secrets, sets, needsAddress } = kindKeys(module);
  return [
    { key: 'base_url', required: needsAddress, secret: false },
    ...Array.from(settings, ([key, { isRequired }]) => ({ key, required: isRequired, secret: false })),
    ...Array.from(secrets.keys(), (key) => ({
      key,
      required: sets.length > 0 && sets.every(({ needs }) => needs.includes(key)),
      secret: true,
    })),
  ];
}
