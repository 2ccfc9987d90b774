import { stat } from 'node:fs/promises';

/** Which file a name stands for: device, inode, number of names. `undefined` for none. */
export interface FileIdentity {
  readonly device: bigint;
  readonly inode: bigint;
  readonly links: bigint;
}

export async function identityOf(path: string): Promise<FileIdentity | undefined> {
  try {
    const { dev, ino, nlink } = await stat(path, { bigint: true });
    return { device: dev, inode: ino, links: nlink };
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function isSameFile(one: FileIdentity | undefined, other: FileIdentity | undefined): boolean {
  return one?.device === other?.device && one?.inode === other?.inode;
}
