import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';

/** Folder of the declarations in the package, and what of it each entry point of module authors is. */
export const TYPES = 'types';
export const DECLARATIONS = {
  '.': 'host/embed/create-gateway.d.ts',
  './contract': 'host/contract/index.d.ts',
  './common-wire': 'providers/_common/index.d.ts',
  './testing': 'host/testing/testing.d.ts',
} as const;

/**
 * Writes the declarations of the published entry points, and of what they name. They import `joi` and Node's types as the author's package has
 * them. The compiler writes those of every file that is loaded, if late; what no entry point names is left out.
 */
export function writeTypes(root: string, dist: string): void {
  const all = mkdtempSync(join(tmpdir(), 'gw-types-'));
  try {
    compile(root, all);
    for (const file of namedFrom(all, Object.values(DECLARATIONS))) {
      mkdirSync(dirname(join(dist, TYPES, file)), { recursive: true });
      copyFileSync(join(all, file), join(dist, TYPES, file));
    }
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}

/** A declaration names another one in an import, an export or a type. */
const NAMED = /\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g;

/** The declarations that these name, and those that they name, with themselves. */
function namedFrom(folder: string, entries: readonly string[]): ReadonlySet<string> {
  const named = new Set(entries);
  for (const file of named) {
    // those that are added are visited too
    for (const [, to = ''] of readFileSync(join(folder, file), 'utf8').matchAll(NAMED)) {
      const path = posix.join(posix.dirname(file), to.replace(/\.ts$/, '.d.ts'));
      if (existsSync(join(folder, path))) named.add(path); // an example in a comment may name what is not there
    }
  }
  return named;
}

function compile(root: string, folder: string): void {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const { status, stdout } = spawnSync(
    process.execPath,
    [compiler, '-p', join(root, 'build', 'tsconfig.types.json'), '--outDir', folder],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`the declarations could not be written:\n${stdout}`);
}
