import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Router } from 'express';
import { GatewayError, type Scope } from '../contract/index.ts';
import type { HostPrincipal, KeyLimits } from '../common/host-principal.ts';
import type { Clock } from '../common/clock.ts';
import type { RelayedBytes } from '../common/relayed-bytes.ts';
import type { Redactor } from '../log/redact.ts';
import { contextOf, type RequestContext } from './context.ts';
import { type JsonObject, parseJsonObject } from './body/json-body.ts';
import { wrongMethod } from './paths/methods.ts';
import { scopeRefusal } from './protection.ts';
import { readBody } from './body/read-body.ts';
import { encoded } from './json-pieces.ts';
import { sendRaw } from './raw-reply.ts';
import { type FlatHeaders, sendBody, sendEmpty, sendError, sendJson } from './reply.ts';

/** What a JSON route is asked. */
export interface JsonCall {
  readonly request: IncomingMessage;
  /** `undefined` on open routes, and on protected ones that are open for now. */
  readonly principal: HostPrincipal | undefined;
  /** What binds the request, also where it has no credential. */
  readonly limits: KeyLimits | undefined;
  /** Who asks, and under which id the answer and its log lines stand. */
  readonly context: Pick<RequestContext, 'id' | 'address'>;
  /** Ends when the connection of the client is gone: what it asked for is of no use any more. */
  readonly signal: AbortSignal;
  /** What the request carried, empty where the route reads no body. */
  readonly bytes: Buffer;
  /** The body as an object; throws `invalid_request` for anything else. */
  readonly json: () => JsonObject;
  /** What stands for a parameter of the path, decoded: for `:id` one segment, for `*id` all that is left. */
  readonly parameter: (name: string) => string;
}

export interface JsonAnswer {
  readonly status: number;
  /** Leaves as JSON; an answer without one has no body. */
  readonly body?: unknown;
  /** JSON that is long, in pieces, which are made as the client takes them. What fails on the way ends the connection. */
  readonly pieces?: AsyncIterable<string>;
  /** Content type of the pieces, where they are not JSON. */
  readonly piecesType?: string;
  /** Leaves as it is, in the place of JSON. */
  readonly content?: { readonly type: string; readonly body: string | Buffer };
  readonly headers?: FlatHeaders;
}

/** One method of one path. */
export interface JsonRoute {
  readonly method: 'DELETE' | 'GET' | 'PATCH' | 'POST' | 'PUT';
  /** As Express writes paths: `/admin/keys/:id`. */
  readonly path: string;
  /** Who may call: `open` is everyone, `admitted` every client that authentication let in, else a principal with the scope. */
  readonly scope: Scope | 'admitted' | 'open';
  /** Bytes of body that are read, asked per request; without it none is. More are answered with 413. */
  readonly maxBytes?: () => number;
  /** On every answer of the route, errors included, and on the one to `OPTIONS` of its path. */
  readonly headers?: FlatHeaders;
  /** Throws a `GatewayError` for what is wrong with the call. `undefined` leaves the request to the routes behind. */
  readonly answer: (call: JsonCall) => JsonAnswer | undefined | Promise<JsonAnswer>;
}

/** What answering needs of the host. */
export interface JsonHost {
  readonly services: { readonly clock: Clock; readonly redactor: Redactor; readonly relayed: RelayedBytes };
}

type Step = (request: Request, response: ServerResponse, next: NextFunction) => Promise<void> | undefined;

/**
 * Mounts routes that answer with JSON, all methods of a path at once: HEAD comes with GET, and every other method is refused
 * with 405. Order of a call: authentication (before any route), method, scope, body, handler.
 */
export function mountJson(router: Router, host: JsonHost, routes: readonly JsonRoute[]): void {
  for (const [path, methods] of Map.groupBy(routes, (route) => route.path)) {
    const route = mountMethods(router, host, path, methods);
    const allowed = methods.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    const usable = methods.map(({ method }) => method).join(' or ');
    const offered = methods.flatMap(({ headers = [] }) => headers);
    route.all((request, response) =>
      sendError(response, wrongMethod(request.method, path, usable), host.services.redactor, [
        'Allow',
        allowed.join(', '),
        ...(request.method === 'OPTIONS' ? offered : []),
      ]),
    );
  }
}

