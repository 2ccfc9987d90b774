import { setTimeout as sleep } from 'node:timers/promises';
import { type Naming, NAMINGS, type Shape } from './bodies.ts';
import { median } from './figures.ts';
import { asker, checkAnswer, type Setting, SETTLE_MS } from './measure.ts';
import type { Drive, Plan } from './options.ts';
import { formatTable } from './report.ts';
import type { RunningSubject, Subject } from './subjects.ts';
import { cpuMicroseconds } from './usage.ts';

/** CPU time per request of one subject, divided by that of another in the round beside it. */
export interface PairedRow {
  readonly shape: Shape;
  readonly naming: Naming;
  readonly subject: string;
  readonly against: string;
  /** Microseconds per request: the median over all rounds of all processes. */
  readonly cpu: number;
  readonly cpuAgainst: number;
  /** The mean over the processes of the median over their rounds. */
  readonly ratio: number;
  /** The standard error of that mean; `null` with one process. */
  readonly error: number | null;
  /** The median over the rounds of each pair of processes. */
  readonly ratios: readonly number[];
}

/** So many rounds are made of one: short ones lie closer together, and what slows the machine down meets both sides of a pair. */
const SHORTER = 5;

export function pairedPlan(plan: Plan, isQuick: boolean): Plan {
  if (isQuick) return plan;
  const load = Object.fromEntries(
    Object.entries(plan.load).map(([shape, drive]: [string, Drive]) => [
      shape,
      { ...drive, requests: drive.requests / SHORTER },
    ]),
  ) as Plan['load'];
  return { ...plan, load, warmUps: 3 * SHORTER, rounds: 6 * SHORTER };
}

/** The first subject is compared with each of the others. */
export async function measurePaired(
  setting: Setting,
  subjects: readonly Subject[],
  shapes: readonly Shape[],
): Promise<PairedRow[]> {
  const rows: PairedRow[] = [];
  for (const naming of NAMINGS) {
    for (const shape of shapes) rows.push(...(await measureShape(setting, subjects, shape, naming)));
  }
  return rows;
}

async function measureShape(
  setting: Setting,
  subjects: readonly Subject[],
  shape: Shape,
  naming: Naming,
): Promise<PairedRow[]> {
  const processes: number[][][] = []; // process, subject, round
  for (let count = 1; count <= setting.plan.processes; count += 1) {
    process.stderr.write(`measuring ${shape}, ${naming} model, processes ${count} of ${setting.plan.processes}\n`);
    processes.push(await measureProcesses(setting, subjects, shape, naming));
  }
  const cpuOf = (index: number): number => median(processes.flatMap((rounds) => rounds[index]!));
  return subjects.slice(1).map(({ name: against }, at) => {
    const ratios = processes.map((rounds) => median(rounds[0]!.map((cpu, round) => cpu / rounds[at + 1]![round]!)));
    return {
      shape,
      naming,
      subject: subjects[0]!.name,
      against,
      cpu: cpuOf(0),
      cpuAgainst: cpuOf(at + 1),
      ...meanOf(ratios),
      ratios,
    };
  });
}

/** CPU microseconds per request, of each subject in each round. */
async function measureProcesses(
  setting: Setting,
  subjects: readonly Subject[],
  shape: Shape,
  naming: Naming,
): Promise<number[][]> {
  const { plan, upstreams } = setting;
  const running: RunningSubject[] = [];
  for (const subject of subjects) running.push(await subject.start(upstreams.baseUrl(shape, naming)));
  for (const subject of running) await checkAnswer(subject, shape);
  const ask = asker(setting, shape);
  const figures = running.map((): number[] => []);
  for (let round = -plan.warmUps; round < plan.rounds; round += 1) {
    for (let turn = 0; turn < running.length; turn += 1) {
      const index = (turn + round + plan.warmUps) % running.length; // each is first in turn
      const before = cpuMicroseconds(running[index]!.pid);
      const { requests } = await ask('load', running[index]!);
      await sleep(SETTLE_MS);
      if (round >= 0) figures[index]!.push((cpuMicroseconds(running[index]!.pid) - before) / requests);
    }
  }
  for (const subject of running) await subject.stop();
  return figures;
}

function meanOf(ratios: readonly number[]): { ratio: number; error: number | null } {
  const count = ratios.length;
  const ratio = ratios.reduce((sum, one) => sum + one, 0) / count;
  const variance = ratios.reduce((sum, one) => sum + (one - ratio) ** 2, 0) / (count - 1);
  return { ratio, error: count > 1 ? Math.sqrt(variance / count) : null };
}

export function formatPaired(rows: readonly PairedRow[]): string {
  const head = [
    'shape',
    'model',
    'subject',
    'against',
    'CPU µs/req',
    'against',
    'ratio',
    '± (standard error)',
    'pairs of processes',
  ];
  const lines = rows.map(({ shape, naming, subject, against, cpu, cpuAgainst, ratio, error, ratios }) => [
    shape,
    naming,
    subject,
    against,
    cpu.toFixed(1),
    cpuAgainst.toFixed(1),
    ratio.toFixed(3),
    error === null ? '-' : error.toFixed(3),
    String(ratios.length),
  ]);
  return `${formatTable(head, lines).join('\n')}\n`;
}
