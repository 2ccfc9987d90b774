import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../contract/index.ts';
import type { Clock } from '../../common/clock.ts';
import type { PipelineServices } from '../../pipeline/pipeline-services.ts';
import { bodyTooLarge, inviteBody, UPLOAD_IDLE_MS, uploadStalled, whileReading } from './read-body.ts';

/**
 * The body of a request while it arrives, to be sent on. It is read no faster than it is taken. Throws 413 beyond
 * `maxBytes`, and what the client is to blame for: also 408 when nothing arrives for too long. A reader that stops leaves
 * the connection as it is.
 */
export async function* arrivingBody(
  request: IncomingMessage,
  maxBytes: number,
  { clock, relayed }: Pick<PipelineServices, 'clock' | 'relayed'>,
): AsyncGenerator<Uint8Array> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge();
  inviteBody(request);
  let bytes = 0;
  const pieces = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  try {
    for (
      let next = await nextPiece(request, pieces, clock);
      !next.done;
      next = await nextPiece(request, pieces, clock)
    ) {
      bytes += next.value.length;
      if (bytes > maxBytes) throw bodyTooLarge();
      relayed.add(next.value.length);
      yield next.value;
    }
  } finally {
    pieces.return?.().catch(() => {}); // its listener would keep what is left from being read in vain
  }
}

/** Only the time that the client takes counts: the timer runs only while the gateway waits for the next piece. */
async function nextPiece(
  request: IncomingMessage,
  pieces: AsyncIterator<Buffer>,
  clock: Clock,
): Promise<IteratorResult<Buffer, undefined>> {
  const stalled = Promise.withResolvers<never>();
  whileReading(request, stalled.reject);
  const idle = clock.timer(UPLOAD_IDLE_MS, () => stalled.reject(uploadStalled()));
  try {
    return await Promise.race([pieces.next() as Promise<IteratorResult<Buffer, undefined>>, stalled.promise]);
  } catch (cause) {
    throw cause instanceof GatewayError
      ? cause
      : new GatewayError('client_canceled', 'the client left while sending its body', { cause });
  } finally {
    idle.cancel();
    whileReading(request, undefined);
  }
}
