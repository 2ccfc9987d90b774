import { request } from 'node:http';
import type { Exchange } from './scenes/exchange.ts';

/** What a client got. */
export interface Got {
  readonly status: number;
  /** Names and values by turns, as they were written. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** Whether the answer came to its end, or its connection was lost before. */
  readonly end: 'whole' | 'cut';
}

/** An answer that takes longer is none, which is a difference like any other. */
const LONGEST_MS = 15_000;

/** Sends one request on a connection of its own and reads its answer to the end; without an answer the status is 0. */
export function ask(url: string, { method, path, headers, body }: Exchange): Promise<Got> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const length = body && { 'content-length': body.length };
    const call = request(
      { hostname, port, method, path, agent: false, headers: { ...headers, ...length } },
      (reply) => {
        const pieces: Buffer[] = [];
        reply.on('data', (piece: Buffer) => pieces.push(piece));
        reply.on('error', () => {}); // a connection that is lost; "close" follows
        reply.on('close', () => {
          clearTimeout(timer);
          const { statusCode: status = 0, rawHeaders, complete } = reply;
          resolve({ status, headers: rawHeaders, body: Buffer.concat(pieces), end: complete ? 'whole' : 'cut' });
        });
      },
    );
    const timer = setTimeout(() => call.destroy(new Error(`no answer within ${LONGEST_MS} ms`)), LONGEST_MS);
    call.on('error', ({ message }) => {
      clearTimeout(timer);
      resolve({ status: 0, headers: [], body: Buffer.from(message), end: 'cut' });
    });
    call.end(body);
  });
}
