import type { ServerResponse } from 'node:http';
import { GatewayError, type RawReply } from '../contract/index.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import { closeBody } from '../upstream/reply-body.ts';
import { contextOf } from './context.ts';
import { dropBody } from './body/leftovers.ts';
import { type FlatHeaders, sendBytes, writeHead } from './reply.ts';
import { whenTaken } from './body/when-taken.ts';
import { endWith } from './body/whole-body.ts';

/** An answer whose bytes go on as they are. */
export interface RawAnswer {
  readonly status: number;
  /** The content type among them. The length of a body that is whole is added. */
  readonly headers: FlatHeaders;
  readonly body: RawReply['body'];
  /** Sends the head at once: the body's first byte may come much later. */
  readonly isHeadFirst?: boolean;
}

const NOTHING = Buffer.alloc(0);

/**
 * Sends bytes as they are. Those that still arrive go on one by one; a source that fails before anything was sent is an
 * error like any other, one that breaks off later ends the connection, so that the client sees the truncation. Throws
 * either way.
 */
export async function sendRaw(
  response: ServerResponse,
  { status, headers, body, isHeadFirst = false }: RawAnswer,
  services: Pick<PipelineServices, 'clock' | 'relayed'>,
): Promise<void> {
  if (body instanceof Uint8Array) {
    sendBytes(response, status, headers, Buffer.from(body.buffer, body.byteOffset, body.byteLength));
    return;
  }
  const source = body[Symbol.asyncIterator]();
  const first = isHeadFirst ? undefined : await source.next();
  writeHead(response, status, headers);
  try {
    if (!first) response.write(NOTHING); // `flushHeaders` would write them as UTF-8; what an upstream says is Latin-1 to Node, byte for byte
    for (let next = first ?? (await source.next()); !next.done; next = await source.next())
      await writePiece(response, next.value, services);
    if (response.destroyed) return;
    if (!response.req.complete) dropBody(response, contextOf(response).gateway); // the upstream has answered before it had read all
    endWith(response, '', 'latin1', services.clock);
  } catch (cause) {
    response.destroy();
    throw cause;
  }
}

/** Ends the source of a reply that was withheld or broken off; nothing for one that was read to its end. */
export function closeRaw(reply: RawReply | undefined): void {
  if (reply) closeBody(reply.body);
}

async function writePiece(
  response: ServerResponse,
  piece: Uint8Array,
  { clock, relayed }: Pick<PipelineServices, 'clock' | 'relayed'>,
): Promise<void> {
  if (response.destroyed) throw new GatewayError('client_canceled', 'the client closed the connection');
  contextOf(response).bytes += piece.length;
  relayed.add(piece.length);
  if (response.write(piece)) return;
  await new Promise<void>((resolve) => {
    whenTaken(response, 'drain', clock, resolve);
  });
}
