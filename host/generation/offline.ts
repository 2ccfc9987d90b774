import type { GatewayConfig } from '../config/document.ts';
import type { Log } from '../contract/index.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import type { Registry } from '../registry/registry.ts';
import { createCounters } from '../state/counters.ts';
import type { Variables } from '../environment/variables.ts';
import { type ConnectedProvider, connectProvider, hasCredentials } from '../upstream/connect.ts';
import { buildGeneration } from './build.ts';
import type { GenerationDeps, ModelHooks } from './generation-deps.ts';
import type { Generation, GenerationDraft } from './generation.ts';

const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** What builtins get that must load something before a command answers questions: there is no listener and no applied configuration. */
export interface OfflineHost {
  readonly services: PipelineServices;
  readonly registry: Registry;
  readonly variables: Variables;
  readonly workingDirectory: string;
}

/** The host's hooks of a command that only answers questions: builtins get no host that runs. */
export interface OfflineHooks extends ModelHooks {
  readonly openOffline: { promise(host: OfflineHost): Promise<void> };
  readonly assemble: { promise(draft: GenerationDraft, host: undefined): Promise<void> };
}

/** What building offline needs of the host. It connects providers of its own. */
export interface OfflineDeps extends Omit<GenerationDeps, 'providers' | 'passedOver' | 'assemble'>, OfflineHost {
  readonly hooks: OfflineHooks;
}

/**
 * Builds a configuration that has passed every check to answer questions about it: it calls no provider, logs and counts
 * nothing, and holds no plugin but those it is given, whose references the environment resolves. A target is registered when the environment holds its credential.
 */
export async function buildOffline(
  host: OfflineDeps,
  config: GatewayConfig,
  plugins: GatewayConfig['plugins'] = [],
): Promise<Generation> {
  const { state, stores, registry, carryover, hooks, variables, secrets } = host;
  const providers = await registeredProviders(host, config);
  const services = await openedOffline(host);
  const deps: GenerationDeps = {
    services,
    state,
    stores,
    registry,
    carryover,
    hooks,
    assemble: (draft) => hooks.assemble.promise(draft, undefined),
    providers,
    passedOver: new Set(),
    variables,
    secrets,
  };
  return buildGeneration(deps, { ...config, plugins, mcp_servers: [], observability: {} }, 0);
}

/** The services of a command that answers questions, with what builtins load for it: the catalog. Nothing is logged or counted. */
export async function openedOffline({
  services: running,
  registry,
  variables,
  workingDirectory,
  hooks,
}: OfflineHost & { readonly hooks: Pick<OfflineHooks, 'openOffline'> }): Promise<PipelineServices> {
  const services: PipelineServices = { ...running, log: SILENT, counters: createCounters() };
  await hooks.openOffline.promise({ services, registry, variables, workingDirectory });
  return services;
}

async function registeredProviders(
  { registry, variables, services: { clock } }: OfflineHost,
  { targets }: GatewayConfig,
): Promise<ReadonlyMap<string, ConnectedProvider>> {
  const registered = new Map<string, ConnectedProvider>();
  for (const { virtual_key: name } of targets) {
    const module = registry.providers.get(name);
    if (!module || module.offline || !hasCredentials(module, variables)) continue;
    const provider = await connectProvider(module, variables, { log: SILENT, now: clock.now, isOffline: true }).catch(
      () => undefined,
    );
    if (provider) registered.set(name, provider); // one that cannot be set up is left out at start, too
  }
  return registered;
}
