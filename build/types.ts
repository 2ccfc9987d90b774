import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Folder of the declarations in the package, and what of it each entry point of module authors is. */
export const TYPES = 'types';
export const DECLARATIONS = {
  './contract': 'host/contract/index.d.ts',
  './common-wire': 'providers/_common/index.d.ts',
  './testing': 'host/testing/testing.d.ts',
} as const;

/** Writes the declarations of the published entry points. They import `joi` and Node's types as the author's package has them. */
export function writeTypes(root: string, dist: string): void {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const { status, stdout } = spawnSync(
    process.execPath,
    [compiler, '-p', join(root, 'build', 'tsconfig.types.json'), '--outDir', join(dist, TYPES)],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`the declarations could not be written:\n${stdout}`);
}
