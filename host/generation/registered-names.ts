import type { ConnectedProvider } from '../upstream/connect.ts';
import type { Generation } from './generation.ts';

interface Registered {
  readonly providers: ReadonlyMap<string, ConnectedProvider>;
  readonly current: Pick<Generation, 'targetList'> | undefined;
}

/** Providers that can be called, whether or not a target names them: in the order of their registration, then offline ones by their targets. */
export function registeredNames({ providers, current }: Registered): Set<string> {
  const targets = current?.targetList ?? [];
  return new Set([
    ...providers.keys(),
    ...targets.flatMap(({ virtualKey, provider }) => (provider ? [virtualKey] : [])),
  ]);
}
