import { createServer, type RequestListener, type Server } from 'node:http';
import express from 'express';
import { createGateway, type Gateway, type GatewayOptions } from 'gw';
import { atEnd, localServer, MASTER_KEY } from '../kit/index.ts';

export const CONFIG = {
  strategy: { mode: 'fallback' },
  targets: [{ virtual_key: 'echo', models: ['m'] }],
};

/** What an embedded gateway of these tests gets from its environment. */
export const ENV = { MASTER_KEY, RATE_LIMIT_RPS: '0' };

export interface Embedded {
  readonly gateway: Gateway;
  readonly server: Server;
  /** With the path that the gateway is mounted at. */
  readonly url: string;
  /** The server, without that path. */
  readonly origin: string;
  readonly lines: readonly Record<string, any>[];
}

export interface Made {
  readonly gateway: Gateway;
  readonly lines: Record<string, any>[];
}

export async function makeGateway(options: GatewayOptions = {}): Promise<Made> {
  const lines: Record<string, any>[] = [];
  const gateway = await createGateway({
    config: CONFIG,
    env: ENV,
    log: (line) => {
      lines.push(JSON.parse(line) as Record<string, any>);
    },
    ...options,
  });
  atEnd(() => gateway.drain(0));
  return { gateway, lines };
}

/** A server with a gateway in it, between a route before and one behind. */
export type Door = 'express at a path' | 'express at its root' | 'node:http' | 'node:http with a next';

export const DOORS: readonly Door[] = [
  'express at a path',
  'express at its root',
  'node:http',
  'node:http with a next',
];

export async function embedded(door: Door, options: GatewayOptions = {}): Promise<Embedded> {
  const mountPath = door === 'express at a path' ? '/ai' : '/';
  const { gateway, lines } = await makeGateway({ mountPath, ...options });
  const server = createServer(listenerOf(door, gateway));
  server.on('upgrade', (request, socket, head) => {
    if (!gateway.upgrade(request, socket, head)) socket.destroy();
  });
  const origin = await localServer(server);
  return { gateway, server, origin, url: mountPath === '/' ? origin : origin + mountPath, lines };
}

function listenerOf(door: Door, gateway: Gateway): RequestListener {
  if (door === 'node:http') return (request, response) => gateway.handler(request, response);
  if (door === 'node:http with a next')
    return (request, response) =>
      gateway.handler(request, response, () => response.writeHead(200).end(`own ${request.url}`));
  const app = express();
  app.get('/before', (_request, response) => void response.send('before'));
  app.use(door === 'express at a path' ? '/ai' : '/', gateway.handler);
  app.use(express.json());
  app.post('/behind', (request, response) => void response.json({ read: request.body }));
  return app;
}
