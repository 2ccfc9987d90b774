import { fstatSync } from 'node:fs';

/** Whether a pipe or a file is the input. Not a socket: programs start others with one that they leave open, and it would be waited for without end. */
export function isPiped(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFIFO() || stats.isFile();
  } catch {
    return false; // closed
  }
}
