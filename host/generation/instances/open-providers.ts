import type { GatewayConfig } from '../../config/document.ts';
import type { Problem } from '../../config/problems.ts';
import type { Carryover } from '../../contract/index.ts';
import type { Target } from '../../pipeline/target.ts';
import type { GenerationProviders } from '../generation.ts';
import type { GenerationDeps } from '../generation-deps.ts';
import { isUnnamed } from '../known-models.ts';
import { connectFreed } from './environment-providers.ts';
import {
  instanceWarnings,
  logWarning,
  problemOf,
  type ProviderWarning,
  unansweredWarning,
} from './instance-warnings.ts';
import { responsesWarnings } from './responses-warnings.ts';
import { openInstances, problemsOf } from './open-instances.ts';

const NOBODY: ReadonlySet<string> = new Set();

export interface OpenProviders extends GenerationProviders {
  readonly warnings: readonly Problem[];
}

/** What a configuration may call: entries of `providers`, opened, and the providers of the environment that they leave. */
export async function openProviders(
  deps: GenerationDeps,
  config: GatewayConfig,
  carryover: Carryover,
): Promise<OpenProviders> {
  const taken = new Set(Object.keys(config.providers ?? {}));
  if (deps.passedOver.size > 0) await connectFreed(deps, taken);
  const isRefresh = deps.current?.config === config;
  const responses = config.providers || config.models ? responsesWarnings(deps, config) : [];
  if (!isRefresh) for (const warning of responses) logWarning(deps, warning);
  if (!config.providers)
    return {
      environment: deps.providers,
      instances: new Map(),
      unasked: NOBODY,
      warnings: responses.map(problemOf),
    };
  const environment = new Map([...deps.providers].filter(([name]) => !taken.has(name)));
  const instances = await openInstances(deps, config, { carryover, isRefresh });
  const { warnings, unasked } = instanceWarnings(deps, config, environment);
  if (!isRefresh) for (const warning of warnings) logWarning(deps, warning);
  return {
    environment,
    instances,
    unasked,
    warnings: [...problemsOf(instances), ...[...warnings, ...responses].map(problemOf)],
  };
}

interface Asking {
  readonly instances: GenerationProviders['instances'];
  readonly targets: ReadonlyMap<string, Target>;
}

/** Has instances asked that nothing was asked of yet. Returns those that did not answer (`WN20`). */
export async function firstModels(
  deps: GenerationDeps,
  config: GatewayConfig,
  { instances, targets }: Asking,
): Promise<readonly Problem[]> {
  const warnings: ProviderWarning[] = [];
  await deps.firstModels?.({
    instances: [...instances.values()].map((instance) => ({
      instance,
      isUnnamed: isUnnamed(deps, instance, targets.get(instance.name)),
    })),
    isRefresh: deps.current?.config === config,
    failed: ({ name }) => warnings.push(unansweredWarning(name)),
  });
  for (const warning of warnings) logWarning(deps, warning);
  return warnings.map(problemOf);
}
