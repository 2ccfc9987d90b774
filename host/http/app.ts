import { errorMessage } from '../common/error-message.ts';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Request, Response, Router } from 'express';
import { GatewayError } from '../contract/index.ts';
import { ClientWires } from '../wire/client-wires.ts';
import { createArrivals } from './arrivals.ts';
import { contextOf, type ListenerName, rawPath, type RequestTarget } from './context.ts';
import { type Refusal, sendError } from './reply.ts';
import { createRouter, directPosts } from './router.ts';
import { createShell, type ShellHost, type ShellPlace } from './shell.ts';
import { createUpgrades, type UpgradeHooks, type Upgrades } from './connections/upgrades.ts';

/** The host's hooks that every request passes, and that routes and wires are declared by. */
export interface RequestHooks<H> extends UpgradeHooks<H> {
  readonly clientWires: { call(wires: ClientWires, host: H): void };
  readonly mount: { call(router: Router, host: H): void };
}

/** What a listener hands its requests to. */
export interface Serving {
  readonly serve: RequestListener;
  /** Whether something is declared or mounted where the request goes: no path that falls to the dashboard. The request stays as it is. */
  readonly knows: (request: RequestTarget) => boolean;
  readonly upgrades: Upgrades;
}

/** What the only listener hands its requests to. */
export interface App extends Serving {
  /** What one of two listeners hands its requests to: routes, limits and probes are those of both. */
  readonly of: (listener: ListenerName) => Serving;
  /** What the listener hands its requests to that other processes of this gateway send requests on to. */
  readonly forwarded: (readForwarded: NonNullable<ShellPlace['readForwarded']>) => Serving;
}

/** Sends requests on that another process answers. */
export interface Forward {
  /** Whether that is such a request; called once the shell has let it pass. */
  takes(request: IncomingMessage): boolean;
  send(request: IncomingMessage, response: ServerResponse): void;
}

/**
 * The shell, then the taps that look at every request, then the routes that builtins mount, and recovery. Express's router without its application object, which
 * gives every request and reply another prototype; handlers get what Node made (docs/decisions/0008).
 */
export function createApp<H extends ShellHost>(host: H & { readonly hooks: RequestHooks<H> }, forward?: Forward): App {
  const { arrived } = host.hooks;
  const wires = new ClientWires();
  host.hooks.clientWires.call(wires, host);
  const arrivals = createArrivals(host, wires);
  const router = createRouter({ caseSensitive: true, strict: true });
  host.hooks.mount.call(router, host);
  host.paths.learn(router);
  const posts = directPosts(router);
  const route = (
    request: IncomingMessage,
    response: ServerResponse,
    refusal: Refusal | undefined = contextOf(response).misspelling,
  ): void => {
    if (refusal) {
      sendError(response, refusal.error, host.redactor, refusal.headers);
      return;
    }
    const answer = request.method === 'POST' ? posts.get(rawPath(request)) : undefined;
    if (answer) {
      answer(request, response)?.catch((error: unknown) => recover(host, error, response));
      return;
    }
    router(request as Request, response as Response, (error: unknown) => {
      if (isUndecodable(error)) sendError(response, malformedPath(), host.redactor);
      else recover(host, error ?? new Error('no route answered'), response);
    });
  };
  const routeAfter = async (
    arrival: Promise<Refusal | undefined>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    try {
      const refusal = await arrival;
      if (!response.destroyed) route(request, response, refusal); // else the client left while its credential was looked up
    } catch (error) {
      recover(host, error, response);
    }
  };
  const arrive = (request: IncomingMessage, response: ServerResponse): void => {
    if (forward?.takes(request)) {
      forward.send(request, response);
      return;
    }
    const arrival = arrived.call(request, contextOf(response), host);
    if (arrival instanceof Promise) void routeAfter(arrival, request, response);
    else route(request, response, arrival);
  };
  const arriveAfter = async (
    passing: Promise<boolean>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    try {
      if (await passing) arrive(request, response);
    } catch (error) {
      recover(host, error, response);
    }
  };
  const serving = (place: ShellPlace): Serving => {
    const shell = createShell(host, arrivals, place);
    const serve = (request: IncomingMessage, response: ServerResponse): void => {
      try {
        const passing = shell(request, response);
        if (passing instanceof Promise) void arriveAfter(passing, request, response);
        else if (passing) arrive(request, response);
      } catch (error) {
        recover(host, error, response);
      }
    };
    const knows = ({ url, method }: RequestTarget): boolean => {
      const settled = { url, method };
      if (!arrivals.settle(settled)) return false;
      if (place.listener === 'data') return arrivals.isServed(settled, place.listener);
      const path = rawPath(settled);
      return host.protection.isDeclared(path) || host.paths.isRouted(path);
    };
    return { serve, knows, upgrades: createUpgrades(host, arrivals, place.listener) };
  };
  return {
    ...serving({ listener: undefined }),
    of: (listener) => serving({ listener }),
    forwarded: (readForwarded) => serving({ listener: undefined, readForwarded }),
  };
}

/** The router decodes what stands for a parameter of a route, and gives its fault this status. Other paths are compared as they were written. */
function isUndecodable(error: unknown): boolean {
  return error instanceof URIError && 'status' in error && error.status === 400;
}

function malformedPath(): GatewayError {
  return new GatewayError('invalid_request', 'the path holds a percent sign that encodes nothing');
}

/** An error made for the client is the answer. An unexpected error goes to the log; the client learns only that there was one. */
function recover(host: ShellHost, error: unknown, response: ServerResponse): void {
  const isCommitted = response.headersSent;
  if (error instanceof GatewayError && !isCommitted) {
    sendError(response, error, host.redactor);
    return;
  }
  host.log.error('panic recovered', {
    trace_id: contextOf(response).id,
    panic: errorMessage(error),
    response_committed: isCommitted,
    stack: error instanceof Error ? error.stack : undefined,
  });
  if (isCommitted) setImmediate(() => response.destroy()); // after the outbox: a whole answer may be on its way
  else sendError(response, new GatewayError('internal_error', 'the gateway failed'), host.redactor);
}
