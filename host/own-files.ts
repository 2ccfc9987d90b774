import { existsSync } from 'node:fs';
import { type ModuleHooks, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

/** undici does without HTTP/2 where this file cannot load it. No upstream is spoken to in it, and it is some fifty modules of Node's, TLS among them. */
const UNDICI_HTTP2 = '/undici/lib/dispatcher/client-h2.js';
/** A relative path that means the same in a URL. */
const PLAIN = /^\.\.?\/[\w./@-]+$/;

/**
 * A checkout is several hundred files that name each other with path and extension, so that there is nothing to look for, and libraries
 * whose files name each other nearly so. Node looks all the same, along every folder for links and for a package.json: a sixth of a start.
 * Must be undone before modules of others are loaded, which may stand behind links.
 */
export function resolveOwnFiles(): ModuleHooks {
  const root = new URL('..', import.meta.url).href;
  const folder = fileURLToPath(root);
  const shared = new Map(
    ['gw/contract', 'gw/common-wire'].map((specifier) => [specifier, import.meta.resolve(specifier)]),
  );
  const ofLibrary = (specifier: string, parent: string): string | undefined => {
    const url = /\.(?:c?js|json)$/.test(specifier) ? joined(parent, specifier) : `${joined(parent, specifier)}.js`;
    return existsSync(folder + url.slice(root.length)) ? url : undefined;
  };
  return registerHooks({
    resolve(specifier, context, nextResolve) {
      const { parentURL: parent = '' } = context;
      if (parent.startsWith(root)) {
        if (parent.includes('/node_modules/')) {
          const url = PLAIN.test(specifier) ? ofLibrary(specifier, parent) : undefined;
          if (url !== undefined) return { url, shortCircuit: true };
        } else {
          const url =
            specifier.endsWith('.ts') && PLAIN.test(specifier) ? joined(parent, specifier) : shared.get(specifier);
          if (url !== undefined) return { url, format: 'module-typescript', shortCircuit: true };
        }
      }
      if (specifier === 'node:http2' && parent.endsWith(UNDICI_HTTP2))
        throw new Error('HTTP/2 is not spoken to upstreams');
      return nextResolve(specifier, context);
    },
  });
}

/** As `new URL` has it, at a tenth of its cost. */
function joined(parent: string, specifier: string): string {
  let folder = parent.slice(0, parent.lastIndexOf('/'));
  let rest = specifier.slice(specifier.startsWith('./') ? 2 : 0);
  while (rest.startsWith('../')) {
    folder = folder.slice(0, folder.lastIndexOf('/'));
    rest = rest.slice(3);
  }
  return `${folder}/${rest}`;
}
