import type { IncomingMessage } from 'node:http';
import { invalidRequest } from '../common/invalid-request.ts';
import { readTraceContext } from '../common/trace-context.ts';
import { type Counters, GatewayError } from '../contract/index.ts';
import type { Settings } from '../environment/settings.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import type { Registry } from '../registry/registry.ts';
import type { Buckets, Taken } from '../state/buckets.ts';
import type { Eventual } from '../pipeline/eventual.ts';
import type { BoundedLimits } from '../stores/bounded-limits.ts';
import type { ClientWires } from '../wire/client-wires.ts';
import { COMMON_WIRE } from '../wire/common-wire.ts';
import { type CanonicalPaths, writtenPath } from './paths/canonical-path.ts';
import { AddressLimit } from './address-limit.ts';
import { createAddressFinder } from './client-address.ts';
import {
  type AnsweringHost,
  isAuthority,
  type ListenerName,
  normalizeTarget,
  rawPath,
  type RequestContext,
  type RequestTarget,
} from './context.ts';
import type { ConnectionAges } from './connections/connection-ages.ts';
import type { Protection } from './protection.ts';
import { takeQueryKeys } from './credentials.ts';
import { createIdSource, requestId } from './request-id.ts';

const METHODS = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE']);
const PROBES = new Set(['/health', '/livez', '/openapi.json', '/readyz']);

const VARY: readonly string[] = ['Vary', 'Origin'];
const REQUEST_HEADERS =
  'Content-Type, Authorization, X-Provider, X-User-ID, X-Session-ID, Baggage, X-Gateway-Metadata, X-Gateway-Session, X-Gateway-Affinity, X-Gateway-Tags, If-Match, Traceparent, Tracestate, X-Request-ID, Mcp-Protocol-Version';
const EXPOSED =
  'X-Request-ID, Retry-After, ETag, Link, X-Total-Count, X-Gateway-Provider, X-Gateway-Target, X-Gateway-Model, X-Gateway-Upstream-Model, X-Gateway-Attempts, X-Gateway-Ignored-Params, X-Gateway-Cache, X-Gateway-Budget, X-Gateway-Affinity, X-Gateway-Overhead-Ms, X-Gateway-Export-Truncated, Server-Timing';

/** What looking at arriving requests needs of the host. */
export interface ArrivalHost extends AnsweringHost {
  readonly services: PipelineServices;
  readonly settings: Pick<Settings, 'trustedProxies' | 'corsOrigins' | 'rateLimit'>;
  readonly registry: Registry;
  readonly counters: Counters;
  /** Limits that replicas hold together; absent where each holds its own. */
  readonly limits?: Pick<BoundedLimits, 'isShared' | 'takeAll'>;
  /** Paths behind authentication. */
  readonly protection: Protection;
  /** The one form of the paths of routes. */
  readonly paths: CanonicalPaths;
  /** What is left to each address. */
  readonly addresses: Buckets;
  /** Takes one request of an address from what all processes of this gateway hold together. */
  readonly takeAddress?: ((key: string) => Promise<Taken>) | undefined;
  /** Which kept connections have served long enough; `undefined`: they are kept as long as clients like. */
  readonly ages?: ConnectionAges | undefined;
  /** Set where this gateway has several processes. */
  readonly team?: object | undefined;
}

/** What the process that a request came to says of it to the one that answers it. */
export interface Forwarded {
  readonly id: string;
  /** The client's, behind trusted proxies. */
  readonly address: string;
  readonly listener: ListenerName | undefined;
}

/** What is found out of a request before anything answers it. None of it needs a response: an upgrade has none. */
export interface Arrivals {
  /** Request id, trace, CORS headers. `listener` where there are two. `forwarded` of a request that came to another process. */
  open(request: IncomingMessage, listener: ListenerName | undefined, forwarded?: Forwarded): RequestContext;
  /** Makes every later reader see one path, in the form that routes know. False for a target that cannot be read as one. */
  settle(request: RequestTarget): boolean;
  /** Whether that listener serves the path of a settled request. */
  isServed(request: RequestTarget, listener: ListenerName | undefined): boolean;
  /** Sets what target and peer say: wire, address, probe or not. Gives the refusal of a request that no route may see. */
  inspect(request: IncomingMessage, context: RequestContext): GatewayError | undefined;
  /** Counts the request against the limit of its address. Gives the refusal of one that is over it. */
  limit(context: RequestContext): Eventual<GatewayError | undefined>;
}

