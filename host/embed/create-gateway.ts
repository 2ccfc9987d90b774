import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Gateway, GatewayOptions } from './gateway.ts';

export type { ConfigRefused, Gateway, GatewayOptions } from './gateway.ts';

/** A checkout has this file two folders deep, the package one. */
const UP = import.meta.url.endsWith('.ts') ? '../..' : '..';

/**
 * Makes a gateway that listens nowhere: a handler for a server of yours. It installs no handler of signals or errors, never ends the
 * process, and makes no master key. Throws where the configuration has problems (`ConfigRefused`), a setting cannot be used, or nothing could
 * authenticate. See docs/how-to/embed-in-express.md.
 *
 * ```ts
 * const gateway = await createGateway({ config: './config.yaml' });
 * app.use('/ai', gateway.handler); // before express.json()
 * ```
 */
export async function createGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const [{ embedGateway }, { BUILTINS, MODULES }] = await Promise.all([
    import('./embedded-gateway.ts'),
    import('../../builtins/manifest.ts'),
  ]);
  return embedGateway(options, {
    variables: options.env ?? { ...process.env }, // what is written there afterwards changes nothing of the gateway
    workingDirectory: process.cwd(),
    installDirectory: resolve(fileURLToPath(new URL(UP, import.meta.url))),
    modules: MODULES,
    builtins: BUILTINS,
  });
}
