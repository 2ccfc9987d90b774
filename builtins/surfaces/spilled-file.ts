import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UploadedFile } from '../../host/contract/index.ts';
import { recordingSeconds } from './recording-length.ts';

/** What the files of one form may hold in memory, in sum: more goes to disk. See docs/reference/data-plane.md#uploads. */
const SPILL_BYTES = 10 * 1024 * 1024;
const READ_BYTES = 64 * 1024;

/** What the files of one form hold in memory. */
export interface HeldBytes {
  bytes: number;
}

/**
 * An uploaded file: in memory while all of its form are small, else in a temporary file. That file is unlinked as soon as it is
 * open, so that the system frees it however the process ends.
 */
export class SpilledFile implements UploadedFile {
  readonly filename: string;
  readonly contentType: string | undefined;
  bytes = 0;
  #head: Buffer | undefined;
  #pieces: Buffer[] = [];
  /** Settles with the file, or with `undefined` when it could not be opened. It must be closed here: Node ends the process when a handle that is still open is collected as garbage. */
  #handle: Promise<FileHandle> | undefined;
  #isDisposed = false;
  readonly #inMemory: HeldBytes;

  constructor(filename: string, contentType?: string, inMemory: HeldBytes = { bytes: 0 }) {
    this.filename = filename;
    this.contentType = contentType;
    this.#inMemory = inMemory;
  }

  async receive(content: AsyncIterable<Buffer>): Promise<void> {
    for await (const piece of content) {
      if (this.#isDisposed) return;
      this.#head ??= piece;
      this.bytes += piece.length;
      this.#pieces.push(piece);
      this.#inMemory.bytes += piece.length;
      if (this.#handle || this.#inMemory.bytes > SPILL_BYTES) await this.#spill();
    }
  }

  get seconds(): number | undefined {
    return this.#head && recordingSeconds(this.#head, this.bytes);
  }

  async *open(): AsyncGenerator<Uint8Array> {
    if (!this.#handle) {
      yield* this.#pieces;
      return;
    }
    const handle = await this.#handle;
    for (let position = 0; position < this.bytes;) {
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, position);
      if (bytesRead === 0) throw new Error('the temporary file of an upload is shorter than what was written');
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Frees memory and disk. What is being opened, written or read meanwhile ends first. */
  dispose(): void {
    this.#isDisposed = true;
    this.#pieces = [];
    this.#head = undefined;
    this.#handle?.then((handle) => handle.close()).catch(() => {}); // it is not read any more, so a failure to close it does no harm
    this.#handle = undefined;
  }

  async #spill(): Promise<void> {
    this.#handle ??= openTemporary();
    const pieces = this.#pieces;
    this.#pieces = [];
    for (const { length } of pieces) this.#inMemory.bytes -= length;
    await (await this.#handle).writev(pieces);
  }
}

/** A file without a name. */
async function openTemporary(): Promise<FileHandle> {
  const path = join(tmpdir(), `gw-upload-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return handle;
}
