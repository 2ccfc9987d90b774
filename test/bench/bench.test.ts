import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { atEnd, temporaryFolder } from '../kit/index.ts';
import { NAMINGS } from './bodies.ts';
import { FIGURE_NAMES } from './figures.ts';
import type { Report } from './report.ts';

const BENCH = fileURLToPath(new URL('bench.ts', import.meta.url));
const SUBJECTS = ['floor', 'gw'];
/** The soak run measures them all. */
const SHAPE = 'unary';
const ROWS = NAMINGS.flatMap((naming) => SUBJECTS.map((subject) => `${SHAPE} ${naming} ${subject}`));
/** Noise can take the floor's added latency below zero; then there is no ratio to it. */
const NOISY = new Set(['addedP50', 'addedP99']);

interface BenchRun {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

/** Its temporary files go to a folder that the test can look into. */
function startBench(temporary: string, args: readonly string[]): BenchRun {
  const child = spawn(process.execPath, [BENCH, ...args], { env: { ...process.env, TMPDIR: temporary }, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => { stdout += text; });
  child.stderr.setEncoding('utf8').on('data', (text: string) => { stderr += text; });
  const exited = new Promise<number | null>((resolve) => { child.once('close', resolve); });
  atEnd(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  return { child, exited, stdout: () => stdout, stderr: () => stderr };
}

describe('npm run bench', function () {
  this.timeout(90_000);

  it('prints every figure of both model names, and leaves nothing behind', async () => {
    const [temporary, results] = [await temporaryFolder(), await temporaryFolder()];
    const file = join(results, 'figures.json');
    const { exited, stdout, stderr } = startBench(temporary, ['--quick', '--shape', SHAPE, '--resilience', '--json', file]);
    expect(await exited, stderr()).to.equal(0);
    expectTable(stdout());
    expectFigures(JSON.parse(await readFile(file, 'utf8')) as Report);
    expect(await readdir(temporary)).to.deep.equal([]);
  });

  it('takes its processes and files with it when it is interrupted', async () => {
    const temporary = join(await temporaryFolder(), 'tmp');
    await mkdir(temporary);
    const { child, exited } = startBench(temporary, ['--quick', '--shape', SHAPE]);
    await once(child.stderr!, 'data'); // it has begun to measure
    const children = processes().filter(({ parent }) => parent === child.pid).map(({ pid }) => pid);
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

function expectTable(text: string): void {
  const rows = text.split('\n').filter((line) => line.startsWith('| ')).map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));
  const [head, ...body] = rows;
  expect(head).to.have.lengthOf(3 + FIGURE_NAMES.length);
  expect(body.map(([shape, naming, subject]) => `${shape} ${naming} ${subject}`)).to.have.members(ROWS);
  for (const row of body) {
    expect(row).to.have.lengthOf(3 + FIGURE_NAMES.length);
    for (const cell of row.slice(3)) expect(cell).to.match(/^(-|-?[\d.]+ \((-|-?[\d.]+)\))$/);
  }
}

function expectFigures({ rows, facts, isQuick }: Report): void {
  expect(facts).to.include({ node: process.version });
  expect(isQuick).to.equal(true);
  expect(rows.map(({ shape, naming, subject }) => `${shape} ${naming} ${subject}`)).to.have.members(ROWS);
  for (const { shape, naming, subject, values, ratios } of rows) {
    for (const figure of FIGURE_NAMES) {
      const where = `${figure} of ${shape} ${naming} ${subject}`;
      if (figure === 'cpuPerChunk' && shape === 'unary') {
        expect(values[figure], where).to.equal(null);
        continue;
      }
      expect(values[figure], where).to.satisfy(Number.isFinite);
      if (!NOISY.has(figure)) expect(values[figure], where).to.be.above(0);
      if (!NOISY.has(figure) || ratios[figure] !== null) expect(ratios[figure], where).to.satisfy(Number.isFinite);
    }
  }
}

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

function processes(): ProcessEntry[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid=,stat='], { encoding: 'utf8' });
  return stdout.trim().split('\n').map((line) => {
    const [pid, parent, state = ''] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), state };
  });
}

/** Those that still run; a killed process may take a moment to go, and counts as gone although its parent did not collect its exit status. */
function survivors(pids: readonly number[]): number[] {
  let left = [...pids];
  for (let look = 0; left.length > 0 && look < 100; look += 1) {
    left = processes().filter(({ pid, state }) => pids.includes(pid) && !state.startsWith('Z')).map(({ pid }) => pid);
  }
  return left;
}
