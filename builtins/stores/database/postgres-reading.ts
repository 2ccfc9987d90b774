import { connect, type Socket } from 'node:net';
import type { Knex } from 'knex';

/** Milliseconds that one statement of a reading may take. Those of other calls have less (`statement_timeout` of the connection). */
const STATEMENT_MS = 10_000;
/** Milliseconds that asking the server to end a statement may take. */
const CANCEL_MS = 2000;
/** What stands in the place of a protocol version where a statement is to be ended. Source: PostgreSQL 18, "Message Formats", CancelRequest, read 2026-11-27. */
const CANCEL_CODE = 80_877_102;

/** What is used of a connection of node-postgres. */
interface Connection {
  readonly host: string;
  readonly port: number;
  readonly processID: number | null;
  readonly secretKey: number | null;
  readonly connection: { readonly stream: { destroy(): void } };
}

/**
 * Runs what only reads in one transaction, and so on one connection. The signal ends the statement that runs in the server, and the
 * connection with it: no other call gets one whose statement may be ended at any moment.
 */
export async function readOnPostgres<T>(
  knex: Knex,
  work: (db: Knex) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  signal?.throwIfAborted();
  return knex.transaction(async (trx) => {
    signal?.throwIfAborted(); // it may have waited for a connection
    const connection = (await trx.client.acquireConnection()) as Connection; // that of the transaction
    const end = (): void => endConnection(connection);
    signal?.addEventListener('abort', end, { once: true });
    try {
      await trx.raw(`SET LOCAL statement_timeout = ${STATEMENT_MS}`);
      return await work(trx);
    } finally {
      signal?.removeEventListener('abort', end);
    }
  });
}

/** A server does not notice that a client has gone before it writes to it, so it is asked to end what it does. */
function endConnection({ host, port, processID, secretKey, connection }: Connection): void {
  connection.stream.destroy();
  if (processID === null || secretKey === null) return;
  const socket: Socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.setTimeout(CANCEL_MS, () => socket.destroy());
  socket.on('error', () => {}); // the statement's own limit ends it
  socket.on('connect', () => socket.end(cancelRequest(processID, secretKey)));
  socket.resume();
}

function cancelRequest(processID: number, secretKey: number): Buffer {
  const message = Buffer.alloc(16);
  for (const [at, value] of [message.length, CANCEL_CODE, processID, secretKey].entries())
    message.writeInt32BE(value, 4 * at);
  return message;
}
