import type { Express, Request, Response } from 'express';
import { GatewayError } from '../contract/index.ts';
import type { Host } from '../host.ts';
import { sendError } from './reply.ts';

export function wrongMethod(method: string, path: string, allowed: string): GatewayError {
  return new GatewayError('method_not_supported', `${method} is not supported on ${path}, use ${allowed}`);
}

/** A route that is only read. HEAD comes with GET; every other method is told so. */
export function mountGet(app: Express, host: Host, path: string, answer: (request: Request, response: Response) => void): void {
  app.route(path)
    .get((request: Request, response: Response) => answer(request, response))
    .all((request: Request, response: Response) => sendError(response, wrongMethod(request.method, request.path, 'GET'), host.redactor, ['Allow', 'GET, HEAD']));
}
