/**
 * Runs the tests that reach some files: `npm run tests -- <file>...`. Which ones, the coverage map of the mutants knows, where
 * it is kept; otherwise imports and names say it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { filesIn, read, ROOT } from '../architecture/source.ts';
import { keptCoverage } from '../mutants/coverage.ts';
import { testsOf, type Sources } from './reach.ts';

const USAGE = `usage: npm run tests -- [--all] [--list] <file>...
  --all   of the tests that the coverage map names all, not only the likeliest that take seconds
  --list  print the test files, and run none
`;
const NO_MAP = `no coverage map is kept for it, so imports and names chose; "npm run mutants" measures the map`;

function sourcesOfProject(): Sources {
  const texts = new Map<string, string>();
  const cached = (path: string): string => texts.getOrInsertComputed(path, read);
  const { exports } = JSON.parse(read('package.json')) as { readonly exports: Readonly<Record<string, string>> };
  const named = Object.entries(exports).map(([name, path]) => [`gw${name.slice(1)}`, path.slice(2)]);
  return {
    files: filesIn('build', 'builtins', 'host', 'plugins', 'providers', 'strategies', 'test'),
    read: cached,
    named: Object.fromEntries(named) as Sources['named'],
  };
}

function main(): number {
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parseArgs({ options: { all: flag, list: flag }, allowPositionals: true });
  if (positionals.length === 0) throw new Error('name at least one file');
  const paths = positionals.map((given) => relative(ROOT, resolve(given)).replaceAll('\\', '/'));
  const sources = sourcesOfProject();
  const coverage = keptCoverage(sources.read);
  const chosen = new Set<string>();
  for (const path of paths) {
    if (path.startsWith('../') || !existsSync(join(ROOT, path)))
      throw new Error(`${path} is not a file of this project`);
    if (path.endsWith('.test.ts')) chosen.add(path);
    else {
      const { tests, by, all } = testsOf(path, sources, coverage, values.all);
      if (tests.length === 0) throw new Error(`no test imports ${path}, or what imports it, or is named like it`);
      process.stdout.write(
        `${path}: ${tests.length} test files; ${by === 'imports' ? NO_MAP : `of ${all} that run it, by the coverage map`}\n`,
      );
      for (const test of tests) chosen.add(test);
    }
  }
  if (values.list) {
    process.stdout.write(`${[...chosen].join('\n')}\n`);
    return 0;
  }
  const mocha = join(ROOT, 'node_modules/mocha/bin/mocha.js');
  return spawnSync(process.execPath, [mocha, ...chosen], { cwd: ROOT, stdio: 'inherit' }).status ?? 1;
}

try {
  process.exitCode = main();
} catch (error) {
  process.stderr.write(`tests: ${(error as Error).message}\n${USAGE}`);
  process.exitCode = 1;
}
