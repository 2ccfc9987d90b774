/**
 * Changes the product in one small place at a time and asks the tests: `npm run mutants`. A change that no test notices is a
 * survivor: code that nothing needs, or that nothing checks. Works in copies of the project; prints the survivors at the end.
 */
import { parseArgs } from 'node:util';
import { filesIn } from '../architecture/source.ts';
import { Dice } from '../kit/random.ts';
import { type Copy, copyProject } from './copy.ts';
import { type Coverage, measureCoverage, testsFor } from './coverage.ts';
import { Runs, runTests } from './run-tests.ts';
import { type Site, sitesOf } from './sites.ts';

const USAGE = `usage: mutants [--sites <number>] [--seed <number>] [--jobs <number>] [--minutes <number>] [--only <text>]
  --sites    how many places to change (200)
  --seed     which of them (1)
  --jobs     how many at a time (2)
  --minutes  stop after this time, with what is known by then (120)
  --only     places in files whose path holds this text
`;

/** Not part of what runs: it writes the shipped catalog. */
const LEFT_OUT = /^builtins\/catalog\/build\//;

/** Test files per run: few and likely at first, so that most changes are noticed soon. */
const BATCHES = [6, 30, Number.POSITIVE_INFINITY] as const;

/** A change may make a test wait for ever; some tests take a minute on a busy machine. */
const LIMIT_MS = 120_000;
const LIMIT_PER_FILE_MS = 20_000;

interface Verdict {
  readonly site: Site;
  readonly isKilled: boolean;
  readonly told: string;
  readonly ms: number;
}

interface Options {
  readonly sites: number;
  readonly seed: number;
  readonly jobs: number;
  readonly minutes: number;
  readonly only: string;
}

function readOptions(): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { sites: text, seed: text, jobs: text, minutes: text, only: text } });
  const number = (name: 'sites' | 'seed' | 'jobs' | 'minutes', usual: number): number => {
    const value = Number(values[name] ?? usual);
    if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number above 0`);
    return value;
  };
  return { sites: number('sites', 200), seed: number('seed', 1), jobs: number('jobs', 2), minutes: number('minutes', 120), only: values.only ?? '' };
}

/** As many as are asked for, the same for the same seed. */
function choose({ sites: count, seed, only }: Options, copy: Copy): Site[] {
  const paths = filesIn('host', 'builtins').filter((path) => path.endsWith('.ts') && !LEFT_OUT.test(path) && path.includes(only));
  const known = paths.flatMap((path) => sitesOf(path, copy.read(path)));
  const dice = new Dice(seed);
  const chosen: Site[] = [];
  while (chosen.length < count && known.length > 0) chosen.push(...known.splice(dice.below(known.length), 1));
  return chosen;
}

async function judge(site: Site, copy: Copy, coverage: Coverage, runs: Runs): Promise<Verdict> {
  const startedAt = performance.now();
  const verdict = (isKilled: boolean, told: string): Verdict => ({ site, isKilled, told, ms: performance.now() - startedAt });
  const files = [...testsFor(site, coverage)];
  if (files.length === 0) return verdict(false, 'no test runs it');
  const undo = copy.mutate(site);
  try {
    for (const size of BATCHES) {
      const batch = files.splice(0, size);
      if (batch.length === 0) break;
      const run = await runTests({ folder: copy.folder, files: batch, limitMs: LIMIT_MS + batch.length * LIMIT_PER_FILE_MS, runs });
      if (run.isLate) return verdict(true, 'it takes for ever');
      if (!run.isGreen) return verdict(true, run.failed ?? 'the tests cannot run');
    }
    return verdict(false, '');
  } finally {
    undo();
  }
}

const describe = ({ path, line, what }: Site): string => `${path}:${line} ${what}`;

async function main(): Promise<number> {
  const options = readOptions();
  const tell = (line: string): void => { process.stdout.write(`${line}\n`); };
  const copies = Array.from({ length: options.jobs }, copyProject);
  const verdicts: Verdict[] = [];
  const runs = new Runs();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => {
    report(verdicts, options.sites, copies[0], tell);
    runs.endAll();
    for (const copy of copies) copy.remove();
    process.exit(1);
  });
  try {
    const [first] = copies;
    if (!first) return 1;
    const waiting = choose(options, first);
    const coverage = await measureCoverage(first, runs, options.jobs, tell);
    const { length: total } = waiting;
    const end = performance.now() + options.minutes * 60_000;
    await Promise.all(copies.map(async (copy) => {
      for (let site = waiting.shift(); site && performance.now() < end; site = waiting.shift()) {
        const verdict = await judge(site, copy, coverage, runs);
        verdicts.push(verdict);
        tell(`[${verdicts.length}/${total}] ${verdict.isKilled ? 'killed  ' : 'SURVIVED'} ${(verdict.ms / 1000).toFixed(1)} s ${describe(site)}${verdict.told === '' ? '' : ` (${verdict.told})`}`);
      }
    }));
    report(verdicts, total, first, tell);
    return 0;
  } finally {
    for (const copy of copies) copy.remove();
  }
}

function report(verdicts: readonly Verdict[], total: number, copy: Copy | undefined, tell: (line: string) => void): void {
  const killed = verdicts.filter(({ isKilled }) => isKilled).length;
  tell('');
  for (const { site, told } of verdicts.filter(({ isKilled }) => !isKilled)) {
    const line = copy?.read(site.path).split('\n')[site.line - 1]?.trim() ?? '';
    tell(`survivor: ${describe(site)}${told === '' ? '' : ` (${told})`}\n    ${line}\n    becomes: ${site.replacement}`);
  }
  const rate = verdicts.length === 0 ? 0 : (100 * killed) / verdicts.length;
  tell(`${killed} of ${verdicts.length} killed: ${rate.toFixed(1)} %${verdicts.length < total ? `; ${total - verdicts.length} were not tried` : ''}`);
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`mutants: ${(error as Error).message}\n${USAGE}`);
  process.exitCode = 1;
}
