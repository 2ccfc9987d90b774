import { randomFillSync } from 'node:crypto';
import type { TraceContext } from '../common/trace-context.ts';

const HEX_32 = /^[0-9a-f]{32}$/;
const NO_ID = '0'.repeat(32);

/** Makes random ids of so many bytes, in hex, hundreds at a time: one call for randomness costs as much as many ids. */
export function createIdSource(bytes = 16): () => string {
  const pool = Buffer.alloc(4096);
  let at = pool.length;
  return () => {
    if (at === pool.length) {
      randomFillSync(pool);
      at = 0;
    }
    at += bytes;
    return pool.toString('hex', at - bytes, at);
  };
}

/** The trace id of a valid `traceparent`, else a usable `X-Request-ID`, else a new id. See docs/reference/observability.md#request-ids. */
export function requestId(
  trace: TraceContext | undefined,
  given: string | string[] | undefined,
  create: () => string,
): string {
  if (trace) return trace.traceId;
  if (typeof given === 'string') {
    const folded = given.trim().toLowerCase();
    if (HEX_32.test(folded) && folded !== NO_ID) return folded;
  }
  return create();
}
