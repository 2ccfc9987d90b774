import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { GatewayError } from '../contract/index.ts';
import { createServer } from '../common/node-http.ts';
import { failureOf } from '../wire/client-failure.ts';
import { COMMON_WIRE } from '../wire/common-wire.ts';
import type { Serving } from './app.ts';
import { unknownMethod } from './arrivals.ts';
import type { Connections } from './connections/connections.ts';
import { contextOf } from './context.ts';
import { declineUpgrade } from './connections/declined-upgrades.ts';
import { announceEnd, type Ending, hasLeftovers, linger } from './body/leftovers.ts';
import { postponeInvitation } from './body/read-body.ts';
import { noRoute } from './reply.ts';
import { answerSocket, takeSocket } from './connections/socket-reply.ts';
import { createSecureServer } from './tls/secure-server.ts';
import type { TlsWatch } from './tls/tls-watch.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 60_000;
const MAX_HEADER_BYTES = 1024 * 1024;
const MAX_HEADERS = 1000;
const MAX_PORT = 65_535;

/** The listener, over TLS where it has a certificate. Headers are bounded in time; bodies and answers are not, silence is bounded where it is watched. */
export function createHttpServer(
  { serve, upgrades }: Serving,
  host: Ending & { readonly connections: Connections },
  tls?: TlsWatch,
): Server {
  const options: ServerOptions = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: 1000,
    requestTimeout: 0,
    requireHostHeader: false, // the shell refuses it, with the headers every response has
    joinDuplicateHeaders: true, // Node would take the first of two hosts
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    noDelay: true,
    shouldUpgradeCallback: (request) => (upgrades.isSpoken && upgrades.accepts(request)) || declineUpgrade(request),
  };
  const server = tls ? createSecureServer(options, serve, tls) : createServer(options, serve);
  server.timeout = 0;
  server.maxHeadersCount = MAX_HEADERS;
  host.connections.watch(server, tls ? 'secureConnection' : 'connection');
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuseConnection(error, socket as Socket, host));
  server.on('connect', (request: IncomingMessage) => {
    host.connections.hijack(request.socket);
    refuseTunnel(request.socket, host);
  });
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    postponeInvitation(request, response);
    serve(request, response);
  });
  server.on('checkExpectation', serve);
  if (upgrades.isSpoken)
    server.on('upgrade', (request: IncomingMessage, _stream, head: Buffer) =>
      upgrades.take(request, request.socket, head),
    );
  return server;
}

/** Answers what Node's parser refused, and closes. Until that is done it calls again for whatever else arrives. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket, host: Ending): void {
  if (hasLeftovers(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { _httpMessage: answering } = socket as { _httpMessage?: ServerResponse | null };
  if (answering?.headersSent) {
    // After the outbox: the answer to what came before leaves first.
    setImmediate(() => {
      if (answering.writableEnded) linger(socket, host);
      else socket.destroy();
    });
  } else if (answering?.req.complete) {
    // So does one that is still to be made, and is the last.
    contextOf(answering).isLast = true;
    announceEnd(socket);
  } else {
    const refusal = parserRefusal(error);
    const id = newId();
    const wire = answering ? contextOf(answering).wire : COMMON_WIRE; // a connection has a path only while it is asked something
    answerSocket(
      socket,
      { status: refusal.status, ...wire.error(failureOf(refusal, refusal.message, id)), headers: idHeaders(id) },
      host,
    );
  }
}

/** Nothing is tunnelled. */
function refuseTunnel(socket: Socket, host: Ending): void {
  takeSocket(socket);
  socket.on('data', () => hasLeftovers(socket));
  const id = newId();
  answerSocket(socket, { status: 404, ...COMMON_WIRE.noRoute(noRoute(id)), headers: idHeaders(id) }, host);
}

function parserRefusal({ code }: NodeJS.ErrnoException): GatewayError {
  switch (code) {
    case 'HPE_INVALID_METHOD':
      return unknownMethod('of this request');
    case 'HPE_HEADER_OVERFLOW':
      return new GatewayError(
        'invalid_request',
        `request headers exceed ${MAX_HEADER_BYTES} bytes, or are more than ${MAX_HEADERS}`,
        { status: 431 },
      );
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new GatewayError('invalid_request', `request headers did not arrive within ${HEADERS_TIMEOUT_MS} ms`, {
        status: 408,
      });
    default:
      return new GatewayError('invalid_request', 'malformed HTTP request');
  }
}

const newId = (): string => randomBytes(16).toString('hex');

const idHeaders = (id: string): readonly string[] => ['Vary', 'Origin', 'X-Request-ID', id];

/** What a listener is called by those who set it. */
export interface ListenPlace {
  /** IP address; `undefined`: all interfaces. */
  readonly address?: string | undefined;
  /** Names of the variables of the port and of the address. */
  readonly variables?: readonly [port: string, address: string];
  /** In front of `port` in errors. */
  readonly name?: string;
  /** Several processes listen there, each with a socket of its own; the system deals connections out. */
  readonly isShared?: boolean;
}

/** Resolves with the port. The error for a busy port says what to do. */
export function listen(server: NetServer, port: string, place: ListenPlace = {}): Promise<number> {
  const { address, variables: [variable] = ['PORT', 'GW_ADDRESS'] } = place;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  if (!/^\d{1,5}$/.test(port.trim()) || Number(port) > MAX_PORT) {
    reject(new Error(`${variable} is "${port}", which is not a port number; set 1 to ${MAX_PORT}`));
    return promise;
  }
  const refused = (error: NodeJS.ErrnoException): void => reject(listenFault(error, Number(port), place));
  server.once('error', refused);
  const shared = place.isShared === true && { exclusive: true, reusePort: true };
  server.listen({ port: Number(port), ...(address !== undefined && { host: address }), ...shared }, () => {
    server.off('error', refused);
    resolve((server.address() as AddressInfo).port);
  });
  return promise;
}

/** Says what to set. */
function listenFault(
  error: NodeJS.ErrnoException,
  port: number,
  { address, variables: [variable, addressVariable] = ['PORT', 'GW_ADDRESS'], name = '' }: ListenPlace,
): Error {
  switch (error.code) {
    case 'EADDRINUSE': {
      const free = port < MAX_PORT ? port + 1 : MAX_PORT - 1;
      const example = name === '' ? `, for example ${variable}=${free}` : '';
      return new Error(`${name}port ${port} is in use; set ${variable} to a free one${example}`, { cause: error });
    }
    case 'EACCES':
      return new Error(
        `${name}port ${port} needs more rights than this process has; set ${variable} to one above 1023`,
        { cause: error },
      );
    case 'EADDRNOTAVAIL':
      return new Error(`${address ?? ''} is not an address of this machine; set ${addressVariable} to one`, {
        cause: error,
      });
    default:
      return error;
  }
}
