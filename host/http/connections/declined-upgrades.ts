import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';
const CHUNKS_END = '\r\n0\r\n\r\n';
const endsAt = Symbol('ends at');

interface Declined extends IncomingMessage {
  /** Bytes of its connection up to its own end; NaN where that is not known. */
  [endsAt]?: number;
}

/**
 * Serves a request that asks for another protocol as any other. Node's parser stops behind such a request all the same, and throws
 * away what arrived together with its end: a request behind it that would never be answered. So where it ends is noted.
 */
export function declineUpgrade(request: IncomingMessage): false {
  (request as Declined)[endsAt] = endOf(request);
  return false;
}

/** Whether more than a declined request has been read of its connection, or its end is unknown. False for any other request. */
export function mayHaveLost(request: IncomingMessage): boolean {
  if (request.headers.upgrade === undefined) return false;
  const end = (request as Declined)[endsAt];
  return end !== undefined && request.socket.bytesRead !== end;
}

/** Asked while Node's parser stands at the end of the head. Right where the head ends the last piece that was read, or begins it. */
function endOf({ socket, headers }: IncomingMessage): number {
  const { parser } = socket as Socket & { parser?: { getCurrentBuffer?(): Buffer | undefined } | null };
  const piece = parser?.getCurrentBuffer?.();
  const at = piece?.indexOf(HEAD_END) ?? -1;
  if (!piece || at < 0) return NaN;
  const begin = socket.bytesRead - piece.length;
  if (headers['transfer-encoding'] === undefined)
    return begin + at + HEAD_END.length + Number(headers['content-length'] ?? 0);
  const last = piece.indexOf(CHUNKS_END, at + 2); // the line break before it may be that of the head
  return last < 0 ? NaN : begin + last + CHUNKS_END.length;
}
