import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const MANIFEST = join(ROOT, 'package.json');
/** Where the checkout's manifest waits while npm packs. */
export const KEPT = join(ROOT, '.pack', 'package.json');

/** There while npm packs. */
export const SHRINKWRAP = join(ROOT, 'npm-shrinkwrap.json');

export function restoreManifest(): void {
  rmSync(SHRINKWRAP, { force: true });
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
}
