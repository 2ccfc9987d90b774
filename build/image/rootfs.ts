/**
 * Writes the root file system of the image into a folder, without a container engine:
 * `node build/image/rootfs.ts --out <folder> [--package <archive of npm pack>]`. It needs mmdebstrap of Debian and a mirror of it.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../restore.ts';
import { writeBase } from './base.ts';
import { writeProgram } from './program.ts';

/** The user that the image runs as; its group is root's, as platforms have it that give a user of their own. */
const USER = 65_532;
const FILES: Readonly<Record<string, string>> = {
  'etc/passwd': `root:x:0:0:root:/:/nonexistent\ngw:x:${USER}:0:gw:/data:/nonexistent\n`,
  'etc/group': 'root:x:0:\n',
  'etc/nsswitch.conf': 'hosts: files dns\n',
};
const FOLDERS = ['etc/gw', 'run/secrets', 'proc', 'sys', 'dev', 'tmp', 'data'];

const { out, package: archive } = parseArgs({
  options: { out: { type: 'string' }, package: { type: 'string' } },
}).values;
if (out === undefined) throw new Error('use: rootfs.ts --out <folder> [--package <archive of npm pack>]');
if (existsSync(out)) throw new Error(`${out} exists already; name a folder that does not`);

process.umask(0o022);
const root = resolve(out);
mkdirSync(root, { recursive: true });
writeBase(root);
withArchive((path) => writeProgram(root, ROOT, path));
for (const folder of FOLDERS) mkdirSync(join(root, folder), { recursive: true });
for (const [path, text] of Object.entries(FILES)) writeFileSync(join(root, path), text);
settle();
process.stdout.write(`${root}: ${sizeOf()}\n`);

/** Gives the archive that was named, or packs one for as long as it is needed. */
function withArchive(use: (path: string) => void): void {
  if (archive !== undefined) return use(resolve(archive));
  const folder = mkdtempSync(join(tmpdir(), 'gw-pack-'));
  try {
    const { status } = spawnSync('npm', ['pack', '--pack-destination', folder], { cwd: ROOT, stdio: ['ignore', 2, 2] });
    const [packed] = globSync('*.tgz', { cwd: folder });
    if (status !== 0 || packed === undefined) throw new Error(`npm pack ended with ${status ?? 'a signal'}`);
    return use(join(folder, packed));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Owners, modes and times that do not depend on where and when it was made. */
function settle(): void {
  const isRoot = process.getuid?.() === 0;
  const time = Number(process.env['SOURCE_DATE_EPOCH'] ?? 0);
  for (const path of entries()) {
    const full = join(root, path);
    const stat = lstatSync(full);
    if (!stat.isSymbolicLink()) chmodSync(full, stat.isDirectory() || (stat.mode & 0o100) !== 0 ? 0o755 : 0o644);
  }
  if (isRoot) chownSync(join(root, 'data'), USER, 0);
  chmodSync(join(root, 'data'), 0o2770);
  chmodSync(join(root, 'tmp'), 0o1777);
  for (const path of entries().toReversed()) lutimesSync(join(root, path), time, time);
}

function entries(): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted();
}

function sizeOf(): string {
  const files = entries()
    .map((path) => lstatSync(join(root, path)))
    .filter((stat) => stat.isFile());
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return `${files.length} files, ${(bytes / 1e6).toFixed(1)} MB`;
}
