import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Router } from 'express';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { lateFile } from '../../host/contract/late.ts';
import type { Host } from '../../host/host.ts';
import { rawPath } from '../../host/http/context.ts';
import { wrongMethod } from '../../host/http/paths/methods.ts';
import { sendError } from '../../host/http/reply.ts';
import type * as Forwarding from './forwarding.ts';

const { forwardRequest, responseOn } = lateFile<typeof Forwarding>(
  import.meta,
  './forwarding.ts',
)(['forwardRequest', 'responseOn']);

const ROOT = '/v1/';
/** Requests that name their model: each has a route of its own. */
const RESPONSES = '/v1/responses';
const ROUTES: readonly string[] = [RESPONSES, `${RESPONSES}/compact`, `${RESPONSES}/input_tokens`];
/** Requests that vendors charge for by their model: they are passed through, and in one form of their path only. So are edits of images, as far as their own route leaves them. */
const PRICED: readonly string[] = ['/v1/images/variations', '/v1/ocr'];

/**
 * Whatever of `/v1` no other route takes is sent on to a provider: by the one it names, by its model, or for files, batches
 * and stored responses by the configuration. Connections that ask for WebSocket become tunnels.
 */
export default defineBuiltin({
  name: 'passthrough',
  apply: ({ hooks }) => {
    hooks.surfaces.tap('passthrough', (surfaces) => {
      surfaces.add('responses').add('passthrough');
    });
    hooks.mount.tap({ name: 'passthrough', stage: ORDER.surfaces }, (router, host) => {
      for (const path of ROUTES) mountForwarded(router, host, path);
      for (const path of PRICED)
        router.route(path).post((request, response) => forwardRequest(host, request, response));
    });
    hooks.mount.tap({ name: 'passthrough', stage: ORDER.forwarding }, (router, host) => {
      router.use((request: IncomingMessage, response: ServerResponse, next: NextFunction) => {
        if (rawPath(request).startsWith(ROOT)) return forwardRequest(host, request, response);
        next();
        return undefined;
      });
    });
    hooks.upgrade.tap({ name: 'passthrough', stage: ORDER.forwarding }, (request, host) => {
      const path = rawPath(request);
      if (!path.startsWith(ROOT) || !isWebSocket(request) || (path !== RESPONSES && host.paths.isRouted(path)))
        return undefined;
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

function mountForwarded(router: Router, host: Host, path: string): void {
  router
    .route(path)
    .post((request, response) => forwardRequest(host, request, response))
    .all((request, response) =>
      sendError(response, wrongMethod(request.method, path, 'POST'), host.redactor, ['Allow', 'POST']),
    );
}
