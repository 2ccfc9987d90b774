import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { extname, join, posix, relative } from 'node:path';
import { rawPath } from '../../host/http/context.ts';
import type { Coding, FileVariants, Variant } from './variants.ts';

/** One file of the bundle, with what the build compressed of it. */
export interface BundleFile extends FileVariants {
  readonly caching: string;
}

/** A built application. */
export interface Bundle {
  /** By their paths, which begin with a slash. */
  readonly files: ReadonlyMap<string, BundleFile>;
  /** What a browser gets for every path without a file. */
  readonly page: BundleFile;
}

const PAGE = '/index.html';
/** Their names change with their content. */
const HASHED = '/assets/';
const FOREVER = 'public, max-age=31536000, immutable';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** What the build writes beside a file. */
const COMPRESSED: Readonly<Record<string, Coding>> = { '.br': 'br', '.gz': 'gzip' };

/** Whether an application was built in a folder. */
export const hasBundle = (folder: string): boolean => existsSync(join(folder, PAGE));

/** Reads every file of a folder where an application was built. Names with a dot in front belong to the build. */
export async function readBundle(folder: string): Promise<Bundle> {
  const bodies = await bodiesIn(folder);
  const files = new Map<string, BundleFile>();
  for (const [path, body] of bodies) {
    if (!(extname(path) in COMPRESSED)) files.set(path, fileOf(path, body, bodies));
  }
  const page = files.get(PAGE);
  if (!page) throw new Error(`the folder has no ${PAGE.slice(1)}`);
  return { files, page };
}

async function bodiesIn(folder: string): Promise<Map<string, Buffer>> {
  const bodies = new Map<string, Buffer>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const path = `/${relative(folder, file).replaceAll('\\', '/')}`;
    if (entry.isFile() && !path.includes('/.')) bodies.set(path, await readFile(file));
  }
  return bodies;
}

function fileOf(path: string, body: Buffer, bodies: ReadonlyMap<string, Buffer>): BundleFile {
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  const name = hash('sha256', body, 'base64url').slice(0, 22);
  const compressed = Object.entries(COMPRESSED).flatMap(([ending, coding]) => {
    const found = bodies.get(path + ending);
    return found
      ? [variantOf(found, `${name}-${coding}`, ['Content-Type', type, 'Content-Encoding', coding], coding)]
      : [];
  });
  return {
    plain: variantOf(body, name, ['Content-Type', type]),
    compressed,
    caching: path.startsWith(HASHED) ? FOREVER : 'no-store',
  };
}

function variantOf(body: Buffer, name: string, description: readonly string[], coding?: Coding): Variant {
  const tag = `"${name}"`;
  return { body, tag, description, validators: ['ETag', tag, 'Vary', 'Accept-Encoding'], coding };
}

/** The file that a request names, however its path is written: nothing outside the bundle has a name here. */
export function fileAt({ files }: Bundle, request: IncomingMessage): BundleFile | undefined {
  const path = rawPath(request);
  return files.get(path) ?? (/%|\/[./]/.test(path) ? files.get(cleaned(path)) : undefined);
}

function cleaned(path: string): string {
  try {
    return posix.normalize(decodeURIComponent(path));
  } catch {
    return path;
  }
}
