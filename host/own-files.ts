import { type ModuleHooks, registerHooks } from 'node:module';

/**
 * A checkout is several hundred files that name each other with path and extension, so that there is nothing to look for. Node looks all
 * the same, along every folder for links and for a package.json: a sixth of a start. Must be undone before modules of others are loaded,
 * which may stand behind links.
 */
export function resolveOwnFiles(): ModuleHooks {
  const root = new URL('..', import.meta.url).href;
  const shared = new Map(['gw/contract', 'gw/common-wire'].map((specifier) => [specifier, import.meta.resolve(specifier)]));
  return registerHooks({
    resolve(specifier, context, nextResolve) {
      if (context.parentURL?.startsWith(root) && !context.parentURL.includes('/node_modules/')) {
        const url = specifier.startsWith('.') && specifier.endsWith('.ts') ? new URL(specifier, context.parentURL).href : shared.get(specifier);
        if (url !== undefined) return { url, format: 'module-typescript', shortCircuit: true };
      }
      return nextResolve(specifier, context);
    },
  });
}
