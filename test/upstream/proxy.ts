import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { atEnd } from '../kit/index.ts';

export interface TestProxy {
  readonly url: string;
  /** Heads of the requests that came, without their last line end. */
  readonly heads: readonly string[];
  readonly sockets: ReadonlySet<Socket>;
}

export interface ProxyOptions {
  /** What is answered to a head; the default opens the way. */
  readonly answer?: (head: string) => string | undefined;
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** An HTTP proxy that opens the ways it is asked for, on a port of its own; gone after the test. */
export async function testProxy({ answer = () => undefined, tls }: ProxyOptions = {}): Promise<TestProxy> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    let head = '';
    const read = (bytes: Buffer): void => {
      head += bytes.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.off('data', read);
      heads.push(head.slice(0, end));
      const said = answer(head.slice(0, end));
      if (said !== undefined) {
        socket.end(said);
        return;
      }
      const [host = '', port = ''] = (/^CONNECT (\S+) /.exec(head)?.[1] ?? '').split(':');
      const upstream = connect({ host, port: Number(port) }, () => {
        socket.write('HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n');
        socket.pipe(upstream).pipe(socket);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('close', () => upstream.destroy());
    };
    socket.on('data', read);
  };
  const server: Server = tls ? createTlsServer(tls, serve) : createServer(serve);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`, heads, sockets };
}
