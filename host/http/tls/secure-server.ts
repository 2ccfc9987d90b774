import type { RequestListener, Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TlsWatch } from './tls-watch.ts';

/** Longest time for a handshake, in milliseconds. */
const HANDSHAKE_MS = 10_000;
/** Characters of a name that a line holds. */
const MOST_NAME = 128;

const clientName = Symbol('common name of the client certificate');

type NamedSocket = Socket & { [clientName]?: string };

/** Whom the client's certificate names; `undefined` without TLS, and without one that was checked. */
export const clientCertificateOf = (socket: NamedSocket): string | undefined => socket[clientName];

/**
 * A server that speaks TLS. A handshake that fails, and plain HTTP, is closed without an answer. `node:https` is loaded here, because few gateways need it.
 */
export function createSecureServer(options: ServerOptions, serve: RequestListener, tls: TlsWatch): Server {
  const { createServer } = process.getBuiltinModule('node:https');
  const server = createServer(
    { ...options, ...tls.loaded.options, ALPNProtocols: ['http/1.1'], handshakeTimeout: HANDSHAKE_MS },
    serve,
  );
  server.removeAllListeners('tlsClientError'); // Node's own answers as for a malformed request
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    tls.failed(error.code ?? error.message, socket.remoteAddress);
    socket.destroy();
  });
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    const certificate = tls.clientAuth === 'none' ? undefined : socket.getPeerX509Certificate();
    if (!certificate) return;
    if (!socket.authorized) {
      tls.failed(String(socket.authorizationError), socket.remoteAddress);
      socket.destroy();
      return;
    }
    const [name = ''] = [socket.getPeerCertificate().subject.CN].flat();
    (socket as NamedSocket)[clientName] = name.slice(0, MOST_NAME);
  });
  tls.watch(server);
  return server as unknown as Server; // all that is used of it is the same
}
