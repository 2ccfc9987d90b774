import { invalidRequest } from '../../host/common/invalid-request.ts';
import type { Readable, Writable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import type { MulterError, Options, StorageEngine } from 'multer';
import { GatewayError, quoted } from '../../host/contract/index.ts';
import { bodyTooLarge, inviteBody, UPLOAD_IDLE_MS, uploadStalled } from '../../host/http/body/read-body.ts';
import type { RequestSource } from '../../host/http/surface-route.ts';
import { SpilledFile } from './spilled-file.ts';

/** Whole body of an upload. See docs/reference/data-plane.md#uploads. */
export const MAX_UPLOAD_BYTES = 25 * 1024 * 1024;
const MAX_PARTS = 64;
const MAX_FIELD_BYTES = 1024 * 1024;

export interface Upload {
  /** Texts of the form fields by their names as they were written, in the order they came. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  readonly file: SpilledFile | undefined;
  dispose(): void;
}

/** One form on its way in. */
interface Incoming {
  readonly request: IncomingMessage;
  readonly fileField: string;
  readonly fields: Map<string, string[]>;
  readonly stored: SpilledFile[];
  readonly fail: (error: GatewayError) => void;
}

/** Reads a `multipart/form-data` body with at most one file. What was stored is given back when reading fails. */
export async function readUpload({ request, clock }: RequestSource, fileField: string): Promise<Upload> {
  if (!/^multipart\/form-data\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw invalidRequest('invalid multipart: the Content-Type must be multipart/form-data');
  if (Number(request.headers['content-length'] ?? 0) > MAX_UPLOAD_BYTES) throw bodyTooLarge();
  const failed = Promise.withResolvers<never>();
  const incoming: Incoming = { request, fileField, fields: new Map(), stored: [], fail: failed.reject };
  const dispose = (): void => {
    for (const file of incoming.stored) file.dispose();
  };
  const idle = clock.timer(UPLOAD_IDLE_MS, () => failed.reject(uploadStalled()));
  let bytes = 0;
  const onPiece = (piece: Buffer): void => {
    bytes += piece.length;
    idle.refresh();
    if (bytes > MAX_UPLOAD_BYTES) failed.reject(bodyTooLarge());
  };
  try {
    await Promise.race([parseForm(incoming, onPiece), failed.promise]);
    return { fields: incoming.fields, file: incoming.stored[0], dispose };
  } catch (error) {
    request.unpipe();
    dispose();
    throw error instanceof GatewayError ? error : parseError(error);
  } finally {
    request.off('data', onPiece);
    idle.cancel();
  }
}

async function parseForm(incoming: Incoming, onPiece: (piece: Buffer) => void): Promise<void> {
  const { default: multer } = await import('multer'); // most gateways never see an upload
  const { request, fileField } = incoming;
  const options: Options & StreamOption = {
    storage: spillingStorage(incoming.stored),
    limits: { fileSize: MAX_UPLOAD_BYTES, fieldSize: MAX_FIELD_BYTES, parts: MAX_PARTS },
    streamHandler: (body, parser) => {
      readFieldsLiterally(parser, incoming);
      body.pipe(parser);
    },
  };
  const parse = multer(options).single(fileField);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  inviteBody(request);
  request.on('data', onPiece); // not earlier: a `data` listener starts the flow of the body, and the parser must not miss any of it
  parse(request as Request, {} as Response, (error: unknown) => {
    if (error) reject(error instanceof Error ? error : new Error('the form cannot be read'));
    else resolve();
  });
  await promise;
}

/** Multer 2.5 has it, its types do not. */
interface StreamOption {
  /** Feeds the body to the parser of the form, once multer listens to it. */
  readonly streamHandler: (body: Readable, parser: Writable) => void;
}

/**
 * Takes fields from the parser in multer's place. Multer builds lists and objects out of names such as `a[7]` and `a[b]`, and a
 * list that is made from the name `a[4294967294]` takes minutes to walk. This API has no such names: every name is taken literally.
 */
function readFieldsLiterally(parser: Writable, { fields, fail }: Incoming): void {
  parser.removeAllListeners('field');
  parser.on(
    'field',
    (
      name: string | undefined,
      value: string,
      { nameTruncated, valueTruncated }: { nameTruncated: boolean; valueTruncated: boolean },
    ) => {
      if (name === undefined || nameTruncated || valueTruncated) {
        fail(
          invalidRequest(
            `invalid multipart: ${name === undefined ? 'a field has no name' : `the field ${quoted(name)} is too long`}`,
          ),
        );
        return;
      }
      const values = fields.get(name);
      if (values) values.push(value);
      else fields.set(name, [value]);
    },
  );
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

async function receive(
  file: SpilledFile,
  stream: Readable,
  done: (error?: unknown, info?: { readonly size: number }) => void,
): Promise<void> {
  try {
    await file.receive(stream);
    done(null, { size: file.bytes });
  } catch (error) {
    done(error);
  }
}

function parseError(cause: unknown): GatewayError {
  if (!isMulterError(cause))
    return new GatewayError('invalid_request', 'invalid multipart: the form cannot be read', { cause });
  if (cause.code === 'LIMIT_FILE_SIZE') return bodyTooLarge();
  const where = cause.field === undefined ? '' : ` (field ${quoted(cause.field)})`;
  return new GatewayError('invalid_request', `invalid multipart: ${cause.message.toLowerCase()}${where}`, { cause });
}

const isMulterError = (error: unknown): error is MulterError => error instanceof Error && error.name === 'MulterError';
