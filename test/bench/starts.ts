import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { packCopy } from '../build/pack-copy.ts';
import { median } from './figures.ts';
import { formatTable } from './report.ts';
import { type Bench, gateway, PROJECT, type Subject } from './subjects.ts';
import { cpuMicroseconds } from './usage.ts';
import { outputOf } from './workspace.ts';

/** Address of an upstream that no start asks. */
const NO_UPSTREAM = 'http://127.0.0.1:9/v1';

export interface StartRow {
  readonly subject: string;
  /** From the start of the process to the first 200 of `/livez`. */
  readonly readyMs: number;
  /** User and system time of the process until then. */
  readonly cpuMs: number;
}

export interface PhaseRow {
  readonly phase: string;
  readonly wallMs: number;
  readonly cpuMs: number;
}

export interface StartReport {
  readonly starts: readonly StartRow[];
  readonly phases: readonly PhaseRow[];
}

/** The checkout, its package, and earlier states: each started once to fill its compile cache, then `count` times in turns. */
export async function measureStarts(bench: Bench, earlier: readonly Subject[], count: number): Promise<StartReport> {
  const subjects = [...earlier, gateway(bench, 'gw', PROJECT), await packed(bench)];
  const samples = subjects.map(() => ({ readyMs: [] as number[], cpuMs: [] as number[] }));
  for (let round = 0; round <= count; round += 1) {
    for (let index = 0; index < subjects.length; index += 1) {
      const turn = (index + round) % subjects.length; // each is first in turn
      const running = await subjects[turn]!.start(NO_UPSTREAM);
      const cpuMs = cpuMicroseconds(running.pid) / 1000;
      await running.stop();
      if (round === 0) continue;
      samples[turn]!.readyMs.push(running.readyMs);
      samples[turn]!.cpuMs.push(cpuMs);
    }
  }
  const starts = subjects.map(({ name }, index) => ({
    subject: name,
    readyMs: median(samples[index]!.readyMs),
    cpuMs: median(samples[index]!.cpuMs),
  }));
  return { starts, phases: await measurePhases(bench, count) };
}

/** The package as npm installs it. Its compile cache is the one the gateway is given here, so that all subjects have one alike. */
async function packed(bench: Bench): Promise<Subject> {
  const [checkout, folder] = [join(bench.workspace.folder, 'checkout'), join(bench.workspace.folder, 'installed')];
  for (const path of [checkout, folder]) mkdirSync(path);
  process.stderr.write('packing this checkout\n');
  await packCopy(checkout, folder);
  return gateway(bench, 'gw (package)', join(folder, 'node_modules/gw'), { bin: 'dist/gw.js' });
}

/** Phases of a start of the checkout, each start in a process of its own; the first fills the compile cache. */
async function measurePhases({ workspace, machine }: Bench, count: number): Promise<PhaseRow[]> {
  const command = [...machine.pin, process.execPath, join(PROJECT, 'test/bench/phases.ts')];
  const variables = { NODE_COMPILE_CACHE: join(workspace.folder, 'phases-cache') };
  const runs: PhaseRow[][] = [];
  for (let round = 0; round <= count; round += 1) {
    const output = await outputOf(
      workspace.start(command, { cwd: workspace.folder, variables, stdout: 'pipe' }),
      command,
    );
    if (round > 0) runs.push(JSON.parse(output) as PhaseRow[]);
  }
  return (runs[0] ?? []).map(({ phase }, index) => ({
    phase,
    wallMs: median(runs.map((run) => run[index]!.wallMs)),
    cpuMs: median(runs.map((run) => run[index]!.cpuMs)),
  }));
}

/** Ratios are to the first subject: the first state named with `--against`, else the checkout. */
export function formatStarts({ starts, phases }: StartReport): string {
  const base = starts[0]!;
  const cell = (value: number, unit: number): string => `${value.toFixed(0)} (${(value / unit).toFixed(2)})`;
  const rows = starts.map(({ subject, readyMs, cpuMs }) => [
    subject,
    cell(readyMs, base.readyMs),
    cell(cpuMs, base.cpuMs),
  ]);
  const steps = phases.map(({ phase, wallMs, cpuMs }) => [phase, wallMs.toFixed(1), cpuMs.toFixed(1)]);
  return `${[...formatTable(['subject', 'ready ms', 'CPU ms'], rows), '', ...formatTable(['phase, from the checkout', 'ms', 'CPU ms'], steps)].join('\n')}\n`;
}
