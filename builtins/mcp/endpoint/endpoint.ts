import { defineBuiltin, ORDER } from '../../../host/builtin.ts';
import { lateFile } from '../../../host/contract/late.ts';
import { wrongMethod } from '../../../host/http/paths/methods.ts';
import { sendError } from '../../../host/http/reply.ts';
import type * as Serve from './serve.ts';

const { serve } = lateFile<typeof Serve>(import.meta, './serve.ts')(['serve']);

const PATH = '/mcp';

/**
 * `/mcp`: the gateway as a tool server of its own, with the tools of all servers that are ready. It keeps nothing between two
 * requests, so that any replica serves any of them: there are no sessions, and nothing to be listened to with GET.
 */
export default defineBuiltin({
  name: 'mcp-endpoint',
  apply: ({ hooks }) => {
    hooks.surfaces.tap('mcp-endpoint', (surfaces) => {
      surfaces.add('mcp');
    });
    hooks.protect.tap('mcp-endpoint', (protection) =>
      protection.add({ prefix: PATH, plane: 'data', isLimited: true, headers: ['Cache-Control', 'no-store'] }),
    );
    hooks.mount.tap({ name: 'mcp-endpoint', stage: ORDER.listings }, (router, host) => {
      router
        .route(PATH)
        .post((request, response) => serve(host, request, response))
        .all((request, response) =>
          sendError(response, wrongMethod(request.method, PATH, 'POST'), host.redactor, ['Allow', 'POST']),
        );
    });
  },
});
