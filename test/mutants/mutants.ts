/**
 * Changes the product in one small place at a time and asks the tests: `npm run mutants`. A change that no test notices is a
 * survivor: code that nothing needs, or that nothing checks. Works in copies of the project; prints the survivors at the end.
 */
import { parseArgs } from 'node:util';
import { filesIn } from '../architecture/source.ts';
import { Dice } from '../kit/random.ts';
import { type Copy, copyProject } from './copy.ts';
import { measureCoverage } from './coverage.ts';
import { judge, ROUNDS, type Verdict } from './judge.ts';
import { Runs } from './run-tests.ts';
import { type Site, sitesOf } from './sites.ts';

const USAGE = `usage: mutants [--sites <number>] [--seed <number>] [--jobs <number>] [--minutes <number>] [--only <text>]...
  --sites    how many places to change (200)
  --seed     which of them (1)
  --jobs     how many at a time (2)
  --minutes  stop after this time, with what is known by then (120)
  --only     places whose line in the report, "path:line:column change", holds this text; several are alternatives
`;

/** Not part of what runs: it writes the shipped catalog. */
const LEFT_OUT = /^builtins\/catalog\/build\//;

interface Options {
  readonly sites: number;
  readonly seed: number;
  readonly jobs: number;
  readonly minutes: number;
  readonly only: readonly string[];
}

function readOptions(): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: { sites: text, seed: text, jobs: text, minutes: text, only: { ...text, multiple: true } },
  });
  const number = (name: 'sites' | 'seed' | 'jobs' | 'minutes', usual: number): number => {
    const value = Number(values[name] ?? usual);
    if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number above 0`);
    return value;
  };
  return {
    sites: number('sites', 200),
    seed: number('seed', 1),
    jobs: number('jobs', 2),
    minutes: number('minutes', 120),
    only: values.only ?? [],
  };
}

/** As many as are asked for, the same for the same seed. */
function choose({ sites: count, seed, only }: Options, copy: Copy): Site[] {
  const paths = filesIn('host', 'builtins').filter((path) => path.endsWith('.ts') && !LEFT_OUT.test(path));
  const isMeant = (site: Site): boolean => only.length === 0 || only.some((text) => describe(site).includes(text));
  const known = paths.flatMap((path) => sitesOf(path, copy.read(path))).filter(isMeant);
  const dice = new Dice(seed);
  const chosen: Site[] = [];
  while (chosen.length < count && known.length > 0) chosen.push(...known.splice(dice.below(known.length), 1));
  return chosen;
}

const describe = ({ path, line, column, what }: Site): string => `${path}:${line}:${column} ${what}`;

const inWords = ({ site, isKilled, isFinal, reason, ms }: Verdict): string =>
  `${isKilled ? 'killed  ' : isFinal ? 'SURVIVED' : 'passed  '} ${(ms / 1000).toFixed(1)} s ${describe(site)} (${reason})`;

async function main(): Promise<number> {
  const options = readOptions();
  const tell = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  const copies = Array.from({ length: options.jobs }, copyProject);
  const verdicts = new Map<Site, Verdict>();
  const runs = new Runs();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      report(verdicts, options.sites, copies[0], tell);
      runs.endAll();
      for (const copy of copies) copy.remove();
      process.exit(1);
    });
  try {
    const [first] = copies;
    if (!first) return 1;
    const sites = choose(options, first);
    const coverage = await measureCoverage(first, runs, options.jobs, tell);
    const end = performance.now() + options.minutes * 60_000;
    for (const sizes of ROUNDS) {
      const waiting = sites.filter((site) => !verdicts.get(site)?.isFinal);
      const { length: total } = waiting;
      await Promise.all(
        copies.map(async (copy) => {
          for (let site = waiting.shift(); site && performance.now() < end; site = waiting.shift()) {
            const verdict = await judge(site, { sizes, before: verdicts.get(site), copy, coverage, runs });
            verdicts.set(site, verdict);
            tell(`[${total - waiting.length}/${total}] ${inWords(verdict)}`);
          }
        }),
      );
    }
    report(verdicts, sites.length, first, tell);
    return 0;
  } finally {
    for (const copy of copies) copy.remove();
  }
}

function report(
  verdicts: ReadonlyMap<Site, Verdict>,
  total: number,
  copy: Copy | undefined,
  tell: (line: string) => void,
): void {
  const survivors = [...verdicts.values()].filter(({ isKilled }) => !isKilled);
  tell('');
  for (const { site, reason, isFinal } of survivors) {
    const line = copy?.read(site.path).split('\n')[site.line - 1]?.trim() ?? '';
    tell(
      `survivor: ${describe(site)} (${reason}${isFinal ? '' : ', more were not asked'})\n    ${line}\n    becomes: ${site.replacement}`,
    );
  }
  const killed = verdicts.size - survivors.length;
  const rate = verdicts.size === 0 ? 0 : (100 * killed) / verdicts.size;
  tell(
    `${killed} of ${verdicts.size} killed: ${rate.toFixed(1)} %${verdicts.size < total ? `; ${total - verdicts.size} were not tried` : ''}`,
  );
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`mutants: ${(error as Error).message}\n${USAGE}`);
  process.exitCode = 1;
}
