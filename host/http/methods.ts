import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Router } from 'express';
import { GatewayError } from '../contract/index.ts';
import type { Redactor } from '../log/redact.ts';
import { sendError } from './reply.ts';

export function wrongMethod(method: string, path: string, allowed: string): GatewayError {
  return new GatewayError('method_not_supported', `${method} is not supported on ${path}, use ${allowed}`);
}

/** A route that is only read. HEAD comes with GET; every other method is told so. */
export function mountGet(router: Router, host: { readonly redactor: Redactor }, path: string, answer: (request: IncomingMessage, response: ServerResponse) => void): void {
  router.route(path)
    .get((request, response) => answer(request, response))
    .all((request, response) => sendError(response, wrongMethod(request.method, path, 'GET'), host.redactor, ['Allow', 'GET, HEAD']));
}
