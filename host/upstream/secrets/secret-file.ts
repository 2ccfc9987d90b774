import { isUtf8 } from 'node:buffer';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { directoriesOf } from '../../config/secrets/secret-paths.ts';

/** Longest text of a secret. */
export const MAX_SECRET_BYTES = 64 * 1024;

/** Why a file gives no text. */
export type FileFault =
  | 'empty'
  | 'no such file'
  | 'not readable'
  | 'outside the secret directories'
  | 'not a regular file'
  | 'too large'
  | 'not text';

/** What a look at a file found; `undefined` in the place of its outcome where it was being written meanwhile. */
export interface FileRead {
  readonly outcome: FileOutcome | undefined;
  /** Stands for the state of the file that was looked at. */
  readonly stamp: string;
}

export type FileOutcome = { readonly text: string } | { readonly reason: FileFault };

/** What a file is looked at with; the disk's unless a test says otherwise. */
export interface FileAccess {
  stat(path: string): Promise<BigIntStats>;
  realpath(path: string): Promise<string>;
  open(path: string, flags: number): Promise<Pick<FileHandle, 'stat' | 'read' | 'close'>>;
}

export const DISK: FileAccess = {
  stat: (path) => stat(path, { bigint: true }),
  realpath: (path) => realpath(path),
  open: (path, flags) => open(path, flags),
};

/** Where a text is read from, and within which bounds. */
export interface TextFile {
  readonly path: string;
  readonly maxBytes: number;
  /** Directories that the file must lie below once its links are resolved; anywhere where it is left out. */
  readonly directories?: readonly string[] | undefined;
}

/** Where a platform puts the identities of a process: they belong to the process, not to a provider. */
const PLATFORM_IDENTITIES = /\/(?:kubernetes\.io|eks\.amazonaws\.com|azure\/tokens)(?=\/|$)/i;

/**
 * The state of a file, links resolved: another file, another size or another time gives another text. A swap of the link
 * that Kubernetes mounts secrets behind changes the inode.
 */
export const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  `${dev}-${ino}-${size}-${mtimeNs}-${ctimeNs}`;

/** The stamp of a file that cannot be looked at. */
export const faultStamp = (error: unknown): string => `fault ${codeOf(error)}`;

/**
 * Reads a text: of a regular file, in UTF-8 without NUL, as it stood at one moment. A byte order mark and the ends of lines
 * at its end are cut. Never waits for a pipe and never reads a device.
 */
export async function readTextFile(file: TextFile, access: FileAccess): Promise<FileRead> {
  let before: BigIntStats | undefined;
  try {
    before = await access.stat(file.path);
    const stamp = stampOf(before);
    const outcome = faultOf(before, file) ?? (await readResolved(file, before, access));
    return { outcome, stamp };
  } catch (error) {
    return { outcome: { reason: faultOfError(error) }, stamp: before ? stampOf(before) : faultStamp(error) };
  }
}

function faultOf(stats: BigIntStats, { maxBytes }: TextFile): FileOutcome | undefined {
  if (!stats.isFile()) return { reason: 'not a regular file' };
  return stats.size > maxBytes ? { reason: 'too large' } : undefined;
}

/** Undefined where the file was another one, or another text, at the end than at the beginning. */
async function readResolved(file: TextFile, before: BigIntStats, access: FileAccess): Promise<FileOutcome | undefined> {
  const real = await access.realpath(file.path);
  if (file.directories && !(await liesBelow(real, file.path, { directories: file.directories, access })))
    return { reason: 'outside the secret directories' };
  const bytes = await readBytes(real, { expected: stampOf(before), maxBytes: file.maxBytes, access });
  const after = await access.stat(file.path);
  if (!bytes || stampOf(after) !== stampOf(before)) return undefined;
  return outcomeOf(bytes, file.maxBytes);
}

interface Bounds {
  readonly directories: readonly string[];
  readonly access: FileAccess;
}

/** A directory may itself stand behind a link; what lies in it may not lead outside. */
async function liesBelow(real: string, path: string, { directories, access }: Bounds): Promise<boolean> {
  if (PLATFORM_IDENTITIES.test(real)) return false;
  for (const directory of directoriesOf(path, directories)) {
    if (real.startsWith(`${await access.realpath(directory)}/`)) return true;
  }
  return false;
}

interface Reading {
  readonly expected: string;
  readonly maxBytes: number;
  readonly access: FileAccess;
}

/** Undefined where another file stands there by now. One byte more than the limit is read at most. */
async function readBytes(path: string, { expected, maxBytes, access }: Reading): Promise<Buffer | undefined> {
  const handle = await access.open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    if (stampOf(await handle.stat({ bigint: true })) !== expected) return undefined;
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      length += bytesRead;
      if (bytesRead === 0 || length === buffer.length) return buffer.subarray(0, length);
    }
  } finally {
    await handle.close();
  }
}

function outcomeOf(bytes: Buffer, maxBytes: number): FileOutcome {
  if (bytes.length > maxBytes) return { reason: 'too large' };
  if (!isUtf8(bytes) || bytes.includes(0)) return { reason: 'not text' };
  const text = withoutEnds(bytes.toString('utf8').replace(/^\ufeff/, ''));
  return text.trim() === '' ? { reason: 'empty' } : { text };
}

/** A loop: a pattern would take a time that grows with the square of the number of lines. */
function withoutEnds(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end -= 1;
  return text.slice(0, end);
}

function faultOfError(error: unknown): FileFault {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR' ? 'no such file' : 'not readable';
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown');
