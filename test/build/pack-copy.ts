import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What a checkout holds of the package's sources. */
const SOURCES = [
  'build',
  'builtins',
  'docs',
  'host',
  'plugins',
  'providers',
  'strategies',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'config.example.yaml',
  'package-lock.json',
  'package.json',
  'tsconfig.json',
];
const run = promisify(execFile);

export interface Packed {
  /** Where the package is installed: it holds `node_modules/gw`. */
  readonly folder: string;
  readonly bin: string;
  readonly archive: string;
}

/** Packs a copy of the checkout, as packing changes its manifest for a while, and unpacks the package where npm would; both folders are empty. */
export async function packCopy(checkout: string, folder: string): Promise<Packed> {
  for (const path of SOURCES) await cp(join(ROOT, path), join(checkout, path), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  await run('npm', ['pack', '--pack-destination', folder], { cwd: checkout });
  if ((await readFile(join(checkout, 'package.json'), 'utf8')) !== (await readFile(join(ROOT, 'package.json'), 'utf8')))
    throw new Error('packing left another manifest behind');
  const [archive = ''] = await readdir(folder);
  await run('tar', ['xzf', archive], { cwd: folder });
  await mkdir(join(folder, 'node_modules'));
  await rename(join(folder, 'package'), join(folder, 'node_modules/gw'));
  return { folder, bin: join(folder, 'node_modules/gw/dist/gw.js'), archive: join(folder, archive) };
}
