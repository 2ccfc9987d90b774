import {
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../architecture/source.ts';
import { mutated, type Site } from './sites.ts';

const LEFT_OUT = new Set(['node_modules', '.git']);

/** A copy of the project to change at will; the project itself is never touched, and may change meanwhile. */
export interface Copy {
  readonly folder: string;
  read(path: string): string;
  /** Changes one file, and gives back how to undo it. */
  mutate(site: Site): () => void;
  remove(): void;
}

export function copyProject(): Copy {
  const folder = mkdtempSync(join(tmpdir(), 'gw-mutants-'));
  for (const name of readdirSync(ROOT)) {
    // With its times: a lock file that is newer than what is installed would have it installed anew.
    if (!LEFT_OUT.has(name))
      cpSync(join(ROOT, name), join(folder, name), { recursive: true, preserveTimestamps: true });
  }
  linkFolder(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const write = (path: string, source: string): void => writeFileSync(join(folder, path), source);
  return {
    folder,
    read,
    mutate: (site) => {
      const source = read(site.path);
      write(site.path, mutated(source, site));
      return () => write(site.path, source);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The packages are a folder of their own, whose files are the same: whatever removes them there leaves the project's alone. */
function linkFolder(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkFolder(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkOrCopy(source, target);
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    cpSync(source, target); // another file system
  }
}
