import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/index.ts';
import type { Redactor } from '../log/redact.ts';
import { type ClientFailure, failureOf } from '../wire/client-failure.ts';
import type { ClientWire } from '../wire/client-wire.ts';
import { contextOf } from './context.ts';
import { mayHaveLost } from './connections/declined-upgrades.ts';
import { endInStages } from './body/leftovers.ts';
import { WholeBody } from './body/whole-body.ts';

/** Name, value, name, value: what `writeHead` takes without going through its header map. */
export type FlatHeaders = readonly string[];

/** Why a request is not served, as it is answered. */
export interface Refusal {
  readonly error: GatewayError;
  readonly headers?: FlatHeaders;
}

/** What comes of a request before any route has seen it; a promise where that cannot be decided at once. */
export type Arrival = Refusal | undefined | Promise<Refusal | undefined>;

/** On every response, whatever its path and status. See docs/reference/server.md#security-headers. */
export const SECURITY_HEADERS: FlatHeaders = [
  'Content-Security-Policy',
  "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'",
  'Permissions-Policy',
  'camera=(), microphone=(), geolocation=()',
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'DENY',
  'Referrer-Policy',
  'strict-origin-when-cross-origin',
];

/** Keeps nginx from holding a streamed answer back, which it does unless an answer says so. See docs/proxies.md#nginx. */
export const UNBUFFERED: FlatHeaders = ['X-Accel-Buffering', 'no'];

const NONE: FlatHeaders = [];

/** Writes status and headers in one go: the shell's, then those of the path, then these. All replies pass here. */
export function writeHead(response: ServerResponse, status: number, headers: FlatHeaders): void {
  const { id, corsHeaders, protectedBy, gateway, isLast, wire } = contextOf(response);
  const all = [
    ...SECURITY_HEADERS,
    'X-Request-ID',
    id,
    ...corsHeaders,
    ...(protectedBy?.headers ?? NONE),
    ...(wire.headers?.(id) ?? NONE),
    ...headers,
  ];
  if (gateway.isDraining || isLast || mayHaveLost(response.req)) {
    all.push('Connection', 'close');
    endInStages(response, gateway);
  }
  response.writeHead(status, all);
}

/** Sends a whole body, at the end of this turn. On HEAD, Node leaves the body out and keeps the length. */
export function sendBody(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string | Buffer,
  headers: FlatHeaders = [],
): void {
  const bytes = Buffer.byteLength(body);
  sendWhole(response, status, ['Content-Type', contentType, 'Content-Length', String(bytes), ...headers], body, bytes);
}

/** Sends bytes with headers that say the type, if they have one. */
export function sendBytes(response: ServerResponse, status: number, headers: FlatHeaders, body: Buffer): void {
  sendWhole(response, status, [...headers, 'Content-Length', String(body.length)], body, body.length);
}

function sendWhole(
  response: ServerResponse,
  status: number,
  headers: FlatHeaders,
  body: string | Buffer,
  bytes: number,
): void {
  const context = contextOf(response);
  context.bytes = response.req.method === 'HEAD' ? 0 : bytes;
  writeHead(response, status, headers);
  context.gateway.outbox.add(new WholeBody(response, body));
}

export function sendJson(response: ServerResponse, status: number, value: unknown, headers: FlatHeaders = []): void {
  sendBody(response, status, 'application/json', JSON.stringify(value), headers);
}

export function sendEmpty(response: ServerResponse, status: number, headers: FlatHeaders = []): void {
  writeHead(response, status, headers);
  contextOf(response).gateway.outbox.add(new WholeBody(response, ''));
}

/** An error in the wire of the request, redacted and bounded, with `Retry-After` by the rules of 7.3. Nothing once a body has begun. */
export function sendError(
  response: ServerResponse,
  error: GatewayError,
  redactor: Redactor,
  headers: FlatHeaders = [],
): void {
  const context = contextOf(response);
  context.refusal ??= error;
  const { id } = context;
  sendFailure(response, failureOf(error, redactor.excerpt(error.message, error.messageLimit), id), headers);
}

/** A failure in the wire of the request. Nothing once a body has begun. */
export function sendFailure(response: ServerResponse, failure: ClientFailure, headers: FlatHeaders): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { wire } = contextOf(response);
  const { contentType, body } = wire.error(failure);
  sendBody(response, failure.status, contentType, body, [...failureHeaders(failure, wire), ...headers]);
}

/** What an error says beside its body: when to come again, and which credential is wanted. */
export function failureHeaders(failure: ClientFailure, wire: ClientWire): FlatHeaders {
  const { status, retryAfterS } = failure;
  const again = retryAfterS === undefined ? NONE : ['Retry-After', String(retryAfterS)];
  const headers = status === 401 && wire.namesScheme !== false ? [...again, 'WWW-Authenticate', 'Bearer'] : again;
  return wire.errorHeaders ? [...headers, ...wire.errorHeaders(failure)] : headers;
}

/** 404 for a path that no route serves, in the wire of the path. */
export function sendNoRoute(response: ServerResponse): void {
  const { wire, id } = contextOf(response);
  const failure = noRoute(id);
  const { contentType, body } = wire.noRoute(failure);
  sendBody(response, 404, contentType, body, wire.errorHeaders?.(failure));
}

/** The error for a path that no route serves. */
export function noRoute(requestId: string): ClientFailure {
  const error = new GatewayError('resource_not_found', 'no route serves this path');
  return failureOf(error, error.message, requestId);
}
