const LIMIT_MS = 5000;
const MOST_BYTES = 1024 * 1024;

/** An issuer did not answer in time, or answered too much. */
export class AskedTooMuch extends Error {
  override readonly name = 'AskedTooMuch';
}

/** A fetch for libraries: no redirect is followed, and time and size are bounded. */
export async function boundedFetch(url: string, options: object): Promise<Response> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  try {
    const response = await fetch(url, { ...options, redirect: 'manual', signal });
    const { status, headers } = response;
    const body = await collected(response);
    return new Response(status === 204 ? null : body, { status, headers });
  } catch (error) {
    if (signal.aborted) throw new AskedTooMuch(`it did not answer within ${LIMIT_MS} ms`, { cause: error });
    throw error;
  }
}

async function collected(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) throw new AskedTooMuch(`its answer is larger than ${MOST_BYTES} bytes`);
    pieces.push(piece);
  }
  return new Uint8Array(Buffer.concat(pieces));
}
