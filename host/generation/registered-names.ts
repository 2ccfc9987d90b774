import type { ConnectedProvider } from '../upstream/connect.ts';
import { connectionOf } from '../upstream/instance.ts';
import type { Generation } from './generation.ts';

interface Registered {
  readonly providers: ReadonlyMap<string, ConnectedProvider>;
  readonly current: Pick<Generation, 'targetList' | 'environment' | 'instances'> | undefined;
}

/**
 * Providers that can be called, whether or not a target names them: those of the environment in the order of their
 * registration, offline ones by their targets, then entries of `providers` in the order of the file.
 */
export function registeredNames({ providers, current }: Registered): Set<string> {
  if (!current) return new Set(providers.keys());
  const { environment, targetList, instances } = current;
  return new Set([
    ...environment.keys(),
    ...targetList.flatMap(({ virtualKey, provider, instance }) => (provider && !instance ? [virtualKey] : [])),
    ...[...instances.values()].flatMap((instance) => (connectionOf(instance) ? [instance.name] : [])),
  ]);
}
