import { isUtf8 } from 'node:buffer';
import { statSync } from 'node:fs';
import { constants, type FileHandle, open } from 'node:fs/promises';

/** Longest configuration, or other file that an operator writes. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;

/**
 * Reads a file as text. A pipe, a device, a folder and a file of more than 16 MiB are refused at once: reading them may never
 * end. Opened with a flag that keeps the opening itself from waiting. So is what is not UTF-8: other letters would be read than
 * were written.
 */
export async function readPlainFile(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const fault = faultOf(await file.stat());
    if (fault !== undefined) throw new Error(fault);
    return await readBounded(file);
  } finally {
    await file.close();
  }
}

/** True for what stands at a path and `readPlainFile` refuses; folders aside. */
export function isNotPlain(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !stats.isDirectory() && faultOf(stats) !== undefined;
}

const TOO_LARGE = `it is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB`;

function faultOf(stats: { isFile(): boolean; readonly size: number }): string | undefined {
  if (!stats.isFile()) return 'it is not a file, but a folder, a pipe or a device';
  return stats.size > MAX_FILE_BYTES ? TOO_LARGE : undefined;
}

/** It may grow while it is read. */
async function readBounded(file: FileHandle): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(256 * 1024) });
    if (bytesRead === 0) return textOf(Buffer.concat(pieces));
    bytes += bytesRead;
    if (bytes > MAX_FILE_BYTES) throw new Error(TOO_LARGE);
    pieces.push(buffer.subarray(0, bytesRead));
  }
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Error('it is not UTF-8 text');
  return bytes.toString('utf8');
}
