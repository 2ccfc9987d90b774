import { invalidRequest } from '../common/invalid-request.ts';
import { readTraceContext } from '../common/trace-context.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Counters, GatewayError, type Log } from '../contract/index.ts';
import type { Settings } from '../environment/settings.ts';
import type { Redactor } from '../log/redact.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import type { Registry } from '../registry/registry.ts';
import { createBuckets } from '../state/buckets.ts';
import type { ClientWires } from '../wire/client-wires.ts';
import { COMMON_WIRE } from '../wire/common-wire.ts';
import type { Activity } from './activity.ts';
import { createAddressFinder, limiterKey } from './client-address.ts';
import { type AnsweringHost, bindContext, contextOf, isAuthority, normalizeTarget, rawPath, type RequestContext } from './context.ts';
import { isTooLate } from './leftovers.ts';
import type { Protection } from './protection.ts';
import { sendEmpty, sendError } from './reply.ts';
import { createIdSource, requestId } from './request-id.ts';

const METHODS = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE']);
export const PROBES = new Set(['/health', '/livez', '/readyz']);
const MAX_ADDRESSES = 100_000;
const MAX_LOGGED_PATH = 1024;

const VARY: readonly string[] = ['Vary', 'Origin'];
const REQUEST_HEADERS = 'Content-Type, Authorization, X-Provider, X-User-ID, X-Session-ID, Baggage, X-Gateway-Metadata, Traceparent, Tracestate, X-Request-ID';
const EXPOSED = 'X-Request-ID, Retry-After, X-Gateway-Provider, X-Gateway-Target, X-Gateway-Model, X-Gateway-Upstream-Model, X-Gateway-Attempts, X-Gateway-Ignored-Params, X-Gateway-Cache, X-Gateway-Overhead-Ms, Server-Timing';

/** What the shell needs of the host. */
export interface ShellHost extends AnsweringHost {
  readonly services: PipelineServices;
  readonly settings: Pick<Settings, 'trustedProxies' | 'corsOrigins' | 'rateLimit'>;
  readonly registry: Registry;
  readonly log: Log;
  readonly redactor: Redactor;
  readonly counters: Counters;
  readonly activity: Activity;
  /** Paths behind authentication. */
  readonly protection: Protection;
}

/** What browsers may send: the gateway's own headers, and those that some provider reads. */
function requestHeaders({ registry }: ShellHost): string {
  const read = [...registry.providers.values()].flatMap(({ clientHeaders }) => clientHeaders ?? []);
  return [REQUEST_HEADERS, ...new Set(read)].join(', ');
}

/** Headers for the origins that are listed, made once. The list is literal and case-sensitive. */
function corsTable(origins: readonly string[], requestHeaders: string): ReadonlyMap<string, readonly string[]> {
  return new Map(origins.map((origin) => [origin, [
    ...VARY,
    'Access-Control-Allow-Origin', origin,
    'Access-Control-Allow-Methods', 'GET, POST, PUT, DELETE, OPTIONS',
    'Access-Control-Allow-Headers', requestHeaders,
    'Access-Control-Expose-Headers', EXPOSED,
    'Access-Control-Max-Age', '86400',
  ]]));
}

/** False when it has answered the request itself. */
export type Shell = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * The one layer in front of every route: request id, security headers, unknown methods, CORS, and beside the probes the
 * client address, the access log and the per-address limit. One function, because each layer costs.
 */
export function createShell(host: ShellHost, wires: ClientWires): Shell {
  const { clock } = host.services;
  const createId = createIdSource();
  const addressOf = createAddressFinder(host.settings.trustedProxies);
  const cors = corsTable(host.settings.corsOrigins, requestHeaders(host));
  const isOverLimit = createLimiter(host);

  const contextFor = (request: IncomingMessage): RequestContext => {
    const { origin, traceparent, tracestate } = request.headers;
    const trace = traceparent === undefined ? undefined : readTraceContext(traceparent as string, tracestate);
    return {
      id: requestId(trace, request.headers['x-request-id'], createId),
      trace,
      arrivedAt: clock.monotonic(),
      address: '',
      corsHeaders: (origin === undefined ? undefined : cors.get(origin)) ?? VARY,
      wire: COMMON_WIRE,
      protectedBy: undefined,
      principal: undefined,
      isAdmitted: false,
      onClose: undefined,
      bytes: 0,
      isLast: false,
      gateway: host,
    };
  };

  return (request, response) => {
    if (isTooLate(request)) return false;
    const context = contextFor(request);
    bindContext(response, context);
    const refusal = refusedRequest(request, context);
    const path = rawPath(request);
    context.wire = wires.of(path);
    context.protectedBy = host.protection.of(path);
    const isProbe = !refusal && PROBES.has(path);
    if (!refusal && !isProbe) {
      context.address = addressOf(request);
      watch(host, context, request, response);
    }
    if (refusal) sendError(response, refusal, host.redactor);
    else if (request.method === 'OPTIONS' && request.headers.origin !== undefined) sendEmpty(response, 204);
    else return isProbe || !isOverLimit(context, response);
    return false;
  };
}

