import type { ProviderModule } from '../../../../host/contract/index.ts';
import type { PlannedInstance } from './planned.ts';

const RESERVED = new Set(['none', 'cache', 'unknown', 'gateway', 'mcp']);
const LONGEST = 64;

/** Names for the instances of a plan: what the document calls them, else their kind, with a number where that is taken. */
export function namedInstances(
  instances: readonly PlannedInstance[],
  known: ReadonlyMap<string, ProviderModule>,
): ReadonlyMap<PlannedInstance, string> {
  const names = new Map<PlannedInstance, string>();
  const taken = new Set<string>();
  for (const instance of instances) {
    const kind = instance.module.name;
    const wished = slugOf(instance.called ?? '');
    const isFree = wished !== '' && !RESERVED.has(wished) && (wished === kind || !known.has(wished));
    const name = freeName(isFree ? wished : kind, taken, known);
    taken.add(name);
    names.set(instance, name);
  }
  return names;
}

/** Names for credentials of one instance: what the document calls them, else `key-1` and so on. */
export function namedCredentials({ credentials }: PlannedInstance): readonly string[] {
  const taken = new Set<string>();
  return credentials.map(({ called }, at) => {
    const wished = slugOf(called ?? '');
    const name = freeName(wished === '' ? `key-${at + 1}` : wished, taken, undefined);
    taken.add(name);
    return name;
  });
}

export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, LONGEST);

function freeName(
  wished: string,
  taken: ReadonlySet<string>,
  known: ReadonlyMap<string, ProviderModule> | undefined,
): string {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? wished : `${wished.slice(0, LONGEST - 5)}-${count}`;
    if (!taken.has(name) && (count === 1 || known?.has(name) !== true)) return name;
  }
}
