import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import { atEnd } from '../kit/index.ts';
import { stubProvider, type StubTarget } from '../kit/upstream.ts';

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** A loopback server whose calls are answered by hand, while their bodies arrive. */
export interface Bare {
  /** The next call that was not taken yet. */
  next(): Promise<Call>;
  /** Calls that were not taken yet. */
  readonly waiting: number;
  target(name: string, more?: object): StubTarget;
}

export async function bareUpstream(): Promise<Bare> {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    response.on('error', () => {});
    calls.push({ request, response });
    server.emit('call');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = (name: string) =>
    defineProvider({
      name,
      wire: 'common',
      params: {},
      translators: commonTranslators(['chat'], {}),
      connection: { env: ['STUB_API_KEY'], baseUrl, authorize: bearer('STUB_API_KEY') },
    });
  return {
    next: async () => {
      while (calls.length === 0) await once(server, 'call');
      return calls.shift()!;
    },
    get waiting() {
      return calls.length;
    },
    target: (name, more = {}) => ({ virtual_key: name, models: ['m'], ...more, [stubProvider]: provider(name) }),
  };
}
