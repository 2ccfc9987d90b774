import { STATUS_CODES } from 'node:http';

/**
 * What happens on a connection, in order. A fault is such a list and nothing else, so that it can be printed, compared
 * and played again. `reset` and `close` end the connection; `hang` leaves it open and silent until the other side goes.
 */
export type Move =
  | { readonly do: 'write'; readonly bytes: Buffer }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'reset' | 'close' | 'hang' };

export type HeaderList = readonly (readonly [name: string, value: string])[];

export const write = (bytes: string | Buffer): Move => ({ do: 'write', bytes: Buffer.from(bytes) });
export const wait = (ms: number): Move => ({ do: 'wait', ms });
export const reset: Move = { do: 'reset' };
export const close: Move = { do: 'close' };
export const hang: Move = { do: 'hang' };

export function head(status: number, headers: HeaderList): Move {
  return write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  );
}

/** A body whose length is sent before it. */
export function sized(status: number, contentType: string, body: Buffer, headers: HeaderList = []): Move[] {
  return [
    head(status, [['content-type', contentType], ['content-length', String(body.length)], ...headers]),
    ...(body.length > 0 ? [write(body)] : []),
  ];
}

export const LAST_CHUNK = '0\r\n\r\n';

export function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/** A body in pieces, each a chunk and a write of its own. */
export function chunked(
  status: number,
  contentType: string,
  pieces: readonly Buffer[],
  headers: HeaderList = [],
): Move[] {
  return [
    head(status, [['content-type', contentType], ['transfer-encoding', 'chunked'], ...headers]),
    ...pieces.map((piece) => write(chunk(piece))),
    write(LAST_CHUNK),
  ];
}

export const bytesOf = (moves: readonly Move[]): number =>
  moves.reduce((sum, move) => sum + (move.do === 'write' ? move.bytes.length : 0), 0);

/** Moves that break off after so many bytes. */
export function cutAfter(moves: readonly Move[], bytes: number, end: Move): Move[] {
  const kept: Move[] = [];
  let left = bytes;
  for (const move of moves) {
    if (move.do !== 'write') kept.push(move);
    else if (move.bytes.length < left) {
      kept.push(move);
      left -= move.bytes.length;
    } else {
      if (left > 0) kept.push(write(move.bytes.subarray(0, left)));
      break;
    }
  }
  return [...kept, end];
}

/** Moves with a pause before every write but the first. */
export function spaced(moves: readonly Move[], waitMs: () => number): Move[] {
  return moves.flatMap((move, at) => (at === 0 || move.do !== 'write' ? [move] : [wait(waitMs()), move]));
}

/** Moves with every write in two, cut where `place` says, and a pause between them. */
export function halved(moves: readonly Move[], place: (length: number) => number, waitMs: () => number): Move[] {
  return moves.flatMap((move) => {
    if (move.do !== 'write' || move.bytes.length < 2) return [move];
    const at = place(move.bytes.length);
    return [write(move.bytes.subarray(0, at)), wait(waitMs()), write(move.bytes.subarray(at))];
  });
}
