import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../contract/index.ts';
import type { Redactor } from '../log/redact.ts';
import type { Activity } from './activity.ts';
import type { ArrivalHost, Arrivals, Forwarded } from './arrivals.ts';
import type { Connections } from './connections/connections.ts';
import { writtenPath } from './paths/canonical-path.ts';
import { bindContext, type ListenerName, rawPath, type RequestContext } from './context.ts';
import { clientCertificateOf } from './tls/secure-server.ts';
import { isTooLate } from './body/leftovers.ts';
import type { Eventual } from '../pipeline/eventual.ts';
import type { GatewayError } from '../contract/index.ts';
import type { RunningRequests } from './running-requests.ts';
import { type RefusalHooks, tellRefusal } from './door/refused.ts';
import { sendEmpty, sendError, sendNoRoute } from './reply.ts';

const MAX_LOGGED_PATH = 1024;

/** What the shell needs of the host. */
export interface ShellHost extends ArrivalHost {
  readonly log: Log;
  readonly redactor: Redactor;
  readonly activity: Activity;
  readonly connections: Connections;
  readonly running: RunningRequests;
}

/** False when it has answered the request itself. A promise only where processes hold the limit of addresses together. */
export type Shell = (request: IncomingMessage, response: ServerResponse) => Eventual<boolean>;

/** What a listener does otherwise than the one that everybody reaches. */
export interface ShellPlace {
  readonly listener: ListenerName | undefined;
  /** Reads what another process of this gateway says of a request that it sends on; a request without that is cut off. */
  readonly readForwarded?: (request: IncomingMessage) => Forwarded | undefined;
}

/**
 * The one layer in front of every route: request id, security headers, unknown methods, CORS, and beside the probes the
 * client address, the access log and the per-address limit. One function, because each layer costs.
 */
export function createShell<H extends ShellHost>(
  host: H & { readonly hooks: RefusalHooks<H> },
  arrivals: Arrivals,
  { listener, readForwarded }: ShellPlace,
): Shell {
  return (request, response) => {
    if (isTooLate(request)) return false;
    const forwarded = readForwarded?.(request);
    if (readForwarded && !forwarded) {
      request.socket.destroy();
      return false;
    }
    const context = arrivals.open(request, listener, forwarded);
    bindContext(response, context);
    if (!forwarded) host.connections.begin(request.socket); // else it is one of a worker
    const malformed = arrivals.inspect(request, context);
    if (!malformed && !context.isProbe) watch(host, context, request, response);
    else response.on('close', () => host.connections.end(request.socket));
    if (!malformed && request.method === 'OPTIONS' && request.headers.origin !== undefined) {
      sendEmpty(response, 204);
      return false;
    }
    const pass = (refusal: GatewayError | undefined): boolean => {
      if (response.destroyed) return false; // the client left while its address was counted
      if (refusal) sendError(response, refusal, host.redactor);
      else if (context.isElsewhere) sendNoRoute(response);
      return !refusal && !context.isElsewhere;
    };
    const refusal = malformed ?? arrivals.limit(context);
    return refusal instanceof Promise ? refusal.then(pass) : pass(refusal);
  };
}

/** From here on the request counts as in flight, and leaves a line when it ends. */
function watch<H extends ShellHost>(
  host: H & { readonly hooks: RefusalHooks<H> },
  context: RequestContext,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  host.activity.begin();
  response.on('close', () => {
    tellRefusal(host, context);
    host.activity.end();
    host.connections.end(request.socket);
    host.running.remove(context);
    const { onClose } = context;
    if (onClose) onClose();
    if (response.writableFinished && context.forwarding !== 'sent')
      logAccess(host, request, context, response.statusCode);
  });
}

const shownPath = (path: string, redactor: Redactor): string =>
  path.length > MAX_LOGGED_PATH ? redactor.excerpt(path, MAX_LOGGED_PATH) : path;

/** One line per request that was answered; connections that broke off leave none, and neither do those that left HTTP. */
export function logAccess(
  { log, redactor, services: { clock } }: ShellHost,
  request: IncomingMessage,
  { id, arrivedAt, address, bytes, misspelling, listener }: RequestContext,
  status: number,
): void {
  const path = rawPath(request);
  const written = misspelling ? path : writtenPath(request);
  const client = clientCertificateOf(request.socket);
  const attributes = {
    trace_id: id,
    method: request.method,
    path: shownPath(misspelling?.path ?? path, redactor),
    ...(written !== undefined && { raw_path: shownPath(written, redactor) }),
    status,
    bytes,
    duration_ms: Math.round((clock.monotonic() - arrivedAt) * 1000) / 1000,
    remote: address,
    ...(listener !== undefined && { listener }),
    ...(client !== undefined && { client_cert: client }),
  };
  if (status >= 500) log.error('http request', attributes);
  else if (status >= 400) log.warn('http request', attributes);
  else log.info('http request', attributes);
}
