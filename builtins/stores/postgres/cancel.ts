import { connect } from 'node:net';

/** The secret of a connection (Postgres documentation, 54.2.8): who has it may end what the connection asks. */
export interface CancelKey {
  readonly processID: number;
  readonly secretKey: number;
}

const CANCEL_REQUEST = 80_877_102;
/** Milliseconds for it to be sent. */
const LIMIT_MS = 1000;

/** Asks the server to stop working on what a connection has asked, on a connection of its own that is never signed in. Whether it did is seen on the other. */
export function sendCancel(host: string, port: number, { processID, secretKey }: CancelKey): void {
  const request = Buffer.alloc(16);
  [16, CANCEL_REQUEST].forEach((word, at) => request.writeUInt32BE(word, at * 4));
  [processID, secretKey].forEach((word, at) => request.writeInt32BE(word, 8 + at * 4));
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.setTimeout(LIMIT_MS, () => socket.destroy());
  socket.on('error', () => socket.destroy()); // what it was for ends at its own limit
  socket.end(request);
}
