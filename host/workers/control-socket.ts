import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import type { Server } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';

const NAME = /^gw-[0-9a-f]{16}$/;
const SOCKET = 'control.sock';
/** Bytes of a path that every system takes as that of a socket. */
const MOST_BYTES = 100;
/** Milliseconds that a folder is left alone for: another gateway may be about to listen there. */
const YOUNG_MS = 60_000;

export interface ControlSocket {
  readonly path: string;
  close(): void;
}

/** Listens in a folder that only this user may look into. `base` is `XDG_RUNTIME_DIR`, else the system's temporary folder. */
export async function openControlSocket(server: Server, base: string): Promise<ControlSocket> {
  await removeLeftovers(base);
  const folder = join(base, `gw-${randomBytes(8).toString('hex')}`);
  const path = join(folder, SOCKET);
  if (Buffer.byteLength(path) > MOST_BYTES)
    throw new Error(`${path} is too long for a socket; set XDG_RUNTIME_DIR to a folder with a shorter path`);
  mkdirSync(folder, { mode: 0o700 });
  const close = (): void => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    server.listen(path);
    await once(server, 'listening');
    chmodSync(path, 0o600);
  } catch (error) {
    close();
    throw error;
  }
  return { path, close };
}

/** Throws unless the folder of a socket is this user's, and no other user may use it. */
export function checkControlSocket(path: string): void {
  const folder = lstatSync(join(path, '..'));
  const isOwn = process.getuid === undefined || folder.uid === process.getuid();
  if (!folder.isDirectory() || !isOwn || (folder.mode & 0o077) !== 0)
    throw new Error(`the folder of ${path} is not this user's alone`);
}

/** What primaries that were killed have left. */
async function removeLeftovers(base: string): Promise<void> {
  const names = readdirSync(base).filter((name) => NAME.test(name));
  for (const name of names) {
    const folder = join(base, name);
    const found = statSync(folder, { throwIfNoEntry: false });
    if (!found || (process.getuid && found.uid !== process.getuid()) || Date.now() - found.mtimeMs < YOUNG_MS) continue;
    if (await isRefused(join(folder, SOCKET))) rmSync(folder, { recursive: true, force: true });
  }
}

function isRefused(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.on('connect', () => {
    socket.destroy();
    resolve(false);
  });
  socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' || code === 'ENOENT'));
  return promise;
}
