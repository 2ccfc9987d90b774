import type { DeepHealth, Health, Model, ProviderCatalog, ProviderModels } from '../../api/wire.ts';
import type { Tone } from '../../lib/tones.ts';

export interface Provider {
  readonly name: string;
  readonly state: ProviderState;
  /** Why it is not available. */
  readonly message: string | undefined;
  readonly models: readonly Model[];
  /** Models as the gateway counts them; of one that is not set up, those its catalog knows. */
  readonly modelCount: number;
}

export type ProviderState = 'connected' | 'recovering' | 'open' | 'registered' | 'unavailable' | 'absent';

/** In the order in which they need to be looked at, worst first; what is not set up needs nothing. */
export const STATES: Readonly<
  Record<ProviderState, { readonly name: string; readonly tone: Tone; readonly rank: number }>
> = {
  unavailable: { name: 'Unavailable', tone: 'bad', rank: 0 },
  open: { name: 'Circuit open', tone: 'bad', rank: 1 },
  recovering: { name: 'Recovering', tone: 'warn', rank: 2 },
  connected: { name: 'Connected', tone: 'ok', rank: 3 },
  registered: { name: 'Registered', tone: 'accent', rank: 4 },
  absent: { name: 'Not configured', tone: 'neutral', rank: 5 },
};

export interface ProviderSources {
  readonly catalog: ProviderCatalog;
  readonly deep: DeepHealth | undefined;
  readonly health: Health | undefined;
  /** What is known of each model that can be asked for. */
  readonly models: readonly Model[];
  /** The ids that each provider lists: one id may stand at several. */
  readonly listed: readonly ProviderModels[];
}

const isDeclared = ({ source }: ProviderModels): boolean => source === 'configuration';

/** Every provider of the build and of the environment that one of the answers names, with all that they say of it. Entries of the configuration have a table of their own. */
export function providersOf({ catalog, deep, health, models, listed }: ProviderSources): Provider[] {
  const declared = new Set(listed.filter(isDeclared).map(({ name }) => name));
  const names = new Set([
    ...catalog.providers.map(({ id }) => id),
    ...(deep?.providers ?? []).map(({ name }) => name),
    ...(health?.providers ?? []).map(({ name }) => name),
  ]);
  const known = new Map(models.map((model) => [model.id, model]));
  return [...names]
    .filter((name) => !declared.has(name))
    .map((name) => {
      const built = catalog.providers.find(({ id }) => id === name);
      const stated = deep?.providers.find((provider) => provider.name === name);
      const live = health?.providers.find((provider) => provider.name === name);
      const own = (listed.find((provider) => provider.name === name)?.models ?? []).map(
        (model) => known.get(model.id) ?? model,
      );
      return {
        name,
        state: stateOf(built?.registered ?? false, stated?.status, live?.circuit),
        message: stated?.message ?? usedBy(built, declared),
        models: own,
        modelCount: live?.models ?? stated?.models ?? built?.catalog_models ?? 0,
      };
    });
}

/** Which instances of the configuration are of a kind. */
function usedBy(
  kind: ProviderCatalog['providers'][number] | undefined,
  declared: ReadonlySet<string>,
): string | undefined {
  const names = (kind?.instances ?? []).filter((name) => declared.has(name));
  return names.length === 0 ? undefined : `Instances: ${names.join(', ')}`;
}

export function stateOf(isRegistered: boolean, status: string | undefined, circuit: string | undefined): ProviderState {
  if (status === 'unavailable') return 'unavailable';
  if (circuit === 'open') return 'open';
  if (circuit === 'half-open') return 'recovering';
  if (circuit !== undefined) return 'connected';
  return isRegistered || status === 'available' ? 'registered' : 'absent';
}

export type ProviderOrder = 'state' | 'name' | 'models';

export function sortProviders(providers: readonly Provider[], order: ProviderOrder): Provider[] {
  const byName = (a: Provider, b: Provider): number => a.name.localeCompare(b.name);
  const byState = (a: Provider, b: Provider): number => STATES[a.state].rank - STATES[b.state].rank;
  const byModels = (a: Provider, b: Provider): number => b.modelCount - a.modelCount;
  const first = { state: byState, name: byName, models: byModels }[order];
  return providers.toSorted((a, b) => first(a, b) || byName(a, b));
}
