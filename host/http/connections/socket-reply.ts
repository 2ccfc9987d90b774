import type { Socket } from 'node:net';
import { STATUS_CODES } from '../../common/node-http.ts';
import type { WireBody } from '../../wire/client-wire.ts';
import { type Ending, linger } from '../body/leftovers.ts';
import { type FlatHeaders, SECURITY_HEADERS } from '../reply.ts';

/** An answer on a connection that has no response to write it to. */
export interface SocketReply extends WireBody {
  readonly status: number;
  /** Beside those that every answer has. */
  readonly headers: FlatHeaders;
}

/** Answers as plain HTTP, and ends the connection. `sent` is called once the bytes are on their way, and not when they cannot leave. */
export function answerSocket(
  socket: Socket,
  { status, headers, contentType, body }: SocketReply,
  host: Ending,
  sent?: () => void,
): void {
  const all = [
    ...SECURITY_HEADERS,
    ...headers,
    'Content-Type',
    contentType,
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Connection',
    'close',
  ];
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (let at = 0; at < all.length; at += 2) head += `${all[at]}: ${all[at + 1]}\r\n`;
  socket.write(`${head}\r\n${body}`, (error) => {
    if (!error) sent?.();
  });
  linger(socket, host);
}

/** Takes a connection over from Node's parser, which has taken its own listeners off. */
export function takeSocket(socket: Socket): void {
  socket.on('error', () => socket.destroy()); // without a listener a reset would end the process
}
