import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { Request, Response } from 'express';
import type { MulterError, Options, StorageEngine } from 'multer';
import { invalidRequest } from '../../host/common/invalid-request.ts';
import { type FormPart, GatewayError, quoted } from '../../host/contract/index.ts';
import {
  bodyTooLarge,
  inviteBody,
  UPLOAD_IDLE_MS,
  uploadStalled,
  whileReading,
} from '../../host/http/body/read-body.ts';
import type { RequestSource } from '../../host/http/surface-route.ts';
import { type HeldBytes, SpilledFile } from './spilled-file.ts';

/** Bounds of every form. See docs/reference/data-plane.md#uploads. */
const MAX_PARTS = 64;
const MAX_FIELD_BYTES = 1024 * 1024;
const MAX_NAME_BYTES = 100;

/** What one kind of form may hold. */
export interface FormBounds {
  /** Bytes of the whole body. */
  readonly maxBytes: number;
  /** The name of its one file, or how many files it may have, of any names. */
  readonly files: string | number;
}

export interface Upload {
  /** The parts as they came: names as they were written, files stored. */
  readonly parts: readonly FormPart[];
  dispose(): void;
}

/** One form on its way in. */
interface Incoming {
  readonly request: IncomingMessage;
  readonly bounds: FormBounds;
  readonly parts: FormPart[];
  readonly stored: SpilledFile[];
  readonly fail: (error: GatewayError) => void;
}

export const isForm = ({ headers }: IncomingMessage): boolean =>
  /^multipart\/form-data\s*(;|$)/i.test(headers['content-type'] ?? '');

/** Reads a `multipart/form-data` body. What was stored is given back when reading fails. */
export async function readUpload({ request, clock }: RequestSource, bounds: FormBounds): Promise<Upload> {
  if (!isForm(request)) throw invalidRequest('invalid multipart: the Content-Type must be multipart/form-data');
  if (Number(request.headers['content-length'] ?? 0) > bounds.maxBytes) throw bodyTooLarge();
  const failed = Promise.withResolvers<never>();
  const incoming: Incoming = { request, bounds, parts: [], stored: [], fail: failed.reject };
  const dispose = (): void => {
    for (const file of incoming.stored) file.dispose();
  };
  const idle = clock.timer(UPLOAD_IDLE_MS, () => failed.reject(uploadStalled()));
  whileReading(request, failed.reject);
  let bytes = 0;
  const onPiece = (piece: Buffer): void => {
    bytes += piece.length;
    idle.refresh();
    if (bytes > bounds.maxBytes) failed.reject(bodyTooLarge());
  };
  try {
    await Promise.race([parseForm(incoming, onPiece), failed.promise]);
    return { parts: incoming.parts, dispose };
  } catch (error) {
    request.unpipe();
    dispose();
    throw error instanceof GatewayError ? error : parseError(error);
  } finally {
    request.off('data', onPiece);
    idle.cancel();
    whileReading(request, undefined);
  }
}

async function parseForm(incoming: Incoming, onPiece: (piece: Buffer) => void): Promise<void> {
  const { default: multer } = await import('multer'); // most gateways never see an upload
  const {
    request,
    bounds: { maxBytes, files },
  } = incoming;
  const options: Options & StreamOption = {
    storage: spillingStorage(incoming),
    limits: {
      fileSize: maxBytes,
      fieldSize: MAX_FIELD_BYTES,
      parts: MAX_PARTS,
      ...(typeof files === 'number' && { files }),
    },
    preservePath: true, // a name that is nothing but a path would count as no file
    streamHandler: (body, parser) => {
      readFieldsLiterally(parser, incoming);
      body.pipe(parser);
    },
  };
  const parse = typeof files === 'number' ? multer(options).any() : multer(options).single(files);
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
function readFieldsLiterally(parser: Writable, { parts, fail }: Incoming): void {
  parser.removeAllListeners('field');
  parser.on(
    'field',
    (
      name: string | undefined,
      value: string,
      { nameTruncated, valueTruncated }: { nameTruncated: boolean; valueTruncated: boolean },
    ) => {
      const problem =
        nameProblem(name) ??
        (nameTruncated || valueTruncated ? `the field ${quoted(textOfLatin1(name ?? ''))} is too long` : undefined);
      if (problem !== undefined) fail(invalidRequest(`invalid multipart: ${problem}`));
      else parts.push({ name: textOfLatin1(name ?? ''), value });
    },
  );
}

/** A name that parsers may read differently is not sent on. `name` has a character for each byte; browsers escape quotes and line ends in it. */
function nameProblem(name: string | undefined): string | undefined {
  if (name === undefined || name === '') return 'a field has no name';
  if (name.length > MAX_NAME_BYTES) return `the name of a field exceeds ${MAX_NAME_BYTES} bytes: ${quoted(name)}`;
  return /["\p{Cc}]|%(?:22|0a|0d)/iu.test(textOfLatin1(name))
    ? 'the name of a field holds quotes or control characters'
    : undefined;
}

/** What was read byte by byte: UTF-8 where it is that, else Latin-1. A text with other characters was decoded already. */
function textOfLatin1(text: string): string {
  if (!/[\x80-\xff]/.test(text) || /[^\x00-\xff]/.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : text;
}

const withoutPath = (name: string): string => name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);

/** What parsers say of a file whose type its part does not state. */
const UNSTATED = 'text/plain';

function spillingStorage({ parts, stored, fail }: Incoming): StorageEngine {
  const inMemory: HeldBytes = { bytes: 0 };
  return {
    _handleFile: (_request, { fieldname, originalname, mimetype, stream }, done) => {
      const problem = nameProblem(fieldname);
      if (problem !== undefined) fail(invalidRequest(`invalid multipart: ${problem}`));
      const filename = withoutPath(textOfLatin1(originalname));
      const file = new SpilledFile(filename, mimetype === UNSTATED ? undefined : mimetype, inMemory);
      stored.push(file);
      parts.push({ name: textOfLatin1(fieldname), file });
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
