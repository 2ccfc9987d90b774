import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../build/bundle.ts';
import { packedManifest } from '../../build/manifest.ts';
import { warmCache } from '../../build/warm-cache.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The gateway of this checkout as the package has it: one bundle, with its compiled code. Lies in a folder of its own. */
export interface Bundled {
  readonly bin: string;
  remove(): void;
}

/**
 * Bundles the gateway for the processes that the files of a parallel run start: of a bundle a start takes two thirds of the CPU time. Everything but the
 * code is the checkout's: version, dependencies, dashboard.
 */
export async function bundleGateway(): Promise<Bundled> {
  removeAbandoned(tmpdir());
  const folder = mkdtempSync(join(tmpdir(), `gw-bundle-${process.pid}-`));
  const dist = join(folder, 'dist');
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    await bundle(ROOT, dist);
    for (const file of ['gw.js', 'compile-cache.js']) copyFileSync(join(ROOT, 'host', file), join(dist, file));
    for (const file of ['models.json', 'model-rules.json'])
      copyFileSync(join(ROOT, 'builtins/catalog', file), join(dist, file));
    for (const name of ['node_modules', 'builtins']) symlinkSync(join(ROOT, name), join(folder, name), 'dir');
    writeFileSync(join(folder, 'package.json'), manifest());
    await warmCache(dist);
  } catch (error) {
    remove();
    throw error;
  }
  return { bin: join(dist, 'gw.js'), remove };
}

/** Removes the bundles of runs that a signal has ended: nothing of such a run removes its own. */
export function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = /^gw-bundle-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && hasGone(Number(pid))) rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function hasGone(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'; // one of another user is there
  }
}

/** That of the package, without the stamp of a build. */
function manifest(): string {
  const source = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Parameters<typeof packedManifest>[0];
  return JSON.stringify({ ...packedManifest(source, { commit: '', built: '' }), gw: undefined });
}
