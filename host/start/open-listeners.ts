import type { Server } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Host } from '../host.ts';
import { createApp, type Serving } from '../http/app.ts';
import type { ListenerName } from '../http/context.ts';
import { createHttpServer, listen } from '../http/server.ts';
import { TlsWatch } from '../http/tls/tls-watch.ts';

/** What listens: one server, or one for models and one for everything. */
export interface Listeners {
  readonly port: number;
  /** `undefined` where one listener serves everything. */
  readonly adminPort: number | undefined;
  /** Closes them, and every connection. */
  close(): void;
}

/** Opens every listener, or none: what listens already is closed where another cannot. */
export async function openListeners(host: Host): Promise<Listeners> {
  const {
    port,
    listeners: { address, admin, tls },
  } = host.settings;
  const app = createApp(host);
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
  try {
    const dataPort = await listen(open('data', admin ? app.of('data') : app), port, { address });
    if (!admin) return { port: dataPort, adminPort: undefined, close };
    const adminPort = await listen(open('admin', app.of('admin')), String(admin.port), {
      address: admin.address,
      variables: ['GW_ADMIN_PORT', 'GW_ADMIN_ADDRESS'],
      name: 'admin ',
    });
    return { port: dataPort, adminPort, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Address and port as lines show them, that of IPv6 in brackets; without an address the port alone. */
export const shownListener = (address: string | undefined, port: number): string =>
  `${address !== undefined && isIPv6(address) ? `[${address}]` : (address ?? '')}:${port}`;
