/**
 * `npm pack` runs this before it reads the files: the bundle and its declarations go to `dist/`, and for as long as npm packs, the package's own
 * `package.json` stands in the place of the checkout's. npm has no other way to give a package another manifest than its
 * repository's; `postpack` puts the checkout's back.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.ts';
import { licensesOf } from './licenses.ts';
import { packedManifest } from './manifest.ts';
import type { Lock } from './image/locked-packages.ts';
import { KEPT, MANIFEST, restoreManifest, ROOT, SHRINKWRAP } from './restore.ts';
import { sbomOf } from './sbom.ts';
import { shrinkwrapOf } from './shrinkwrap.ts';
import { writeTypes } from './types.ts';
import { warmCache } from './warm-cache.ts';

const DIST = join(ROOT, 'dist');

restoreManifest(); // a run before this one may have been interrupted
buildDashboard();
rmSync(DIST, { recursive: true, force: true });
const { inputs } = await bundle(ROOT, DIST);
writeTypes(ROOT, DIST);
for (const file of ['gw.js', 'compile-cache.js']) copyFileSync(join(ROOT, 'host', file), join(DIST, file));
for (const file of ['models.json', 'model-rules.json'])
  copyFileSync(join(ROOT, 'builtins/catalog', file), join(DIST, file));
writeFileSync(
  join(DIST, 'LICENSES.txt'),
  licensesOf(ROOT, Object.keys(inputs)) + readFileSync(join(ROOT, 'builtins/dashboard/dist/.vite/license.md'), 'utf8'),
);

const source = readFileSync(MANIFEST, 'utf8');
const built = new Date().toISOString();
const packed = packedManifest(JSON.parse(source) as Parameters<typeof packedManifest>[0], { commit: commit(), built });
const shrinkwrap = shrinkwrapOf(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock, packed);
mkdirSync(join(KEPT, '..'), { recursive: true });
writeFileSync(KEPT, source);
writeJson(MANIFEST, packed);
writeJson(SHRINKWRAP, shrinkwrap);
const { name, version } = packed;
writeJson(
  join(DIST, 'sbom.cdx.json'),
  sbomOf({ root: ROOT, name, version, built, inputs: Object.keys(inputs), installed: shrinkwrap.packages }),
);
try {
  await warmCache(DIST);
} catch (error) {
  restoreManifest(); // npm packs nothing after a failure, and would not run postpack
  throw error;
}

function writeJson(path: string, value: object): void {
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

function buildDashboard(): void {
  const { status } = spawnSync(process.execPath, [join(ROOT, 'build/dashboard.js')], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error('the dashboard could not be built');
}

function commit(): string {
  if (!existsSync(join(ROOT, '.git'))) return 'none';
  const { status, stdout } = spawnSync('git', ['-C', ROOT, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : 'none';
}
