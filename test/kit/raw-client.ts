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
  /** Waits until the other side has closed its own; resolves with all that came. */
  ended(): Promise<string>;
  /** All that came until the end; then closes. */
  closed(): Promise<string>;
}

/** Its own side stays open until the test closes it. A reset by the other side is an error of whatever is waited for. */
export async function rawClient(url: string): Promise<RawClient> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
  atEnd(() => {
    socket.destroy();
  });
  let text = '';
  let failure: Error | undefined;
  let waiting = Promise.withResolvers<void>();
  const wake = (): void => {
    waiting.resolve();
    waiting = Promise.withResolvers();
  };
  await once(socket, 'connect');
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
    wake();
  });
  socket.on('error', (error) => {
    failure = error;
  });
  socket.on('end', wake).on('close', wake);
  const next = async (): Promise<void> => {
    await waiting.promise;
    if (failure) throw failure;
  };
  const ended = async (): Promise<string> => {
    while (!socket.readableEnded && !socket.closed) await next();
    return text;
  };
  return {
    socket,
    ended,
    send: (part) => {
      socket.write(Buffer.from(part, 'latin1'));
    },
    received: () => text,
    until: async (pattern) => {
      while (!pattern.test(text)) {
        if (socket.readableEnded || socket.closed)
          throw new Error(`closed before ${String(pattern)}:\n${text.slice(0, 2000)}`);
        await next();
      }
      return text;
    },
    closed: async () => {
      await ended();
      socket.destroy();
      return text;
    },
  };
}
