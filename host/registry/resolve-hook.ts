import { registerHooks } from 'node:module';

/**
 * Lets modules anywhere import this process's contract by the package's own name, and `joi` as the host has it when
 * they bring none. Without it a folder outside the package could not write `import … from 'gw/contract'`.
 */
export function registerResolveHook(): void {
  const own = import.meta.url;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier === 'gw' || specifier.startsWith('gw/')) return nextResolve(specifier, { ...context, parentURL: own });
      if (specifier !== 'joi') return nextResolve(specifier, context);
      try {
        return nextResolve(specifier, context);
      } catch {
        return nextResolve('gw/joi', { ...context, parentURL: own }); // in the package it is in the bundle, and no file of its own
      }
    },
  });
}
