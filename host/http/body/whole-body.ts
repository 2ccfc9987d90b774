import type { ServerResponse } from 'node:http';
import type { Clock } from '../../common/clock.ts';
import { contextOf } from '../context.ts';
import { dropBody } from './leftovers.ts';
import type { Leaving } from '../outbox.ts';
import { whenTaken } from './when-taken.ts';

/** A longer body leaves in pieces of so many bytes, so that a client that takes it slowly shows that it takes it. */
const PIECE_BYTES = 65_536;

/** The body of an answer that is there as a whole. */
export class WholeBody implements Leaving {
  readonly response: ServerResponse;
  readonly #body: string | Buffer;

  constructor(response: ServerResponse, body: string | Buffer) {
    this.response = response;
    this.#body = body;
  }

  leave(): void {
    const { response } = this;
    if (response.destroyed) return;
    const { gateway } = contextOf(response);
    if (!response.req.complete) dropBody(response, gateway);
    endWith(response, this.#body, 'utf8', gateway.services.clock);
  }
}

/** Writes the last bytes of an answer. */
export function endWith(
  response: ServerResponse,
  body: string | Buffer,
  encoding: 'utf8' | 'latin1',
  clock: Clock,
): void {
  if (body.length > PIECE_BYTES) {
    writePieces(response, typeof body === 'string' ? Buffer.from(body, encoding) : body, clock);
    return;
  }
  response.end(body, encoding);
  if (response.writableLength > 0) whenTaken(response, 'finish', clock, () => {});
}

function writePieces(response: ServerResponse, body: Buffer, clock: Clock): void {
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    const rest = body.subarray(at);
    if (rest.length <= PIECE_BYTES) endWith(response, rest, 'latin1', clock);
    else if (!response.write(rest.subarray(0, PIECE_BYTES))) {
      whenTaken(response, 'drain', clock, () => {
        if (!response.destroyed) writePieces(response, rest.subarray(PIECE_BYTES), clock);
      });
      return;
    }
  }
}
