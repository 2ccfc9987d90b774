import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../contract/index.ts';
import { bodyTooLarge, inviteBody } from './read-body.ts';

/**
 * The body of a request while it arrives, to be sent on. It is read no faster than it is taken. Throws 413 beyond
 * `maxBytes`, and what the client is to blame for. A reader that stops leaves the connection as it is.
 */
export async function* arrivingBody(request: IncomingMessage, maxBytes: number): AsyncGenerator<Uint8Array> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge();
  inviteBody(request);
  let bytes = 0;
  const pieces = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  try {
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > maxBytes) break;
      yield piece;
    }
  } catch (cause) {
    throw new GatewayError('client_canceled', 'the client left while sending its body', { cause });
  }
  if (bytes > maxBytes) throw bodyTooLarge();
}
