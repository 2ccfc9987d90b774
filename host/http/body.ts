import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../contract/index.ts';
import type { Clock, Timer } from '../clock.ts';

/** Longest silence of an uploading client; how long the upload takes in all is its own affair. */
export const UPLOAD_IDLE_MS = 60_000;
/** What is still read, and thrown away, of a body that is too large, so that the client gets to see the refusal. */
const DISCARD_BYTES = 64 * 1024 * 1024;
/** Deepest nesting of a JSON body: everything that walks bodies may recurse. */
export const MAX_DEPTH = 256;

export type JsonObject = Record<string, unknown>;

/** Reads the whole body. Rejects with 413 beyond `maxBytes`, whether or not what came before is complete. */
export function readBody(request: IncomingMessage, maxBytes: number, clock: Clock): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const declared = request.headers['content-length'];
  if (declared !== undefined && Number(declared) > maxBytes) {
    discardBody(request);
    reject(tooLarge());
    return promise;
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  let idle: Timer | undefined;
  let isOver = false;
  const end = (): void => {
    isOver = true;
    idle?.cancel();
  };
  const fail = (error: GatewayError): void => {
    end();
    request.off('data', onData);
    discardBody(request);
    reject(error);
  };
  const onData = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > maxBytes) fail(tooLarge());
    else {
      pieces.push(piece);
      idle?.refresh();
    }
  };
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
    if (!isOver && String(bytes) !== declared) idle = clock.timer(UPLOAD_IDLE_MS, () => fail(silence()));
  });
  return promise;
}

function silence(): GatewayError {
  return new GatewayError('invalid_request', `no byte of the body arrived for ${UPLOAD_IDLE_MS / 1000} s`, { status: 408 });
}

function tooLarge(): GatewayError {
  return new GatewayError('request_too_large', 'request body too large');
}

/** Reads and throws away a body that was refused, so that the client gets to see the refusal. */
export function discardBody(request: IncomingMessage): void {
  let left = DISCARD_BYTES;
  request.on('data', (piece: Buffer) => {
    left -= piece.length;
    if (left < 0) request.destroy();
  });
  request.resume();
}

/** Numbers that JavaScript may not hold exactly: many digits, or an exponent. */
const INEXACT = /\d{16}|\d[eE]/;

/**
 * Parses a JSON object strictly: UTF-8, one document, bounded depth. Integers beyond 2^53 and numbers beyond the range
 * of a double become raw JSON, so that they leave as they came; of duplicate keys the last one counts.
 */
export function parseJsonObject(bytes: Buffer): JsonObject {
  if (bytes.length === 0) throw new GatewayError('invalid_request', 'the request body is empty');
  if (!isUtf8(bytes)) throw new GatewayError('invalid_request', 'the request body is not valid UTF-8');
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = INEXACT.test(text) ? JSON.parse(text, keepExact as never) : JSON.parse(text);
  } catch (cause) {
    throw new GatewayError('invalid_request', 'the request body is not valid JSON', { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isRawNumber(value)) {
    throw new GatewayError('invalid_request', 'the request body must be a JSON object');
  }
  if (bytes.length > MAX_DEPTH * 2 && isTooDeep(value, MAX_DEPTH)) {
    throw new GatewayError('invalid_request', `the request body is nested deeper than ${MAX_DEPTH} levels`);
  }
  return value as JsonObject;
}

interface RawJson {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
}

const json = JSON as unknown as RawJson;

function keepExact(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined) return value;
  const isExact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return isExact ? value : json.rawJSON(source);
}

/** True for a number that was kept as it was written. */
export function isRawNumber(value: unknown): boolean {
  return json.isRawJSON(value);
}

function isTooDeep(value: object, levels: number): boolean {
  if (levels === 0) return true;
  for (const key in value) {
    const member = (value as JsonObject)[key];
    if (typeof member === 'object' && member !== null && isTooDeep(member, levels - 1)) return true;
  }
  return false;
}
