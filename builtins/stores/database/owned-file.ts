import { chmod, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const MODE = 0o600;

/**
 * Makes a file, if it is not there, which only its owner may read from its first byte on. One that is there is not opened: a process that closes
 * a file gives up all locks that SQLite holds on it (sqlite.org/howtocorrupt.html, section 2.2). Journals inherit the mode of their file.
 */
export async function createOwned(file: string): Promise<void> {
  const folder = await stat(dirname(file)).catch(() => undefined);
  if (!folder?.isDirectory())
    throw new Error(`the folder ${dirname(file)} does not exist; make it, or name another file`);
  const there = await stat(file).catch(() => undefined);
  if (there && !there.isFile())
    throw new Error(`${file} is not a file, but a folder, a pipe or a device; name another file`);
  if (!there) await (await open(file, 'a', MODE)).close();
  await chmod(file, MODE);
}
