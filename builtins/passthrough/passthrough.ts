import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Router } from 'express';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { lateFile } from '../../host/contract/late.ts';
import { rawPath } from '../../host/http/context.ts';
import { wrongMethod } from '../../host/http/methods.ts';
import { sendError } from '../../host/http/reply.ts';
import type * as Forwarding from './forwarding.ts';

const { forwardRequest, responseOn } = lateFile<typeof Forwarding>(import.meta, './forwarding.ts')(['forwardRequest', 'responseOn']);

const ROOT = '/v1/';
const RESPONSES = '/v1/responses';

/**
 * Whatever of `/v1` no other route takes is sent on to a provider: by the one it names, by its model, or for files, batches
 * and stored responses by the configuration. Connections that ask for WebSocket become tunnels.
 */
export default defineBuiltin({
  name: 'passthrough',
  apply: ({ hooks }) => {
    let routes: Router | undefined;
    hooks.surfaces.tap('passthrough', (surfaces) => { surfaces.add('responses').add('passthrough'); });
    hooks.mount.tap({ name: 'passthrough', stage: ORDER.forwarding }, (router, host) => {
      routes = router;
      router.use((request: IncomingMessage, response: ServerResponse, next: NextFunction) => {
        const path = rawPath(request);
        if (path === RESPONSES && request.method !== 'POST') sendError(response, wrongMethod(request.method ?? '', path, 'POST'), host.redactor, ['Allow', 'POST']);
        else if (path.startsWith(ROOT)) return forwardRequest(host, request, response);
        else next();
        return undefined;
      });
    });
    hooks.upgrade.tap({ name: 'passthrough', stage: ORDER.forwarding }, (request, host) => {
      const path = rawPath(request);
      if (!path.startsWith(ROOT) || !isWebSocket(request) || (routes && isRouted(routes, path))) return undefined;
      return (upgrade) => {
        const response = responseOn(upgrade, host);
        forwardRequest(host, request, response, upgrade).catch((error: unknown) => {
          host.log.error('an upgrade failed', { trace_id: upgrade.context.id, error });
          upgrade.socket.destroy();
        });
      };
    });
  },
});

function isWebSocket({ method, headers: { upgrade = '' } }: IncomingMessage): boolean {
  return method === 'GET' && upgrade.trim().toLowerCase() === 'websocket';
}

/** Whether a route of its own serves the path, whatever the method. */
function isRouted(router: Router, path: string): boolean {
  return router.stack.some((layer) => layer.route !== undefined && (layer as unknown as { match(path: string): boolean }).match(path));
}
