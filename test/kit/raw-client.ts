import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { atEnd } from './cleanup.ts';

/** A connection that is written to by hand; what comes back is kept as Latin-1. */
export interface RawClient {
  readonly socket: Socket;
  send(text: string): void;
  received(): string;
  /** Waits until what came back matches. */
  until(pattern: RegExp): Promise<string>;
  /** Waits until the other side has closed; resolves with all that came. */
  closed(): Promise<string>;
}

export async function rawClient(url: string): Promise<RawClient> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  atEnd(() => { socket.destroy(); });
  let text = '';
  socket.on('data', (bytes) => { text += bytes.toString('latin1'); });
  socket.on('error', () => {});
  await once(socket, 'connect');
  const next = (): Promise<unknown> => Promise.race([once(socket, 'data'), once(socket, 'close')]);
  return {
    socket,
    send: (part) => { socket.write(Buffer.from(part, 'latin1')); },
    received: () => text,
    until: async (pattern) => {
      while (!pattern.test(text)) {
        if (socket.closed) throw new Error(`closed before ${String(pattern)}:\n${text}`);
        await next();
      }
      return text;
    },
    closed: async () => {
      while (!socket.closed) await next();
      return text;
    },
  };
}
