import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';

export interface TestRun {
  readonly isGreen: boolean;
  /** It took longer than it may, and was killed. */
  readonly isLate: boolean;
  readonly ms: number;
  /** The first test that failed, if the runner could still say. */
  readonly failed: string | undefined;
}

export interface TestRunOptions {
  readonly folder: string;
  readonly files: readonly string[];
  readonly limitMs: number;
  readonly runs: Runs;
  readonly variables?: Readonly<Record<string, string>>;
}

/** Others work on this machine too. */
const NICE = 10;

/** What runs now, by the leader of its group; ended with this process. */
export class Runs {
  readonly #leaders = new Set<number>();

  begin(pid: number | undefined): void {
    if (pid !== undefined) this.#leaders.add(pid);
  }

  /** Ends what is left of a run, gateways that its tests have started included. */
  end(pid: number | undefined): void {
    if (pid === undefined || !this.#leaders.delete(pid)) return;
    killGroup(pid);
  }

  endAll(): void {
    for (const pid of this.#leaders) this.end(pid);
  }
}

/** Runs test files in a process of their own, up to the first failure. */
export function runTests({ folder, files, limitMs, runs, variables = {} }: TestRunOptions): Promise<TestRun> {
  const { promise, resolve } = Promise.withResolvers<TestRun>();
  const startedAt = performance.now();
  const { PATH, HOME, TMPDIR } = process.env;
  const args = [join(folder, 'node_modules/mocha/bin/mocha.js'), '--bail', '--reporter', 'dot', '--no-color', ...files];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH, HOME, TMPDIR, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  runs.begin(child.pid);
  if (child.pid !== undefined) setPriority(child.pid, NICE);
  let output = '';
  const keep = (text: string): void => {
    output = (output + text).slice(-20_000);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    runs.end(child.pid);
  }, limitMs);
  child.on('close', (exitCode) => {
    clearTimeout(timer);
    runs.end(child.pid);
    resolve({ isGreen: exitCode === 0, isLate, ms: performance.now() - startedAt, failed: firstFailure(output) });
  });
  return promise;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // the group has ended already
  }
}

/** Title of the first failure in the runner's report. */
function firstFailure(output: string): string | undefined {
  const [, report = ''] = /\n {2}1\) ([\s\S]*?):\n/.exec(output) ?? [];
  return report === ''
    ? undefined
    : report
        .split('\n')
        .map((line) => line.trim())
        .join(' ');
}
