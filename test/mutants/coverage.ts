import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { filesIn, ROOT } from '../architecture/source.ts';
import type { Copy } from './copy.ts';
import { type Runs, runTests } from './run-tests.ts';
import type { Site } from './sites.ts';

const LIMIT_MS = 300_000;
const CACHE = join(tmpdir(), 'gw-mutants-coverage');

/** A stretch of a file, and whether it ran. Later ones lie inside earlier ones. */
type Range = readonly [start: number, end: number, ran: boolean];

const WHOLE: readonly Range[] = [[0, Number.POSITIVE_INFINITY, true]];

interface FileCoverage {
  /** Digest of the file as it was measured. */
  readonly hash: string;
  readonly ranges: readonly Range[];
  /** It was not only loaded: some function of it ran. */
  readonly isUsed: boolean;
}

/** What one test file runs in its own process. Gateways that it starts as processes are not seen. */
interface TestCoverage {
  readonly isGreen: boolean;
  readonly ms: number;
  readonly startsProcesses: boolean;
  readonly files: Readonly<Record<string, FileCoverage>>;
}

export type Coverage = Readonly<Record<string, TestCoverage>>;

export const testFiles = (): string[] =>
  globSync('test/**/*.test.ts', { cwd: ROOT })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted();

/**
 * Runs every test file once by itself, in the copy, and notes what it runs of the product. Cached until the test changes or the
 * product gains or loses a file: where a file of the product has changed since, a test that used it is taken to run all of it.
 */
export async function measureCoverage(
  copy: Copy,
  runs: Runs,
  jobs: number,
  tell: (line: string) => void,
): Promise<Coverage> {
  mkdirSync(CACHE, { recursive: true });
  const product = filesIn('host', 'builtins');
  const hashes = new Map(product.map((path) => [path, hashOf(copy.read(path))]));
  const coverage: Record<string, TestCoverage> = {};
  const waiting = testFiles();
  const { length: total } = waiting;
  const worker = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const cached = join(CACHE, `${hashOf([file, copy.read(file), ...product].join('\n'))}.json`);
      if (!existsSync(cached)) {
        const found = await coverageOf(copy, runs, file, hashes);
        const { isGreen, ms } = found;
        coverage[file] = found;
        if (isGreen) writeFileSync(cached, JSON.stringify(found)); // a busy machine may have failed it
        tell(
          `coverage ${total - waiting.length}/${total} ${(ms / 1000).toFixed(1)} s ${file}${isGreen ? '' : ': fails by itself, it is left out'}`,
        );
      } else coverage[file] = upToDate(JSON.parse(readFileSync(cached, 'utf8')) as TestCoverage, hashes);
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return coverage;
}

function upToDate(known: TestCoverage, hashes: ReadonlyMap<string, string>): TestCoverage {
  const files = Object.entries(known.files).map(([path, file]) => [
    path,
    file.hash === hashes.get(path) ? file : { ...file, ranges: WHOLE },
  ]);
  return { ...known, files: Object.fromEntries(files) as TestCoverage['files'] };
}

async function coverageOf(
  copy: Copy,
  runs: Runs,
  file: string,
  hashes: ReadonlyMap<string, string>,
): Promise<TestCoverage> {
  const reports = mkdtempSync(join(tmpdir(), 'gw-coverage-'));
  try {
    const { isGreen, ms } = await runTests({
      folder: copy.folder,
      files: [file],
      limitMs: LIMIT_MS,
      runs,
      variables: { NODE_V8_COVERAGE: reports },
    });
    return {
      isGreen,
      ms,
      startsProcesses: /\b(startGateway|runGw|withGateway|withVendors|spawn|spawnSync|startLab)\(/.test(
        copy.read(file),
      ),
      files: readReports(reports, copy.folder, hashes),
    };
  } finally {
    rmSync(reports, { recursive: true, force: true });
  }
}

interface V8Report {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly isBlockCoverage: boolean;
      readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
    }[];
  }[];
}

function readReports(
  reports: string,
  folder: string,
  hashes: ReadonlyMap<string, string>,
): Record<string, FileCoverage> {
  const root = pathToFileURL(`${folder}/`).href;
  const files: Record<string, { hash: string; ranges: Range[]; isUsed: boolean }> = {};
  for (const name of readdirSync(reports)) {
    for (const { url, functions } of readReport(join(reports, name))) {
      if (!url.startsWith(root) || !/^(host|builtins)\//.test(url.slice(root.length))) continue;
      const path = url.slice(root.length);
      const known = (files[path] ??= { hash: hashes.get(path) ?? '', ranges: [], isUsed: false });
      for (const [at, { ranges }] of functions.entries()) {
        if (at > 0 && (ranges[0]?.count ?? 0) > 0) known.isUsed = true; // the first one is the module itself
        for (const { startOffset, endOffset, count } of ranges) known.ranges.push([startOffset, endOffset, count > 0]);
      }
    }
  }
  return files;
}

/** A process that was killed while it wrote left half a report. */
function readReport(path: string): V8Report['result'] {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as V8Report).result;
  } catch {
    return [];
  }
}

/** Whether the innermost stretch around the place ran, in any of the reports. */
function ran({ ranges }: FileCoverage, place: number): boolean {
  let inner: Range | undefined;
  for (const range of ranges) {
    const [start, end] = range;
    if (start > place || end <= place) continue;
    const isInside = inner === undefined || end - start < inner[1] - inner[0];
    const isSame = inner !== undefined && end - start === inner[1] - inner[0];
    if (isInside || (isSame && range[2])) inner = range;
  }
  return inner?.[2] ?? false;
}

/**
 * Test files that can see a change, those first that are likely to and quick: those that run the changed place, and, of a
 * place that runs while the module loads, those that use the module. Last come those that start gateways as processes.
 * Likely are those named like the module, those that name it, and those of its area, in this order.
 */
export function testsFor(site: Site, coverage: Coverage, read: (path: string) => string): readonly string[] {
  const area = site.path.split('/').slice(0, -1).at(-1) ?? '';
  const name = (site.path.split('/').at(-1) ?? '').replace('.ts', '');
  const named = new RegExp(`\\b${name}\\b`, 'i');
  const rank = (file: string): number =>
    [file.includes(`/${name}`), named.test(read(file)), file.includes(`/${area}/`), true].indexOf(true);
  const entries = Object.entries(coverage).filter(([, { isGreen }]) => isGreen);
  const seen = entries.filter(([, { files }]) => {
    const file = files[site.path];
    return file !== undefined && file.isUsed && ran(file, site.start);
  });
  const outside = entries.filter(
    ([file, { startsProcesses }]) => startsProcesses && !seen.some(([known]) => known === file),
  );
  const sorted = (list: typeof entries): string[] => {
    const ranked = list.map(([file, { ms }]) => ({ file, ms, rank: rank(file) }));
    return ranked.toSorted((a, b) => a.rank - b.rank || a.ms - b.ms).map(({ file }) => file);
  };
  return [...sorted(seen), ...sorted(outside)];
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24);
