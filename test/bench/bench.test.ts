import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { atEnd, temporaryFolder } from '../kit/index.ts';
import { readOptions } from './options.ts';

const BENCH = fileURLToPath(new URL('bench.ts', import.meta.url));
/** The soak run measures them all, and compares the figures. */
const SHAPE = 'unary';

interface BenchRun {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  readonly stderr: () => string;
}

/** Its temporary files go to a folder that the test can look into. */
function startBench(temporary: string, args: readonly string[]): BenchRun {
  const child = spawn(process.execPath, [BENCH, ...args], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stdout.resume();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exited = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  atEnd(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  return { child, exited, stderr: () => stderr };
}

describe('the options of npm run bench', () => {
  it('let one kind of run exclude the others, and a comparison in turns name what it compares with', () => {
    expect(() => readOptions(['--paired', '--start', '--against', 'HEAD'])).to.throw(
      '--start, --allocations, --telemetry and --paired exclude each other',
    );
    expect(() => readOptions(['--paired'])).to.throw(
      '--paired needs something to compare with: --against or --logging',
    );
    expect(() => readOptions(['--processes', '1.5'])).to.throw(
      '--processes is 1.5, and must be a whole number from 1 on',
    );
    expect(() => readOptions(['--shape', 'round'])).to.throw('no shape "round", known are: unary');
  });

  it('measure eight processes of each in turns, unless said, and one otherwise', () => {
    const processes = (...args: string[]): number => readOptions(args).plan.processes;
    expect([
      processes(),
      processes('--paired', '--logging'),
      processes('--paired', '--logging', '--quick'),
      processes('--paired', '--against', 'HEAD', '--processes', '3'),
    ]).to.deep.equal([1, 8, 1, 3]);
  });
});

describe('npm run bench', function () {
  this.timeout(90_000);

  it('takes its processes and files with it when it is interrupted', async () => {
    const temporary = join(await temporaryFolder(), 'tmp');
    await mkdir(temporary);
    const { child, exited } = startBench(temporary, ['--quick', '--shape', SHAPE]);
    await once(child.stderr!, 'data'); // it has begun to measure
    const children = processes()
      .filter(({ parent }) => parent === child.pid)
      .map(({ pid }) => pid);
    expect(children).to.have.length.above(1);
    child.kill('SIGINT');
    expect(await exited).to.equal(130);
    expect(survivors(children)).to.deep.equal([]);
    expect(await readdir(temporary)).to.deep.equal([]);
  });

  it('names what it does not know, and how it is used', async () => {
    const { exited, stderr } = startBench(await temporaryFolder(), ['--peer', 'nosuch']);
    expect(await exited).to.equal(1);
    expect(stderr()).to.include('no peer "nosuch"').and.to.include('usage: bench');
  });
});

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

function processes(): ProcessEntry[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid=,stat='], { encoding: 'utf8' });
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const [pid, parent, state = ''] = line.trim().split(/\s+/);
      return { pid: Number(pid), parent: Number(parent), state };
    });
}

/** Those that still run; a killed process may take a moment to go, and counts as gone although its parent did not collect its exit status. */
function survivors(pids: readonly number[]): number[] {
  let left = [...pids];
  for (let look = 0; left.length > 0 && look < 100; look += 1) {
    left = processes()
      .filter(({ pid, state }) => pids.includes(pid) && !state.startsWith('Z'))
      .map(({ pid }) => pid);
  }
  return left;
}
