import { posix } from 'node:path';

/** The part of `package-lock.json` that says what is installed where. */
export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const MODULES = 'node_modules';

/**
 * Folders of the packages that these need at run time, with all that those need, sorted. Each is found as Node finds it: beside
 * the package that asks, then further up. Throws for a needed package that the lock file does not have; an optional one may be missing.
 */
export function lockedPackages({ packages }: Lock, names: readonly string[], left: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  const waiting = names.map((name) => ({ name, from: '', isNeeded: true }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { name, from, isNeeded } = next;
    if (left.has(name)) continue;
    const folder = placeOf(packages, name, from);
    if (folder === undefined && isNeeded)
      throw new Error(`${name}, which ${from || 'the package'} needs, is not locked`);
    if (folder === undefined || found.has(folder)) continue;
    found.add(folder);
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = packages[folder] ?? {};
    for (const each of Object.keys(dependencies)) waiting.push({ name: each, from: folder, isNeeded: true });
    for (const each of Object.keys({ ...optionalDependencies, ...peerDependencies }))
      waiting.push({ name: each, from: folder, isNeeded: false });
  }
  return [...found].toSorted();
}

function placeOf(packages: Lock['packages'], name: string, from: string): string | undefined {
  for (let folder = from; ; folder = posix.dirname(folder).replace(/^\.$/, '')) {
    const place = posix.join(folder, MODULES, name);
    if (packages[place] !== undefined) return place;
    if (folder === '') return undefined;
  }
}
