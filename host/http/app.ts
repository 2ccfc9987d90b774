import { errorMessage } from '../common/error-message.ts';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Request, Response, Router } from 'express';
import { GatewayError } from '../contract/index.ts';
import { ClientWires } from '../wire/client-wires.ts';
import { contextOf } from './context.ts';
import { sendError } from './reply.ts';
import { createRouter } from './router.ts';
import { createShell, type ShellHost } from './shell.ts';

/** What comes of a request before any route has seen it; a promise where that cannot be told at once. */
export type Arrival = 'answered' | undefined | Promise<'answered' | undefined>;

/** The host's hooks that every request passes, and that routes and wires are declared by. */
export interface RequestHooks<H> {
  readonly clientWires: { call(wires: ClientWires): void };
  readonly arrived: { call(request: IncomingMessage, response: ServerResponse, host: H): Arrival };
  readonly mount: { call(router: Router, host: H): void };
}

/**
 * The shell, then whoever looks at every request, then the routes that builtins mount, and recovery. Express's router without its application object, which
 * gives every request and reply another prototype; handlers get what Node made (docs/decisions/0008).
 */
export function createApp<H extends ShellHost>(host: H & { readonly hooks: RequestHooks<H> }): RequestListener {
  const { arrived } = host.hooks;
  const wires = new ClientWires();
  host.hooks.clientWires.call(wires);
  const shell = createShell(host, wires);
  const router = createRouter({ caseSensitive: true, strict: true });
  host.hooks.mount.call(router, host);
  const route = (request: IncomingMessage, response: ServerResponse): void => {
    router(request as Request, response as Response, (error: unknown) => {
      if (isUndecodable(error)) sendError(response, malformedPath(), host.redactor);
      else recover(host, error ?? new Error('no route answered'), response);
    });
  };
  const routeAfter = async (arrival: Promise<'answered' | undefined>, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      if (await arrival !== 'answered' && !response.destroyed) route(request, response);
    } catch (error) {
      recover(host, error, response);
    }
  };
  return (request: IncomingMessage, response: ServerResponse) => {
    try {
      if (!shell(request, response)) return;
      const arrival = arrived.call(request, response, host);
      if (arrival === undefined) route(request, response);
      else if (arrival !== 'answered') void routeAfter(arrival, request, response);
    } catch (error) {
      recover(host, error, response);
    }
  };
}

/** The router decodes what stands for a parameter of a route, and gives its fault this status. Other paths are compared as they were written. */
function isUndecodable(error: unknown): boolean {
  return error instanceof URIError && 'status' in error && error.status === 400;
}

function malformedPath(): GatewayError {
  return new GatewayError('invalid_request', 'the path holds a percent sign that encodes nothing');
}

/** An error made for the client is the answer. Of a fault nobody expected the client learns nothing, the log everything. */
function recover(host: ShellHost, error: unknown, response: ServerResponse): void {
  const isCommitted = response.headersSent;
  if (error instanceof GatewayError && !isCommitted) {
    sendError(response, error, host.redactor);
    return;
  }
  host.log.error('panic recovered', {
    trace_id: contextOf(response).id, panic: errorMessage(error),
    response_committed: isCommitted, stack: error instanceof Error ? error.stack : undefined,
  });
  if (isCommitted) setImmediate(() => response.destroy()); // after the outbox: a whole answer may be on its way
  else sendError(response, new GatewayError('internal_error', 'the gateway failed'), host.redactor);
}
