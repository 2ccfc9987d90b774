import { type ModuleHooks, registerHooks } from 'node:module';

/** undici does without HTTP/2 where this file cannot load it. No upstream is spoken to in it, and it is some fifty modules of Node's, TLS among them. */
const UNDICI_HTTP2 = '/undici/lib/dispatcher/client-h2.js';

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
      if (specifier === 'node:http2' && context.parentURL?.endsWith(UNDICI_HTTP2)) throw new Error('HTTP/2 is not spoken to upstreams');
      return nextResolve(specifier, context);
    },
  });
}
