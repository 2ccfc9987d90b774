import type { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import type { MulterError, StorageEngine } from 'multer';
import { GatewayError } from '../../host/contract/index.ts';
import { discardBody, UPLOAD_IDLE_MS } from '../../host/http/body.ts';
import type { RequestSource } from '../../host/http/surface-route.ts';
import { invalid } from './fields.ts';
import { SpilledFile } from './spilled-file.ts';

/** Whole body of an upload. Source: specification 4.3. */
export const MAX_UPLOAD_BYTES = 25 * 1024 * 1024;
const MAX_PARTS = 64;
const MAX_FIELD_BYTES = 1024 * 1024;

export interface Upload {
  /** Form fields; one that was sent more than once is a list. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly file: SpilledFile | undefined;
  dispose(): void;
}

/** Reads a `multipart/form-data` body with at most one file. What was stored is given back when reading fails. */
export async function readUpload({ request, clock }: RequestSource, fileField: string): Promise<Upload> {
  if (!/^multipart\/form-data\s*(;|$)/i.test(request.headers['content-type'] ?? '')) throw invalid('invalid multipart: the Content-Type must be multipart/form-data');
  if (Number(request.headers['content-length'] ?? 0) > MAX_UPLOAD_BYTES) {
    discardBody(request);
    throw tooLarge();
  }
  const stored: SpilledFile[] = [];
  const dispose = (): void => { for (const file of stored) void file.dispose(); };
  const failed = Promise.withResolvers<never>();
  const idle = clock.timer(UPLOAD_IDLE_MS, () => failed.reject(new GatewayError('invalid_request', `no byte of the body arrived for ${UPLOAD_IDLE_MS / 1000} s`, { status: 408 })));
  let bytes = 0;
  const onPiece = (piece: Buffer): void => {
    bytes += piece.length;
    idle.refresh();
    if (bytes > MAX_UPLOAD_BYTES) failed.reject(tooLarge());
  };
  try {
    await Promise.race([parseForm(request, fileField, stored, onPiece), failed.promise]);
    return { fields: (request as Request).body as Upload['fields'], file: stored[0], dispose };
  } catch (error) {
    request.unpipe();
    discardBody(request);
    dispose();
    throw error instanceof GatewayError ? error : parseError(error);
  } finally {
    idle.cancel();
  }
}

async function parseForm(request: IncomingMessage, fileField: string, stored: SpilledFile[], onPiece: (piece: Buffer) => void): Promise<void> {
  const { default: multer } = await import('multer'); // most gateways never see an upload
  const parse = multer({
    storage: spillingStorage(stored),
    limits: { fileSize: MAX_UPLOAD_BYTES, fieldSize: MAX_FIELD_BYTES, parts: MAX_PARTS },
  }).single(fileField);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  request.on('data', onPiece); // not before somebody reads: it makes the body flow
  parse(request as Request, {} as Response, (error: unknown) => {
    if (error) reject(error instanceof Error ? error : new Error('the form cannot be read'));
    else resolve();
  });
  await promise;
}

function spillingStorage(stored: SpilledFile[]): StorageEngine {
  return {
    _handleFile: (_request, { originalname, stream }, done) => {
      const file = new SpilledFile(originalname);
      stored.push(file);
      void receive(file, stream, done);
    },
    _removeFile: (_request, _file, done) => done(null), // the reader gives back everything it stored
  };
}

async function receive(file: SpilledFile, stream: Readable, done: (error?: unknown, info?: { readonly size: number }) => void): Promise<void> {
  try {
    await file.receive(stream);
    done(null, { size: file.bytes });
  } catch (error) {
    done(error);
  }
}

function parseError(cause: unknown): GatewayError {
  if (!isMulterError(cause)) return new GatewayError('invalid_request', 'invalid multipart: the form cannot be read', { cause });
  if (cause.code === 'LIMIT_FILE_SIZE') return tooLarge();
  const where = cause.field === undefined ? '' : ` (field ${JSON.stringify(cause.field)})`;
  return new GatewayError('invalid_request', `invalid multipart: ${cause.message.toLowerCase()}${where}`, { cause });
}

const isMulterError = (error: unknown): error is MulterError => error instanceof Error && error.name === 'MulterError';

function tooLarge(): GatewayError {
  return new GatewayError('request_too_large', 'request body too large');
}
