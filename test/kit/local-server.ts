import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from './cleanup.ts';

/** Has a server listen on a free port of this machine until the test ends; resolves with its address. */
export async function localServer(server: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
