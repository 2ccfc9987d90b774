import { createHash } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import buildConnect from 'undici/lib/core/connect.js';
import { isLinkLocalHost } from '../../config/hosts/host-kinds.ts';
import { guardedLookup } from './address-guard.ts';
import { CONNECTING, type Open } from './plain-way.ts';
import { openTunnel, type Proxy } from './proxy-tunnel.ts';
import { AddressRefused, ProxyRefused } from './refusals.ts';

type Connect = ReturnType<typeof buildConnect>;

/** Authorities that the certificates of an upstream may come from, beside those of every program. */
export interface Authorities {
  /** Stands for them: others have another. */
  readonly digest: string;
  /** Takes some 25 ms: made for connections alone. */
  readonly secureContext: () => SecureContext;
}

export interface WayOptions {
  readonly proxy?: Proxy | undefined;
  readonly authorities?: Authorities | undefined;
}

/** How calls of a declared instance leave: through its proxy, with its authorities, and never to a link-local address. */
export class Way {
  /** Connections are shared by ways with the same key. */
  readonly key: string;
  readonly #proxy: Proxy | undefined;
  readonly #authorities: Authorities | undefined;
  #made: Connect | undefined;

  constructor({ proxy, authorities }: WayOptions = {}) {
    this.key = keyOf(proxy, authorities);
    this.#proxy = proxy;
    this.#authorities = authorities;
  }

  /** Made at the first connection. */
  get #connect(): Connect {
    return (this.#made ??= buildConnect({
      ...CONNECTING,
      lookup: guardedLookup,
      ...(this.#authorities && { secureContext: this.#authorities.secureContext() }),
    }));
  }

  /** The socket that is connecting, to the upstream or to the proxy; none where the address is refused. */
  readonly open: Open = (options, callback) => {
    const { hostname } = options;
    if (isLinkLocalHost(hostname)) {
      queueMicrotask(() => callback(new AddressRefused(hostname), null));
      return undefined;
    }
    return this.#proxy ? this.#tunnel(this.#proxy, options, callback) : this.#connect(options, callback);
  };

  #tunnel(proxy: Proxy, options: buildConnector.Options, callback: buildConnector.Callback): Socket | undefined {
    const { protocol, hostname, port } = proxy;
    if (isLinkLocalHost(hostname)) {
      queueMicrotask(() => callback(new AddressRefused(hostname), null));
      return undefined;
    }
    const toProxy = { protocol, hostname, port, ...(protocol === 'https:' && { servername: serverName(hostname) }) };
    return this.#connect(toProxy, (...[failed, socket]) => {
      if (failed) {
        callback(proxyFault(failed), null);
        return;
      }
      openTunnel(socket, placeOf(options), {
        authorization: proxy.authorization,
        callback: (error) => {
          if (error) {
            socket.on('error', () => {}).destroy();
            callback(proxyFault(error), null);
          } else if (options.protocol === 'https:') this.#connect({ ...options, httpSocket: socket }, callback);
          else callback(null, socket);
        },
      });
    });
  }
}

/** A name of the certificate to ask for; an address has none. */
const serverName = (hostname: string): string | undefined => (isIP(hostname) === 0 ? hostname : undefined);

/** Host and port as CONNECT names them. */
function placeOf({ hostname, port, protocol }: buildConnector.Options): string {
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
  return `${host}:${port || (protocol === 'https:' ? '443' : '80')}`;
}

/** As an error of its own: undici repeats calls after some errors of sockets, and takes others for the upstream's. */
function proxyFault(error: Error): Error {
  if (error instanceof ProxyRefused || error instanceof AddressRefused) return error;
  const code = 'code' in error ? String(error.code) : '';
  const fault = new Error('the proxy could not be reached', { cause: error });
  return /TIMEOUT|TIMEDOUT/.test(code) ? Object.assign(fault, { code: 'ETIMEDOUT' }) : fault;
}

function keyOf(proxy: Proxy | undefined, authorities: Authorities | undefined): string {
  const parts = [proxy?.protocol, proxy?.hostname, proxy?.port, proxy?.authorization, authorities?.digest];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
