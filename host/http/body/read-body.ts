import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../../contract/index.ts';
import type { Clock, Timer } from '../../common/clock.ts';

/** Longest silence of an uploading client; the upload as a whole has no time limit here. */
export const UPLOAD_IDLE_MS = 60_000;

const invitation = Symbol('invitation');
const stopping = Symbol('stopping');

interface Invitable {
  [invitation]?: ServerResponse;
}

interface Stoppable {
  [stopping]?: ((cause: GatewayError) => void) | undefined;
}

/** Says how reading this body is given up, for as long as the gateway waits for more of it. */
export function whileReading(request: IncomingMessage, stop: ((cause: GatewayError) => void) | undefined): void {
  (request as Stoppable)[stopping] = stop;
}

/** Waits for a body no longer: its reader fails with the cause. False where none is waited for. */
export function stopReading(request: IncomingMessage, cause: GatewayError): boolean {
  const stop = (request as Stoppable)[stopping];
  stop?.(cause);
  return stop !== undefined;
}

/** Keeps the `100 Continue` that a client waits for until its body is read: a body that is refused need not be sent. */
export function postponeInvitation(request: IncomingMessage, response: ServerResponse): void {
  (request as Invitable)[invitation] = response;
}

/** Must be called before a body is read. */
export function inviteBody(request: IncomingMessage): void {
  (request as Invitable)[invitation]?.writeContinue();
}

/** Reads the whole body. Rejects with 413 beyond `maxBytes`, whether or not what came before is complete. */
export function readBody(request: IncomingMessage, maxBytes: number, clock: Clock): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const declared = request.headers['content-length'];
  if (declared !== undefined && Number(declared) > maxBytes) {
    reject(bodyTooLarge());
    return promise;
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  let idle: Timer | undefined;
  let isOver = false;
  const end = (): void => {
    isOver = true;
    if (!idle) return;
    idle.cancel();
    whileReading(request, undefined);
  };
  const fail = (error: GatewayError): void => {
    end();
    request.off('data', onData);
    pieces.length = 0;
    reject(error);
  };
  const onData = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > maxBytes) fail(bodyTooLarge());
    else {
      pieces.push(piece);
      idle?.refresh();
    }
  };
  inviteBody(request);
  request.on('data', onData);
  request.on('end', () => {
    end();
    const [first] = pieces;
    resolve(pieces.length === 1 && first ? first : Buffer.concat(pieces));
  });
  request.on('error', (cause) => {
    end();
    reject(new GatewayError('client_canceled', 'the client left while sending its body', { cause }));
  });
  // By then a body has arrived that came with its headers, as most do: it needs no watch.
  process.nextTick(() => {
    if (isOver || String(bytes) === declared) return;
    idle = clock.timer(UPLOAD_IDLE_MS, () => fail(uploadStalled()));
    whileReading(request, fail);
  });
  return promise;
}

export function uploadStalled(): GatewayError {
  return new GatewayError('invalid_request', `no byte of the body arrived for ${UPLOAD_IDLE_MS / 1000} s`, {
    status: 408,
  });
}

export function bodyTooLarge(): GatewayError {
  return new GatewayError('request_too_large', 'request body too large');
}