export function createArrivals(host: ArrivalHost, wires: ClientWires): Arrivals {
  const { clock } = host.services;
  const createId = createIdSource();
  const addressOf = createAddressFinder(host.settings.trustedProxies);
  const cors = corsTable(host.settings.corsOrigins, requestHeaders(host));
  const isServed: Arrivals['isServed'] = (request, listener) =>
    listener !== 'data' || isOfData(host.protection, request);

  return {
    open: (request, listener, forwarded) => {
      dropForged(request);
      const { origin, traceparent, tracestate } = request.headers;
      const trace = traceparent === undefined ? undefined : readTraceContext(traceparent as string, tracestate);
      return {
        id: forwarded?.id ?? requestId(trace, request.headers['x-request-id'], createId),
        request,
        trace,
        arrivedAt: clock.monotonic(),
        address: forwarded?.address ?? '',
        corsHeaders: (origin === undefined ? undefined : cors.get(origin)) ?? VARY,
        wire: COMMON_WIRE,
        protectedBy: undefined,
        misspelling: undefined,
        listener: forwarded ? forwarded.listener : listener,
        isElsewhere: false,
        isProbe: false,
        principal: undefined,
        limits: undefined,
        isAdmitted: false,
        digest: undefined,
        place: -1,
        kind: 'unary',
        ended: undefined,
        onEnded: undefined,
        isOver: false,
        onClose: undefined,
        bytes: 0,
        endedKey: undefined,
        refusal: undefined,
        hasExchange: false,
        askedModel: undefined,
        queryKeys: undefined,
        isLast: host.ages?.isOver(request.socket) ?? false,
        forwarding: forwarded && 'taken',
        gateway: host,
      };
    },
    isServed,
    settle: (request) => {
      const isReadable = normalizeTarget(request);
      if (isReadable) host.paths.settle(request);
      return isReadable;
    },
    inspect: (request, context) => {
      const isReadable = normalizeTarget(request); // whatever is refused, its path says in which wire
      if (isReadable) context.misspelling = host.paths.settle(request);
      const refusal = refusedRequest(request, context, isReadable);
      const path = context.misspelling?.path ?? rawPath(request);
      const wire = wires.of(path, request.headers);
      context.wire = wire.at?.(request.url ?? '') ?? wire;
      takeQueryKeys(request, context);
      context.protectedBy = host.protection.of(path);
      if (refusal) return refusal;
      if (context.forwarding !== 'taken' && !isServed(request, context.listener)) {
        hideRoute(context);
        context.address = addressOf(request);
        return undefined;
      }
      context.isProbe = PROBES.has(path);
      if (!context.isProbe && context.forwarding !== 'taken') context.address = addressOf(request);
      return undefined;
    },
    limit: createLimiter(host),
  };
}

/** The path as it was written counts, and the one that routes get of it, which may have lost slashes. */
function isOfData(protection: Protection, request: RequestTarget): boolean {
  const written = writtenPath(request);
  return protection.isOfData(rawPath(request)) && (written === undefined || protection.isOfData(written));
}

/** Nothing of the answer may say what the other listener has at the path. */
function hideRoute(context: RequestContext): void {
  context.isElsewhere = true;
  context.wire = COMMON_WIRE;
  context.protectedBy = undefined;
  context.misspelling = undefined;
}

/** The per-address limit, which is off where it is not set. Processes of one gateway hold it together by themselves. */
function createLimiter({
  settings: { rateLimit },
  counters,
  services: { clock },
  limits,
  addresses,
  takeAddress,
  team,
}: ArrivalHost): Arrivals['limit'] {
  if (!rateLimit) return () => undefined;
  const limit = new AddressLimit({
    limit: rateLimit,
    counters,
    clock,
    limits: team ? undefined : limits,
    addresses,
    takeAddress,
  });
  return (context) => (context.forwarding === 'taken' ? undefined : limit.take(context)); // the process that it came to has counted it
}

/** Said by one process of a gateway to another, never by a client. See docs/workers.md. */
export const FORWARDED_HEADER = 'x-gateway-worker';

function dropForged({ headers }: IncomingMessage): void {
  if (headers[FORWARDED_HEADER] !== undefined) delete headers[FORWARDED_HEADER];
}

/** What browsers may send: the gateway's own headers, and those that some provider reads. */
function requestHeaders({ registry }: ArrivalHost): string {
  const read = [...registry.providers.values()].flatMap(({ clientHeaders }) => clientHeaders ?? []);
  return [REQUEST_HEADERS, ...new Set(read)].join(', ');
}

/** Headers for the origins that are listed, made once. The list is literal and case-sensitive. */
function corsTable(origins: readonly string[], requestHeaders: string): ReadonlyMap<string, readonly string[]> {
  return new Map(
    origins.map((origin) => [
      origin,
      [
        ...VARY,
        'Access-Control-Allow-Origin',
        origin,
        'Access-Control-Allow-Methods',
        'GET, POST, PUT, DELETE, OPTIONS',
        'Access-Control-Allow-Headers',
        requestHeaders,
        'Access-Control-Expose-Headers',
        EXPOSED,
        'Access-Control-Max-Age',
        '86400',
      ],
    ]),
  );
}

/** Requests that no route may see: an unknown method; a target, a host or a framing that is missing, ambiguous or not served. */
function refusedRequest(
  request: IncomingMessage,
  context: RequestContext,
  isReadable: boolean,
): GatewayError | undefined {
  const { method = '' } = request;
  if (!METHODS.has(method)) return unknownMethod(method);
  const problem = isReadable
    ? (versionProblem(request) ?? hostProblem(request) ?? codingProblem(request))
    : invalidRequest('malformed request target');
  if (problem) context.isLast = true; // another parser on the way may have seen other requests here
  return problem;
}

/** Node's parser lets HTTP/0.9 and HTTP/2.0 pass. */
function versionProblem({ httpVersion }: IncomingMessage): GatewayError | undefined {
  return httpVersion === '1.1' || httpVersion === '1.0'
    ? undefined
    : invalidRequest('the request is neither HTTP/1.1 nor HTTP/1.0');
}

function hostProblem({ headers: { host }, httpVersion }: IncomingMessage): GatewayError | undefined {
  if (host !== undefined)
    return isAuthority(host) ? undefined : invalidRequest('the Host header is malformed, or there are several');
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
