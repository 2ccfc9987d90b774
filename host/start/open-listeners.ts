import type { Server } from 'node:http';
import { isIPv6, Server as NetServer } from 'node:net';
import type { Host } from '../host.ts';
import { type App, createApp, type Forward, type Serving } from '../http/app.ts';
import type { ListenerName } from '../http/context.ts';
import { createHttpServer, listen, type ListenPlace } from '../http/server.ts';
import { TlsWatch } from '../http/tls/tls-watch.ts';

/** What listens: one server, or one for models and one for everything. */
export interface Listeners {
  readonly port: number;
  /** `undefined` where one listener serves everything. */
  readonly adminPort: number | undefined;
  /** Takes no connection any more; those that there are go on. */
  stopListening(): void;
  /** Closes them, and every connection. */
  close(): void;
}

/** What a gateway has beside the listeners of clients. */
export interface Beside {
  /** Ends it, once the requests that came by the listeners are over. */
  readonly drain: (limitMs: number) => Promise<void>;
  readonly close: () => void;
}

/** Which listeners this process opens, of those that the settings name. */
export interface ListenersOf {
  readonly which: 'all' | 'data' | 'admin';
  /** Several processes listen on the port of `data`. */
  readonly isShared?: boolean;
  readonly forward?: Forward;
}

/** Opens every listener, or none: what listens already is closed where another cannot. */
export async function openListeners(
  host: Host,
  { which, isShared = false, forward }: ListenersOf = { which: 'all' },
): Promise<Listeners & { readonly app: App }> {
  const {
    port,
    listeners: { address, admin, tls },
  } = host.settings;
  const app = createApp(host, forward);
  const servers: Server[] = [];
  const watchOf = (name: ListenerName): TlsWatch | undefined => {
    const settings = tls[name];
    if (!settings) return undefined;
    const { log, counters, services } = host;
    const watch = new TlsWatch(name, settings, { log, counters, clock: services.clock });
    host.certificates.push(watch);
    return watch;
  };
  const open = (name: ListenerName, serving: Serving): Server => {
    const server = createHttpServer(serving, host, watchOf(name));
    servers.push(server);
    return server;
  };
  const close = (): void => {
    for (const watch of host.certificates) watch.close();
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  // That of HTTP also ends connections that were accepted and have asked nothing yet.
  const stopListening = (): void => {
    for (const server of servers) NetServer.prototype.close.call(server);
  };
  const place: ListenPlace = { address, isShared };
  const ends = { close, stopListening, app };
  const isControl = which === 'admin';
  try {
    const dataPort = isControl ? 0 : await listen(open('data', admin ? app.of('data') : app), port, place);
    if (!admin || which === 'data') return { port: dataPort, adminPort: undefined, ...ends };
    const adminPort = await listen(open('admin', app.of('admin')), String(admin.port), {
      address: admin.address,
      variables: ['GW_ADMIN_PORT', 'GW_ADMIN_ADDRESS'],
      name: 'admin ',
    });
    return { port: dataPort, adminPort, ...ends };
  } catch (error) {
    close();
    throw error;
  }
}

/** Address and port as lines show them, that of IPv6 in brackets; without an address the port alone. */
export const shownListener = (address: string | undefined, port: number): string =>
  `${address !== undefined && isIPv6(address) ? `[${address}]` : (address ?? '')}:${port}`;
