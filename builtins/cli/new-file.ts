import { open, rm } from 'node:fs/promises';

/** Creates the file for its owner alone; false when there is one already. One call, so that no other process can create it in between. What could not be written whole is not left behind. */
export async function writeNew(path: string, content: string): Promise<boolean> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) =>
    error.code === 'EEXIST' ? undefined : Promise.reject(error),
  );
  if (!file) return false;
  try {
    await file.writeFile(content);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return true;
}
