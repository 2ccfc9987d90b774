import type { Copy } from './copy.ts';
import { type Coverage, testsFor } from './coverage.ts';
import { type Runs, runTests } from './run-tests.ts';
import type { Site } from './sites.ts';

/**
 * Test files per run: few and likely at first, so that most changes are noticed soon. A survivor costs minutes when all that
 * may see it are asked, so the second round begins when every place had its first.
 */
export const ROUNDS: readonly (readonly number[])[] = [[3], [12], [Number.POSITIVE_INFINITY]];

/** A change may make a test wait for ever, and a busy machine makes it slower than it was when it was measured. */
const LIMIT_MS = 40_000;
const LIMIT_TIMES_USUAL = 3;

export interface Verdict {
  readonly site: Site;
  readonly isKilled: boolean;
  readonly reason: string;
  readonly ms: number;
  /** Test files that did not notice it. */
  readonly passed: number;
  /** Every test file that may notice it was asked. */
  readonly isFinal: boolean;
}

export interface Trial {
  /** Test files per run. */
  readonly sizes: readonly number[];
  /** What an earlier round found. */
  readonly before: Verdict | undefined;
  readonly copy: Copy;
  readonly coverage: Coverage;
  readonly runs: Runs;
}

/** Changes the place, and asks the tests until one fails. */
export async function judge(site: Site, { sizes, before, copy, coverage, runs }: Trial): Promise<Verdict> {
  const startedAt = performance.now();
  const files = testsFor(site, coverage, (path) => copy.read(path)).slice(before?.passed ?? 0);
  let passed = before?.passed ?? 0;
  const verdict = (isKilled: boolean, reason: string): Verdict => ({
    site,
    isKilled,
    reason,
    ms: performance.now() - startedAt,
    passed,
    isFinal: isKilled || files.length === 0,
  });
  const undo = copy.mutate(site);
  try {
    for (const size of sizes) {
      const batch = files.splice(0, size);
      if (batch.length === 0) break;
      const usualMs = batch.reduce((sum, file) => sum + (coverage[file]?.ms ?? 0), 0);
      const run = await runTests({
        folder: copy.folder,
        files: batch,
        limitMs: LIMIT_MS + LIMIT_TIMES_USUAL * usualMs,
        runs,
      });
      if (run.isLate) return verdict(true, 'it takes for ever');
      if (!run.isGreen) return verdict(true, run.failed ?? 'the tests cannot run');
      passed += batch.length;
    }
    return verdict(false, passed === 0 ? 'no test runs it' : `${passed} test files passed`);
  } finally {
    undo();
  }
}
