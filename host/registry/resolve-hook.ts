import { registerHooks } from 'node:module';
import { once } from '../common/once.ts';

/** The folder of the host's own files: in the package, of all that is built. */
const HOST = new URL('..', import.meta.url).href;

/**
 * Lets modules anywhere import this process's contract by the package's own name, and the host's `joi` whatever stands in
 * their `node_modules`: schemas of another version than the host's could not be asked. Without it a folder outside the
 * package could not write `import … from 'gw/contract'`. It is registered once, however many gateways run in the process.
 */
export const registerResolveHook = once(() => {
  const own = import.meta.url;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const isRequired = context.conditions.includes('require');
      const found = ownName(specifier, context.parentURL);
      if (found !== undefined)
        return isRequired
          ? { url: import.meta.resolve(found), shortCircuit: true }
          : nextResolve(found, { ...context, parentURL: own });
      // `require.resolve` has conditions of its own, which Node forgets where hooks are registered.
      return isRequired && isOfList(context.parentURL)
        ? nextResolve(specifier, { ...context, conditions: IMPORT_CONDITIONS })
        : nextResolve(specifier, context);
    },
  });
});

/** What stands for a name in this process: of the contract itself, and of its `joi`, which in the package is in the bundle and no file of its own. */
function ownName(specifier: string, parentURL: string | undefined): string | undefined {
  if (specifier.startsWith('gw/')) return specifier; // not `gw` itself, which embeds a gateway
  return specifier === 'joi' && !parentURL?.startsWith(HOST) ? 'gw/joi' : undefined;
}

/** As an `import` finds a package. Source: nodejs.org, "Packages", "Conditional exports", 2026-11-23. */
export const IMPORT_CONDITIONS: string[] = ['node', 'import', 'module-sync', 'node-addons'];

/** Packages of the modules list are looked up for a package.json, which itself imports nothing. */
const isOfList = (parentURL: string | undefined): boolean => parentURL?.endsWith('/package.json') === true;
