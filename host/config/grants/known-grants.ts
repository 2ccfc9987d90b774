import { baseUrlVariable } from '../../common/kinds/base-url-variable.ts';
import type { ProviderModule } from '../../contract/index.ts';
import type { GatewayConfig } from '../document.ts';
import { destinationOf } from './destinations.ts';
import { type PlaceModules, type ReferencePlace, referencePlaces, rootOf } from './reference-places.ts';

/** Where each reference is sent already, by the kind of place that sends it. */
export interface KnownGrants {
  /** Whether one place of this kind sends the reference to all of these. */
  hold(reference: string, kind: string, destinations: readonly string[]): boolean;
  /** Where places of the kind send it. */
  destinationsOf(reference: string, kind: string): readonly string[];
}

interface GrantSources {
  /** Configurations that an operator of the host wrote, or that serve. */
  readonly configurations: readonly (GatewayConfig | undefined)[];
  readonly modules: PlaceModules;
  /** Providers that the gateway ships. */
  readonly shipped: readonly Pick<ProviderModule, 'name' | 'connection'>[];
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** What is granted by the file, by what serves, and by the variables of each shipped kind. Made when the first reference is asked for. */
export function knownGrants(sources: GrantSources): KnownGrants {
  let known: Grants | undefined;
  const of = (reference: string, kind: string): readonly ReadonlySet<string>[] =>
    (known ??= grantsOf(sources)).get(keyOf(reference, kind)) ?? [];
  return {
    hold: (reference, kind, destinations) =>
      of(reference, kind).some((granted) => destinations.every((destination) => granted.has(destination))),
    destinationsOf: (reference, kind) => of(reference, kind).flatMap((granted) => [...granted]),
  };
}

const keyOf = (reference: string, kind: string): string => `${reference}\n${kind}`;

type Grants = ReadonlyMap<string, readonly ReadonlySet<string>[]>;

function grantsOf({ configurations, modules, shipped, variables }: GrantSources): Grants {
  const grants = new Map<string, Set<string>[]>();
  const grant = (reference: string, kind: string, destinations: readonly string[]): void => {
    const key = keyOf(reference, kind);
    const all = grants.get(key) ?? [];
    all.push(new Set(destinations));
    grants.set(key, all);
  };
  const ofPlace = ({ references, kind, destinations }: ReferencePlace): void => {
    if (references.length === 0) return;
    const sent = destinations();
    for (const { name } of references) grant(name, kind, sent);
  };
  for (const config of configurations) if (config) for (const each of referencePlaces(config, modules)) ofPlace(each);
  for (const module of shipped) {
    const roots = rootsOf(module, variables);
    for (const name of ownVariablesOf(module)) grant(name, `provider ${module.name}`, roots);
  }
  return grants;
}

const ownVariablesOf = ({ connection: { env, optionalEnv = [] } }: Pick<ProviderModule, 'connection'>): Set<string> =>
  new Set([...env.flat(), ...optionalEnv]);

/** Where a kind is by default, with what the environment says, and where its address variable leads. */
function rootsOf(
  module: Pick<ProviderModule, 'name' | 'connection'>,
  variables: GrantSources['variables'],
): readonly string[] {
  const own = [...ownVariablesOf(module)].flatMap((name) => {
    const value = variables[name]?.trim();
    return value === undefined || value === '' ? [] : [[name, value] as const];
  });
  const address = variables[baseUrlVariable(module)]?.trim();
  return [rootOf(module.connection, {}), rootOf(module.connection, Object.fromEntries(own)), address].flatMap((root) =>
    root === undefined || root === '' ? [] : destinationOf(root),
  );
}
