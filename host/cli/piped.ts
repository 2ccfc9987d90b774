import { fstatSync } from 'node:fs';

/** Longest text that is read. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Whether a pipe or a file is the input. Not a socket: programs start others with one that they leave open, and it would be waited for without end. */
export function isPiped(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFIFO() || stats.isFile();
  } catch {
    return false; // closed
  }
}

/** All that is piped in. Throws when it is longer than 16 MiB. */
export async function readPiped(input: NodeJS.ReadableStream): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of input as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BYTES) throw new Error('the input is longer than 16 MiB');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
