import { type Lock, lockedPackages } from './image/locked-packages.ts';

interface PackedManifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

interface Shrinkwrap {
  readonly packages: Readonly<Record<string, object>>;
  readonly [field: string]: unknown;
}

/**
 * What `npm install` of the package installs, to the version and the hash: of the checkout's lock file all that the package's dependencies need.
 * Without it, an install would take whatever is newest that day.
 */
export function shrinkwrapOf(
  lock: Lock,
  { name, version, license, dependencies, engines, bin }: PackedManifest,
): Shrinkwrap {
  const folders = lockedPackages(lock, Object.keys(dependencies), new Set());
  return {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name, version, license, dependencies, bin, engines },
      ...Object.fromEntries(folders.map((folder) => [folder, lock.packages[folder] ?? {}])),
    },
  };
}
