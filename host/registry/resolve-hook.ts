import { registerHooks } from 'node:module';

/** The folder of the host's own files: in the package, of all that is built. */
const HOST = new URL('..', import.meta.url).href;

/**
 * Lets modules anywhere import this process's contract by the package's own name, and the host's `joi` whatever stands in
 * their `node_modules`: schemas of another version than the host's could not be asked. Without it a folder outside the
 * package could not write `import … from 'gw/contract'`.
 */
export function registerResolveHook(): void {
  const own = import.meta.url;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier === 'gw' || specifier.startsWith('gw/')) return nextResolve(specifier, { ...context, parentURL: own });
      const isJoi = specifier === 'joi' && !context.parentURL?.startsWith(HOST);
      return isJoi ? nextResolve('gw/joi', { ...context, parentURL: own }) : nextResolve(specifier, context); // in the package it is in the bundle, and no file of its own
    },
  });
}
