import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import {
  atEnd,
  eventually,
  MASTER_KEY,
  type RawClient,
  rawClient,
  startHost,
  type TestHost,
  type TestHostOptions,
} from '../../kit/index.ts';
import { stubProvider } from '../../kit/upstream.ts';

/** Requests that are sent on by the same rules. */
export interface FamilyCase {
  readonly name: string;
  readonly surface: 'passthrough' | 'responses';
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body: string;
  /** `request_timeout` ends with the headers of the answer. */
  readonly isTimedToHeaders: boolean;
  readonly isTunnel?: boolean;
}

export const FAMILIES: readonly FamilyCase[] = [
  {
    name: 'generic pass-through',
    surface: 'passthrough',
    method: 'POST',
    path: '/v1/fine_tuning/jobs',
    body: '{"model":"m","x":"fine"}',
    isTimedToHeaders: false,
  },
  {
    name: 'responses',
    surface: 'responses',
    method: 'POST',
    path: '/v1/responses',
    body: '{"model":"m","input":"fine"}',
    isTimedToHeaders: false,
  },
  {
    name: 'streamed responses',
    surface: 'responses',
    method: 'POST',
    path: '/v1/responses',
    body: '{"model":"m","input":"fine","stream":true}',
    isTimedToHeaders: false,
  },
  {
    name: 'stored responses',
    surface: 'passthrough',
    method: 'GET',
    path: '/v1/responses/r',
    body: '',
    isTimedToHeaders: true,
  },
  {
    name: 'files',
    surface: 'passthrough',
    method: 'POST',
    path: '/v1/files',
    body: '{"x":"fine"}',
    isTimedToHeaders: true,
  },
  {
    name: 'batches',
    surface: 'passthrough',
    method: 'POST',
    path: '/v1/batches',
    body: '{"x":"fine"}',
    isTimedToHeaders: true,
  },
  {
    name: 'WebSocket',
    surface: 'passthrough',
    method: 'GET',
    path: '/v1/realtime?model=m',
    body: '',
    isTimedToHeaders: true,
    isTunnel: true,
  },
];

/** One request as the upstream has it. */
export interface Call {
  /** Status and first byte of the answer; 200 opens a tunnel where one is asked for. */
  begin(status: number): void;
  end(): void;
  /** Cuts the connection off. */
  reset(): void;
}

export interface Scene {
  readonly t: TestHost;
  readonly calls: readonly Call[];
  /** Sends a request, and maybe another body than its family's own. */
  readonly ask: (family: FamilyCase, body?: string) => Promise<RawClient>;
  /** The request that the upstream gets next. */
  readonly called: (count: number) => Promise<Call>;
}

/** A gateway before an upstream that answers by hand, HTTP and WebSocket. */
export async function scene(target: object = {}, config: object = {}, options: TestHostOptions = {}): Promise<Scene> {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    response.on('error', () => {});
    request.resume();
    calls.push({
      begin: (status) => {
        response.writeHead(status, { 'content-type': 'application/json' }).write('{');
      },
      end: () => {
        response.end('}');
      },
      reset: () => {
        request.socket.resetAndDestroy();
      },
    });
  });
  const tunnels: Duplex[] = [];
  server.on('upgrade', (request, socket: Duplex) => {
    socket
      .on('error', () => {})
      .on('end', () => socket.end())
      .resume();
    tunnels.push(socket);
    calls.push({
      begin: (status) => {
        socket.write(
          status === 200
            ? 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nx'
            : `HTTP/1.1 ${status} No\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{`,
        );
      },
      end: () => {
        socket.end(tunnels.includes(socket) ? '}' : '');
      },
      reset: () => {
        request.socket.resetAndDestroy();
      },
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(
    () =>
      new Promise<void>((resolve) => {
        for (const socket of tunnels) socket.destroy();
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  const provider = defineProvider({
    name: 'a',
    wire: 'common',
    params: {},
    translators: commonTranslators(['chat'], {}),
    passthrough: true,
    responses: true,
    batches: true,
    connection: {
      env: ['STUB_API_KEY'],
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      authorize: bearer('STUB_API_KEY'),
    },
  });
  const t = await startHost(
    {
      batch_target: 'a',
      responses_target: 'a',
      targets: [{ virtual_key: 'a', models: ['m'], ...target, [stubProvider]: provider }],
      ...config,
    },
    options,
  );
  return {
    t,
    calls,
    ask: async (family, body = family.body) => {
      const client = await rawClient(t.url);
      client.send(bytesOf(family, body));
      return client;
    },
    called: async (count) => {
      await eventually(() => calls.length >= count);
      return calls[count - 1]!;
    },
  };
}

function bytesOf({ method, path, isTunnel }: FamilyCase, body: string): string {
  const rest = isTunnel
    ? 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
    : `Connection: close\r\nContent-Type: application/json\r\n${method === 'GET' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`}`;
  return `${method} ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\n${rest}\r\n${body}`;
}

/** Status, code and `Retry-After` of a whole answer: those of the gateway's own error, if it is one. */
export async function answerOf(
  client: RawClient,
): Promise<{ readonly status: number; readonly code: string | undefined; readonly retryAfter: string | undefined }> {
  const text = await client.closed();
  return {
    status: statusOf(text),
    code: /"code":"([a-z_]+)"/.exec(text)?.[1],
    retryAfter: /\r\nretry-after: ([^\r]*)/i.exec(text)?.[1],
  };
}

/** 200 for a tunnel too. */
export function statusOf(text: string): number {
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]);
  return status === 101 ? 200 : status;
}
