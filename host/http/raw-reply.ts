import type { ServerResponse } from 'node:http';
import { GatewayError, type RawReply } from '../contract/index.ts';
import type { Clock } from '../common/clock.ts';
import { closeBody } from '../upstream/reply-body.ts';
import { contextOf } from './context.ts';
import { type FlatHeaders, sendBody, writeHead } from './reply.ts';
import { whenTaken } from './when-taken.ts';
import { endWith } from './whole-body.ts';

/**
 * Sends bytes as they are. Those that still arrive go on one by one; a source that fails before its first byte is an
 * error like any other, one that breaks off later ends the connection, so that the client sees the truncation. Throws
 * either way.
 */
export async function sendRaw(response: ServerResponse, { contentType, body }: RawReply, headers: FlatHeaders, clock: Clock): Promise<void> {
  if (body instanceof Uint8Array) {
    sendBody(response, 200, contentType, Buffer.from(body.buffer, body.byteOffset, body.byteLength), headers);
    return;
  }
  const source = body[Symbol.asyncIterator]();
  const first = await source.next();
  writeHead(response, 200, ['Content-Type', contentType, ...headers]);
  try {
    for (let next = first; !next.done; next = await source.next()) await writePiece(response, next.value, clock);
    if (!response.destroyed) endWith(response, '', 'latin1', clock);
  } catch (cause) {
    response.destroy();
    throw cause;
  }
}

/** Ends the source of a reply that was withheld or broken off; nothing for one that was read to its end. */
export function closeRaw(reply: RawReply | undefined): void {
  if (reply) closeBody(reply.body);
}

async function writePiece(response: ServerResponse, piece: Uint8Array, clock: Clock): Promise<void> {
  if (response.destroyed) throw new GatewayError('client_canceled', 'the client closed the connection');
  contextOf(response).bytes += piece.length;
  if (response.write(piece)) return;
  await new Promise<void>((resolve) => { whenTaken(response, 'drain', clock, resolve); });
}
