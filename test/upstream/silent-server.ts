import { type AddressInfo, createServer, type Socket } from 'node:net';
import { atEnd } from '../kit/index.ts';

/** A server that takes connections and never sends a byte: a client that begins TLS waits. */
export async function silentServer(): Promise<{ readonly port: number; readonly sockets: ReadonlySet<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => sockets.delete(socket))
      .resume();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}
