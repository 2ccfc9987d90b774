import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { GatewayError } from '../contract/index.ts';
import type { Host } from '../host.ts';
import { contextOf } from './context.ts';
import { sendError } from './reply.ts';
import { createShell } from './shell.ts';

/** The Express application: the shell, then what builtins mount, then recovery. */
export function createApp(host: Host): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use(createShell(host));
  host.hooks.mount.call(app, host);
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => recover(host, error, response));
  return app;
}

/** A fault nobody expected: the client learns nothing of it, the log everything. */
function recover(host: Host, error: unknown, response: Response): void {
  const isCommitted = response.headersSent;
  host.log.error('panic recovered', {
    trace_id: contextOf(response).id, panic: error instanceof Error ? error.message : String(error),
    response_committed: isCommitted, stack: error instanceof Error ? error.stack : undefined,
  });
  if (isCommitted) response.destroy();
  else sendError(response, new GatewayError('internal_error', 'the gateway failed'), host.redactor);
}
