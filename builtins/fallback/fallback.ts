import type { IncomingMessage, ServerResponse } from 'node:http';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { contextOf } from '../../host/http/context.ts';
import { sendBody, sendNoRoute } from '../../host/http/reply.ts';

const PLACEHOLDER = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>gw</title></head><body><p>The gateway runs. This build has no dashboard.</p></body></html>';

/** What no route took: a 404 in the wire of the path, or for a browser the dashboard's place. */
export default defineBuiltin({
  name: 'fallback',
  apply: ({ hooks }) => hooks.mount.tap({ name: 'fallback', stage: ORDER.fallback }, (router) => {
    router.use((request: IncomingMessage, response: ServerResponse) => {
      const isPage = (request.method === 'GET' || request.method === 'HEAD') && (request.headers.accept ?? '').includes('text/html');
      const { protectedBy } = contextOf(response);
      const headers = protectedBy?.headers ? [] : ['Cache-Control', 'no-store']; // a path with headers of its own has said so
      if (isPage && protectedBy?.hasPages !== false) sendBody(response, 503, 'text/html; charset=utf-8', PLACEHOLDER, headers);
      else sendNoRoute(response);
    });
  }),
});
