import type { Target } from '../pipeline/target.ts';
import type { ConnectedProvider } from '../upstream/connect.ts';
import type { GenerationDeps } from './generation-deps.ts';
import { advertisedOf, allOf, type KnownModels, type ModelSource } from './model-index.ts';

/** What is known of a target's models: declared, mapped, configured, and what builtins add. */
export function modelsOf(deps: GenerationDeps, { virtualKey, provider, config }: Target): KnownModels {
  return providerModels(deps, virtualKey, provider, [...(config.models ?? []), ...Object.keys(config.model_map ?? {})]);
}

/** What asks the catalog for the models of a provider: the name of its module, where it is connected. */
export const catalogName = (provider: ConnectedProvider | undefined, name: string): string =>
  provider?.module.name ?? name;

function providerModels(
  deps: Pick<GenerationDeps, 'hooks' | 'registry'>,
  name: string,
  provider: ConnectedProvider | undefined,
  declared: readonly string[],
): KnownModels {
  const added: Record<ModelSource, string[]> = { catalog: [], discovered: [] };
  deps.hooks.models.call({
    provider: name,
    catalogProvider: catalogName(provider, name),
    module: deps.registry.providers.get(catalogName(provider, name)),
    add: (source, models) => {
      for (const model of models) added[source].push(model);
    },
  });
  return { declared, configured: provider?.configuredModels ?? [], ...added };
}

/** What a registered provider lists that no target names. */
export function untargetedModels(
  deps: Pick<GenerationDeps, 'hooks' | 'registry'>,
  name: string,
  provider: ConnectedProvider | undefined,
): readonly string[] {
  return advertisedOf(providerModels(deps, name, provider, []));
}

/** How many models each registered provider has, a target or not. */
export function countModels(deps: GenerationDeps, targets: readonly Target[]): Map<string, number> {
  const counts = new Map(
    deps.providers.entries().map(([name, provider]) => [name, allOf(providerModels(deps, name, provider, [])).size]),
  );
  for (const target of targets) if (target.provider) counts.set(target.virtualKey, allOf(modelsOf(deps, target)).size);
  return counts;
}
