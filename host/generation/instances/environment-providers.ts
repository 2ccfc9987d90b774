import { faultAttributes, ModuleFault, type ModuleRef } from '../../boundary/module-fault.ts';
import { TookTooLong, within } from '../../common/clock.ts';
import type { ProviderModule } from '../../contract/index.ts';
import type { Variables } from '../../environment/variables.ts';
import type { PipelineServices } from '../../pipeline/pipeline-services.ts';
import type { Registry } from '../../registry/registry.ts';
import { type ConnectedProvider, connectProvider, hasCredentials } from '../../upstream/connect.ts';
import { brokenVariables } from '../../upstream/credential-values.ts';
import { sendHttp } from '../../upstream/send-http.ts';
import { countInitFailure } from '../../upstream/instances/instance-figures.ts';

/** Longest time that `open` of a provider may take: some ask for a token, or look for credentials in several places. */
export const OPEN_LIMIT_MS = 30_000;

/** What the providers of the environment are connected with, and kept in. */
export interface EnvironmentDeps {
  readonly registry: Registry;
  readonly variables: Variables;
  readonly services: PipelineServices;
  /** Providers whose credentials were found, by name. */
  providers: ReadonlyMap<string, ConnectedProvider>;
  /** Those that were passed over, because an entry of `providers` has their name. */
  passedOver: ReadonlySet<string>;
}

/**
 * By name; last those that any one of several variables registers: a machine may have one of them for other reasons, and
 * the first provider is the first target of the built-in default.
 */
function inRegistrationOrder(modules: Iterable<ProviderModule>): ProviderModule[] {
  const isIncidental = ({ connection }: ProviderModule): boolean =>
    connection.env.some((need) => typeof need !== 'string');
  return [...modules].toSorted(
    (a, b) => Number(isIncidental(a)) - Number(isIncidental(b)) || (a.name < b.name ? -1 : 1),
  );
}

/**
 * Registers every provider whose credentials are in the environment, but for those whose name is taken. One that cannot be
 * built is left out, and logged. Throws `TookTooLong` for one that never ends.
 */
export async function connectEnvironment(deps: EnvironmentDeps, taken: ReadonlySet<string>): Promise<void> {
  const connected = new Map<string, ConnectedProvider>();
  const passedOver = new Set<string>();
  for (const module of inRegistrationOrder(deps.registry.providers.values())) {
    if (module.offline) continue;
    if (taken.has(module.name)) {
      if (hasCredentials(module, deps.variables)) passedOver.add(module.name);
      continue;
    }
    const provider = isUsable(deps, module) ? await connectedOne(deps, module) : undefined;
    if (provider) connected.set(module.name, provider);
  }
  deps.providers = connected;
  deps.passedOver = passedOver;
  for (const provider of connected.keys()) deps.services.log.info('provider registered', { provider });
}

/** Registers those that were passed over and whose name is no longer taken. One that never ends is left out, too. */
export async function connectFreed(deps: EnvironmentDeps, taken: ReadonlySet<string>): Promise<void> {
  const freed = [...deps.passedOver].filter((name) => !taken.has(name));
  if (freed.length === 0) return;
  const { registry, variables, services } = deps;
  const connected = new Map(deps.providers);
  for (const module of freed.flatMap((name) => registry.providers.get(name) ?? [])) {
    const provider =
      isUsable({ variables, services }, module) &&
      (await connectedOne(deps, module).catch((error: unknown) => {
        logFailure(deps, module, error);
      }));
    if (!provider) continue;
    connected.set(module.name, provider);
    services.log.info('provider registered', { provider: module.name });
  }
  deps.passedOver = new Set([...deps.passedOver].filter((name) => taken.has(name)));
  deps.providers = new Map(
    inRegistrationOrder([...connected.values()].map(({ module }) => module)).flatMap(({ name }) => {
      const provider = connected.get(name);
      return provider ? [[name, provider] as const] : [];
    }),
  );
}

/** `undefined` for one that cannot be built, which is logged. */
async function connectedOne(
  deps: Omit<EnvironmentDeps, 'passedOver'>,
  module: ProviderModule,
): Promise<ConnectedProvider | undefined> {
  const { registry, services, variables } = deps;
  const { log, clock, trace } = services;
  try {
    const given = { log, now: clock.now, send: sendHttp(services), trace };
    const connecting = connectProvider(module, variables, { ...given, file: registry.fileOf('provider', module.name) });
    return await within(connecting, OPEN_LIMIT_MS, clock, `open of the provider "${module.name}"`);
  } catch (error) {
    if (error instanceof TookTooLong) throw error;
    logFailure(deps, module, error);
    return undefined;
  }
}

function logFailure(
  { registry, services: { log, counters } }: Pick<EnvironmentDeps, 'registry' | 'services'>,
  { name }: ProviderModule,
  error: unknown,
): void {
  const ref: ModuleRef = { kind: 'provider', name, file: registry.fileOf('provider', name) };
  log.warn('provider could not be set up, it is skipped', {
    rule: 'WN13',
    ...faultAttributes(new ModuleFault(ref, 'connection', error)),
  });
  countInitFailure(counters, name);
}

/** Whether a provider's credentials are there. Says which of them count as unset although they are. */
function isUsable(
  { variables, services: { log, counters } }: Pick<EnvironmentDeps, 'variables' | 'services'>,
  module: ProviderModule,
): boolean {
  const broken = brokenVariables(module, variables);
  for (const variable of broken)
    log.warn('a credential holds a control character, it counts as unset', {
      rule: 'WN13',
      provider: module.name,
      variable,
    });
  if (hasCredentials(module, variables)) return true;
  if (broken.length > 0) countInitFailure(counters, module.name);
  return false;
}
