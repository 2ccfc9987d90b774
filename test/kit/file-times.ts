import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { Context } from 'mocha';

/**
 * What each file of tests costs: `npm run test:times`. Counts CPU time, of the process that runs the file and of those that the file started and
 * that have ended, because on a busy machine only that can be compared. The processes of a parallel run leave a line for each file in one file.
 */
const VARIABLE = 'GW_TEST_TIMES';
const SHOWN = 40;

interface Cost {
  readonly file: string;
  readonly ownSeconds: number;
  readonly startedSeconds: number;
}

export function mochaGlobalSetup(): void {
  process.env[VARIABLE] = join(mkdtempSync(join(tmpdir(), 'gw-times-')), 'costs');
}

export function mochaGlobalTeardown(): void {
  const path = process.env[VARIABLE];
  if (path === undefined) return;
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  rmSync(dirname(path), { recursive: true });
  const costs = lines.map((line) => JSON.parse(line) as Cost).toSorted((one, other) => total(other) - total(one));
  const all = costs.reduce((sum, cost) => sum + total(cost), 0);
  process.stdout.write(`\n${all.toFixed(0)} s of CPU in ${costs.length} files; own, started processes:\n`);
  for (const { file, ownSeconds, startedSeconds } of costs.slice(0, SHOWN))
    process.stdout.write(`${ownSeconds.toFixed(1).padStart(7)} ${startedSeconds.toFixed(1).padStart(7)}  ${file}\n`);
}

const total = ({ ownSeconds, startedSeconds }: Cost): number => ownSeconds + startedSeconds;

let counted = 0;
let started = 0;

export const mochaHooks = {
  afterAll(this: Context): void {
    const path = process.env[VARIABLE];
    const file = this.test?.parent?.suites[0]?.file;
    if (path === undefined || file === undefined) return;
    const { user, system } = process.cpuUsage();
    const [own, children] = [(user + system) / 1e6, startedCpu()];
    const cost = { file: relative(process.cwd(), file), ownSeconds: own - counted, startedSeconds: children - started };
    [counted, started] = [own, children];
    appendFileSync(path, `${JSON.stringify(cost)}\n`);
  },
};

/** Seconds of CPU of processes that have ended, in the 14th and 15th field after the name in parentheses, in hundredths; 0 where there is no /proc. */
function startedCpu(): number {
  if (!existsSync('/proc/self/stat')) return 0;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
