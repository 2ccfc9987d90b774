import { Agent, request } from 'undici';
import { parseJson } from '../../host/contract/index.ts';
import type { Clock } from '../../host/common/clock.ts';

/** Bounds of one answer. */
const LIMIT_MS = 5000;
const MOST_BYTES = 1024 * 1024;

interface AskDeps {
  readonly clock: Clock;
  readonly userAgent: string;
}

/** Asks an issuer for a document of JSON. Throws what is wrong, in words for the log. No redirect is followed, no cookie is kept, and no credential is sent. */
export async function askIssuer(url: string, { clock, userAgent }: AskDeps): Promise<unknown> {
  const agent = new Agent({ connections: 1, pipelining: 1 });
  const limit = new AbortController();
  const timer = clock.timer(LIMIT_MS, () => limit.abort(new Error(`it did not answer within ${LIMIT_MS} ms`)));
  try {
    const { statusCode, body } = await request(url, {
      dispatcher: agent,
      signal: limit.signal,
      headersTimeout: 0,
      bodyTimeout: 0,
      headers: { accept: 'application/json', 'user-agent': userAgent },
    });
    if (statusCode === 200) return parseJson(await collect(body));
    body.on('error', () => {}).destroy();
    throw new Error(`it answers ${statusCode}`);
  } catch (error) {
    throw limit.signal.aborted ? limit.signal.reason : error;
  } finally {
    timer.cancel();
    await agent.destroy();
  }
}

async function collect(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) throw new Error(`its answer is larger than ${MOST_BYTES} bytes`); // leaving the loop closes the connection
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
