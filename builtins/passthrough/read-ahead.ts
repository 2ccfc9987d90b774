import type { IncomingMessage } from 'node:http';
import { arrivingBody } from '../../host/http/body/arriving-body.ts';
import type { PipelineServices } from '../../host/pipeline/pipeline-services.ts';

/** A request's body, some of which has been read: what was looked at is what leaves. */
export interface HeldBody {
  /** What has arrived so far; all of it unless there is a rest. */
  readonly held: Buffer;
  /** What is still to come, as it arrives; `undefined` when nothing is. */
  readonly rest: AsyncGenerator<Uint8Array> | undefined;
  /** Bytes in all, where the client has said so. */
  readonly declared: number | undefined;
}

export interface ReadAhead {
  readonly maxBytes: number;
  readonly services: Pick<PipelineServices, 'clock' | 'relayed'>;
  /** Whether more must be read before anything is sent on; asked before the first byte and after each piece. */
  readonly wants: (heldBytes: number) => boolean;
  /** Sees every piece, also those that pass later. What it throws ends the body. */
  readonly see?: ((piece: Buffer) => void) | undefined;
}

const NOTHING = Buffer.alloc(0);

/** Reads as much of a body as must be seen before it goes on. Throws what the client is to blame for. */
export async function readAhead(
  request: IncomingMessage,
  { maxBytes, services, wants, see }: ReadAhead,
): Promise<HeldBody> {
  const length = request.headers['content-length'];
  const declared = length === undefined ? undefined : Number(length);
  if (declared === 0 || (declared === undefined && request.headers['transfer-encoding'] === undefined))
    return { held: NOTHING, rest: undefined, declared };
  const arriving = arrivingBody(request, maxBytes, services);
  const pieces = see ? seen(arriving, see) : arriving;
  const held: Uint8Array[] = [];
  let bytes = 0;
  try {
    while (wants(bytes)) {
      const next = await pieces.next();
      if (next.done) return { held: Buffer.concat(held), rest: undefined, declared };
      held.push(next.value);
      bytes += next.value.length;
    }
  } catch (error) {
    pieces.return(undefined).catch(() => {}); // the rest is left to be read in vain
    throw error;
  }
  return { held: Buffer.concat(held), rest: pieces, declared };
}

async function* seen(pieces: AsyncGenerator<Uint8Array>, see: (piece: Buffer) => void): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    see(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    yield piece;
  }
}

/** Bytes that stand in the place of others. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

/** What leaves of a body, and its length in bytes, where it is known. */
export function leavingBody(
  { held, rest, declared }: HeldBody,
  splice?: Splice,
): { readonly body: Uint8Array | AsyncIterable<Uint8Array> | undefined; readonly length: number | undefined } {
  const first = splice
    ? Buffer.concat([held.subarray(0, splice.start), splice.bytes, held.subarray(splice.end)])
    : held;
  if (rest)
    return {
      body: joined(first, rest),
      length: declared === undefined ? undefined : declared + first.length - held.length,
    };
  return first.length > 0 || declared === 0
    ? { body: first, length: first.length }
    : { body: undefined, length: undefined };
}

async function* joined(first: Buffer, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first;
  yield* rest;
}