/** From here on the request counts as in flight, and leaves a line when it ends. */
function watch(host: ShellHost, context: RequestContext, request: IncomingMessage, response: ServerResponse): void {
  host.activity.begin();
  response.on('close', () => {
    host.activity.end();
    const { onClose } = context;
    if (onClose) onClose();
    logAccess(host, request, response);
  });
}

/** The per-address limit; answers for itself when it refuses. */
function createLimiter(host: ShellHost): (context: RequestContext, response: ServerResponse) => boolean {
  const limit = host.settings.rateLimit;
  if (!limit) return () => false;
  const buckets = createBuckets(MAX_ADDRESSES);
  return ({ address, arrivedAt }, response) => {
    const { taken, retryAfterMs } = buckets.take(limiterKey(address), limit, arrivedAt);
    if (taken) return false;
    host.counters.add('gateway_rate_limit_rejections_total', { key_type: 'ip' });
    sendError(response, new GatewayError('rate_limit_exceeded', 'too many requests from this address', { retryAfterMs }), host.redactor);
    return true;
  };
}

/** Requests that no route may see: an unknown method; a target, a host or a framing that is missing, ambiguous or not served. */
function refusedRequest(request: IncomingMessage, context: RequestContext): GatewayError | undefined {
  const { method = '' } = request;
  const isReadable = normalizeTarget(request); // whatever is refused, its path says in which wire
  if (!METHODS.has(method)) return unknownMethod(method);
  const problem = isReadable ? versionProblem(request) ?? hostProblem(request) ?? codingProblem(request) : invalidRequest('malformed request target');
  if (problem) context.isLast = true; // another parser on the way may have seen other requests here
  return problem;
}

/** Node's parser lets HTTP/0.9 and HTTP/2.0 pass. */
function versionProblem({ httpVersion }: IncomingMessage): GatewayError | undefined {
  return httpVersion === '1.1' || httpVersion === '1.0' ? undefined : invalidRequest('the request is neither HTTP/1.1 nor HTTP/1.0');
}

function hostProblem({ headers: { host }, httpVersion }: IncomingMessage): GatewayError | undefined {
  if (host !== undefined) return isAuthority(host) ? undefined : invalidRequest('the Host header is malformed, or there are several');
  return httpVersion === '1.1' ? invalidRequest('the Host header is missing') : undefined;
}

/** Node's parser takes the chunks off, and knows no other transfer coding. */
function codingProblem({ headers, httpVersion }: IncomingMessage): GatewayError | undefined {
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return undefined;
  if (httpVersion !== '1.1') return invalidRequest('Transfer-Encoding needs HTTP/1.1');
  if (coding.toLowerCase() === 'chunked') return undefined;
  return new GatewayError('invalid_request', 'the only transfer coding that is supported is chunked', { status: 501 });
}

export function unknownMethod(method: string): GatewayError {
  return new GatewayError('method_not_supported', `the method ${method} is not supported`, { status: 501 });
}

const shownPath = (path: string, redactor: Redactor): string => (path.length > MAX_LOGGED_PATH ? redactor.excerpt(path, MAX_LOGGED_PATH) : path);

/** One line per request that was answered; connections that broke off leave none. */
function logAccess({ log, redactor, services: { clock } }: ShellHost, request: IncomingMessage, response: ServerResponse): void {
  if (!response.writableFinished) return;
  const { id, arrivedAt, address, bytes } = contextOf(response);
  const { statusCode: status } = response;
  const attributes = {
    trace_id: id, method: request.method, path: shownPath(rawPath(request), redactor), status, bytes,
    duration_ms: Math.round((clock.monotonic() - arrivedAt) * 1000) / 1000, remote: address,
  };
  if (status >= 500) log.error('http request', attributes);
  else if (status >= 400) log.warn('http request', attributes);
  else log.info('http request', attributes);
}
