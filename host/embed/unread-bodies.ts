import { defineBuiltin } from '../builtin.ts';
import { GatewayError } from '../contract/index.ts';
import { rawPath } from '../http/context.ts';

const READ = 'the request body was read before the gateway got it: mount the gateway before body parsers';

/** Refuses requests whose body another handler has read: it cannot be read again, and waiting for it would never end. The first one is logged. */
export const unreadBodies = defineBuiltin({
  name: 'unread-bodies',
  apply: ({ hooks }) => {
    let isLogged = false;
    hooks.arrived.tap('unread-bodies', (request, context, host) => {
      if (!request.readableDidRead) return undefined;
      if (!isLogged) host.log.error(READ, { path: rawPath(request), trace_id: context.id });
      isLogged = true;
      return { error: new GatewayError('internal_error', READ) };
    });
  },
});