/** Mounts a route at a path whose other methods, and whatever an answer of `undefined` leaves, belong to the routes behind. */
export function mountJsonBeside(router: Router, host: JsonHost, route: JsonRoute): void {
  mountMethods(router, host, route.path, [route]);
}

function mountMethods(
  router: Router,
  host: JsonHost,
  path: string,
  routes: readonly JsonRoute[],
): ReturnType<Router['route']> {
  const mounted = router.route(path);
  for (const route of routes) {
    const serve = serving(host, route);
    mounted[VERBS[route.method]]((request, response, next) => serve(request, response, next));
  }
  return mounted;
}

const VERBS = { DELETE: 'delete', GET: 'get', PATCH: 'patch', POST: 'post', PUT: 'put' } as const;

/** A promise only where something is waited for: a body, or the handler. */
function serving(host: JsonHost, route: JsonRoute): Step {
  const { maxBytes, headers = [] } = route;
  const refuse = (response: ServerResponse, error: unknown): void => {
    if (!(error instanceof GatewayError)) throw error;
    sendError(response, error, host.services.redactor, headers);
  };
  const send = (
    response: ServerResponse,
    answer: JsonAnswer | undefined,
    next: NextFunction,
  ): Promise<void> | undefined => {
    if (!answer) {
      next();
      return undefined;
    }
    return sendAnswer(host, response, { ...answer, headers: [...headers, ...(answer.headers ?? [])] });
  };
  return (request, response, next) => {
    try {
      const refusal = refusalOf(response, route.scope);
      if (refusal) throw refusal;
      const answer = maxBytes
        ? readBody(request, maxBytes(), host.services.clock).then((bytes) =>
            route.answer(callOf(request, response, bytes)),
          )
        : route.answer(callOf(request, response, NOTHING));
      if (!(answer instanceof Promise))
        return send(response, answer, next)?.catch((error: unknown) => refuse(response, error));
      const context = contextOf(response);
      if (route.method === 'GET') context.onEnded = (cause) => refuse(response, cause); // no credential ends by a GET of its own
      return answer
        .then((found) => (context.ended ? undefined : send(response, found, next)))
        .catch((error: unknown) => {
          if (!context.ended || !response.headersSent) refuse(response, error);
        });
    } catch (error) {
      refuse(response, error);
    }
    return undefined;
  };
}

function sendAnswer(
  { services }: JsonHost,
  response: ServerResponse,
  { status, headers = [], body, pieces, piecesType = 'application/json', content }: JsonAnswer,
): Promise<void> | undefined {
  const typed = ['Content-Type', piecesType, ...headers];
  if (pieces && response.req.method !== 'HEAD')
    return sendRaw(response, { status, headers: typed, body: encoded(pieces) }, services);
  if (pieces) sendEmpty(response, status, typed);
  else if (content) sendBody(response, status, content.type, content.body, headers);
  else if (body === undefined) sendEmpty(response, status, headers);
  else sendJson(response, status, body, headers);
  return undefined;
}

const NOTHING = Buffer.alloc(0);

function refusalOf(response: ServerResponse, scope: JsonRoute['scope']): GatewayError | undefined {
  if (scope === 'open') return undefined;
  const { principal, isAdmitted } = contextOf(response);
  if (scope !== 'admitted') return scopeRefusal(principal, scope);
  return isAdmitted ? undefined : new GatewayError('authentication_required', 'this route needs a credential');
}

function callOf(request: Request, response: ServerResponse, bytes: Buffer): JsonCall {
  const context = contextOf(response);
  let signal: AbortSignal | undefined;
  return {
    request,
    bytes,
    context,
    get signal() {
      return (signal ??= endOf(response)); // most routes are done before they could use it
    },
    principal: context.principal,
    limits: context.limits,
    json: () => parseJsonObject(bytes),
    parameter: (name) => [request.params[name] ?? []].flat().join('/'),
  };
}

function endOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.closed) controller.abort();
  else contextOf(response).onClose = () => controller.abort();
  return controller.signal;
}
