import type { Target } from '../pipeline/target.ts';
import type { ConnectedProvider } from '../upstream/connect.ts';
import { connectionOf, type ProviderInstance } from '../upstream/instance.ts';
import type { GenerationDeps } from './generation-deps.ts';
import type { Generation } from './generation.ts';
import { advertisedOf, allOf, type KnownModels, type ModelSource } from './model-index.ts';

type ModelDeps = Pick<GenerationDeps, 'hooks' | 'registry'>;

/** A provider as far as it decides about models, under the name that calls it. */
interface Named {
  readonly name: string;
  readonly provider: ConnectedProvider | undefined;
  readonly instance: ProviderInstance | undefined;
}

/** What is known of a target's models: declared, mapped, configured, and what builtins add. */
export function modelsOf(deps: ModelDeps, { virtualKey: name, provider, instance, config }: Target): KnownModels {
  const declared = [...(config.models ?? []), ...Object.keys(config.model_map ?? {})];
  return providerModels(deps, { name, provider, instance }, declared);
}

/** What asks the catalog for the models of a provider: the name of its module, where it is connected. */
export const catalogName = (provider: ConnectedProvider | undefined, name: string): string =>
  provider?.module.name ?? name;

function providerModels(deps: ModelDeps, named: Named, declared: readonly string[]): KnownModels {
  const { name, provider, instance } = named;
  const added: Record<ModelSource, string[]> = { catalog: [], discovered: [] };
  if (instance?.models) return { declared, configured: instance.models, ...added };
  const plain = catalogName(provider, name);
  deps.hooks.models.call({
    provider: name,
    instance,
    catalogProvider: instance?.catalogProvider ?? plain,
    module: deps.registry.providers.get(instance ? (instance.catalog ?? '') : plain),
    add: (source, models) => {
      for (const model of models) added[source].push(model);
    },
  });
  return { declared, configured: instance?.configuredModels ?? provider?.configuredModels ?? [], ...added };
}

/** What a provider is known to serve whether or not a target names it, in lists. */
export function untargetedModels(
  deps: ModelDeps,
  { environment, instances }: Pick<Generation, 'environment' | 'instances'>,
  name: string,
): readonly string[] {
  const instance = instances.get(name);
  const provider = instance ? connectionOf(instance) : environment.get(name);
  return advertisedOf(providerModels(deps, { name, provider, instance }, []));
}

/** Whether nothing but its service itself names a model of an instance. */
export function isUnnamed(deps: ModelDeps, instance: ProviderInstance, target: Target | undefined): boolean {
  if (instance.models) return false;
  const { name } = instance;
  const known = target
    ? modelsOf(deps, target)
    : providerModels(deps, { name, provider: connectionOf(instance), instance }, []);
  return allOf({ ...known, discovered: [] }).size === 0;
}

/** How many models each registered provider has, a target or not. */
export function countModels(
  deps: ModelDeps,
  { environment, instances, targetList }: Pick<Generation, 'environment' | 'instances' | 'targetList'>,
): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (named: Named): void => {
    if (named.provider) counts.set(named.name, allOf(providerModels(deps, named, [])).size);
  };
  for (const [name, provider] of environment) count({ name, provider, instance: undefined });
  for (const [name, instance] of instances) count({ name, provider: connectionOf(instance), instance });
  for (const target of targetList)
    if (target.provider) counts.set(target.virtualKey, allOf(modelsOf(deps, target)).size);
  return counts;
}
