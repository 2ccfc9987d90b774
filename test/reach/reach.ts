import { basename, dirname } from 'node:path';
import { importsOf } from '../architecture/source.ts';
import { type Coverage, likelihood } from '../mutants/coverage.ts';

/** Milliseconds that the likeliest tests may take together, as they were measured; the first one runs whatever it takes. */
const SHORT_MS = 20_000;

export interface Sources {
  /** Every file of the product and of the tests. */
  readonly files: readonly string[];
  readonly read: (path: string) => string;
  /** The file behind a name of the package, such as `gw/contract`. */
  readonly named: Readonly<Record<string, string>>;
}

export interface Reached {
  /** Test files, the likeliest to notice a change first. */
  readonly tests: readonly string[];
  readonly by: 'coverage' | 'imports';
  /** How many reach the file. */
  readonly all: number;
}

const isTest = (path: string): boolean => path.endsWith('.test.ts');

/** The tests that reach a file: as measured where the map knows the file, else by imports and names. */
export function testsOf(path: string, sources: Sources, coverage: Coverage, isWhole: boolean): Reached {
  const known = Object.entries(coverage).filter(([, { isGreen, files }]) => isGreen && files[path]?.isUsed);
  if (known.length === 0) {
    const tests = testsByImports(path, sources);
    return { tests, by: 'imports', all: tests.length };
  }
  const rank = likelihood(path, sources.read);
  const ranked = known.map(([file, { ms }]) => ({ file, ms, rank: rank(file) }));
  const sorted = ranked.toSorted((a, b) => a.rank - b.rank || a.ms - b.ms);
  let spentMs = 0;
  const short = sorted.filter(({ ms }, at) => (spentMs += ms) <= SHORT_MS || at === 0);
  const chosen = (isWhole ? sorted : short).map(({ file }) => file);
  return { tests: [...new Set([...chosen, ...mirrored(path, sources)])], by: 'coverage', all: sorted.length };
}

/** Tests that import the file, and those named like it; where there are none, those that import what imports it, and so on. */
export function testsByImports(path: string, sources: Sources): string[] {
  const found = new Set(mirrored(path, sources));
  const seen = new Set([path]);
  for (let ring = [path]; ring.length > 0;) {
    const importers = new Set(ring.flatMap((file) => importersOf(file, sources)));
    for (const file of importers) if (isTest(file)) found.add(file);
    if (found.size > 0) break;
    ring = [...importers].filter((file) => !seen.has(file));
    for (const file of ring) seen.add(file);
  }
  return [...found].toSorted();
}

/** `test/<area>/<name>.test.ts` of `<root>/…/<area>/…/<name>.ts`, and of a folder's `index.ts` what is named like the folder. */
function mirrored(path: string, { files }: Sources): string[] {
  const folders = dirname(path).split('/');
  const own = basename(path).replace(/\.\w+$/, '');
  const name = own === 'index' ? (folders.at(-1) ?? own) : own;
  return files.filter((file) => {
    const [root, ...inside] = dirname(file).split('/');
    return (
      isTest(file) &&
      root === 'test' &&
      basename(file) === `${name}.test.ts` &&
      inside.every((folder) => folders.includes(folder))
    );
  });
}

function importersOf(path: string, { files, read, named }: Sources): string[] {
  const names = Object.keys(named).filter((name) => named[name] === path);
  const texts = [basename(path), ...names];
  return files.filter((file) => {
    const source = read(file);
    return (
      texts.some((text) => source.includes(text)) &&
      importsOf(file, source).some((imported) => imported.file === path || names.includes(imported.specifier ?? ''))
    );
  });
}
