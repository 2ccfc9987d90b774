import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../../host/contract/index.ts';
import { failureOf } from '../../host/wire/client-failure.ts';
import type { Clock } from '../../host/common/clock.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { ForwardedReply } from '../../host/pipeline/attempts/forward-attempt.ts';
import { closeBody } from '../../host/upstream/reply-body.ts';
import type { Scrub } from './scrub.ts';

/** How much of a refusal is read, and how long, to take credentials out of it. See docs/passthrough.md#what-is-changed-on-the-way. */
const MAX_BYTES = 256 * 1024;
const MAX_MS = 15_000;

export interface CleanBody {
  readonly bytes: Buffer;
  /** The type of what replaced a body that could not be looked through. */
  readonly contentType?: string;
}

/** The body of an answer that is not 2xx, without credentials. Throws what ended the exchange meanwhile. */
export async function cleanBody(
  { body, headers }: ForwardedReply,
  exchange: LiveExchange,
  scrub: Scrub,
  clock: Clock,
): Promise<CleanBody> {
  const encoding = (headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((word) => word.trim());
  const bytes = encoding.every((word) => word === '' || word === 'identity')
    ? await collected(body, clock, MAX_BYTES)
    : undefined;
  if (!bytes) closeBody(body);
  exchange.cancellation.throwIfCancelled();
  if (!bytes) return replacement(exchange);
  const charset = isUtf8(bytes) ? 'utf8' : 'latin1';
  return { bytes: Buffer.from(scrub.body(bytes.toString(charset)), charset) };
}

function replacement({ wire, id }: LiveExchange): CleanBody {
  const error = new GatewayError('upstream_error', 'the provider refused the request, and its answer cannot be shown');
  const { contentType, body } = wire.error(failureOf(error, error.message, id));
  return { bytes: Buffer.from(body), contentType };
}

/** `undefined` for a body that is too long, too slow, or broken. */
export async function collected(
  body: AsyncIterable<Uint8Array>,
  clock: Clock,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  let isWhole = true;
  const timer = clock.timer(MAX_MS, () => {
    isWhole = false;
    closeBody(body);
  });
  try {
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes > maxBytes) return undefined;
      pieces.push(piece);
    }
    return isWhole ? Buffer.concat(pieces) : undefined;
  } catch {
    return undefined;
  } finally {
    timer.cancel();
  }
}
