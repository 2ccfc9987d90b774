import type { CredentialState, Model, ProviderModels } from '../../api/wire.ts';
import { rowsIn } from '../../lib/fields.ts';
import { type ProviderSources, type ProviderState, stateOf } from './provider-states.ts';

/** One use of a kind of provider, of the configuration or of the environment. */
export interface Instance {
  readonly name: string;
  readonly kind: string;
  /** Host of its address, where the configuration says one. */
  readonly host: string | undefined;
  readonly models: readonly Model[];
  readonly credentials: readonly CredentialState[];
  readonly inFlight: number;
  readonly source: 'configuration' | 'environment';
  readonly state: ProviderState;
  readonly message: string | undefined;
}

/** The instances in the order of the gateway, where the configuration declares one; none otherwise: then the cards say all. */
export function instancesOf({ deep, health, models, listed }: Omit<ProviderSources, 'catalog'>): readonly Instance[] {
  if (listed.every(({ source }) => source === undefined)) return [];
  const known = new Map(models.map((model) => [model.id, model]));
  const targets = new Map(rowsIn(deep?.targets).map((target) => [target.name, target]));
  const stated = new Map(rowsIn(deep?.providers).map((provider) => [provider.name, provider]));
  const circuits = new Map(rowsIn(health?.providers).map(({ name, circuit }) => [name, circuit]));
  return listed.map((entry) => {
    const { name, kind = name, source = 'environment' } = entry;
    const credentials = rowsIn(entry.credentials);
    return {
      name,
      kind,
      host: hostOf(entry),
      models: rowsIn(entry.models).map((model) => known.get(model.id) ?? model),
      credentials,
      inFlight: targets.get(name)?.in_flight ?? credentials.reduce((sum, { in_flight }) => sum + in_flight, 0),
      source,
      state: stateOf(false, stated.get(name)?.status, circuits.get(name)),
      message: stated.get(name)?.message ?? (targets.has(name) ? undefined : 'no target names it'),
    };
  });
}

/** With its port. What cannot be read as an address is not shown in part. */
function hostOf({ base_url }: ProviderModels): string | undefined {
  if (typeof base_url !== 'string' || !URL.canParse(base_url)) return undefined;
  return new URL(base_url).host;
}
