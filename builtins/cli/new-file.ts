import { open } from 'node:fs/promises';

/** Creates the file for its owner alone; false when there is one already. One call, so that no other process can create it in between. */
export async function writeNew(path: string, content: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(content);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
