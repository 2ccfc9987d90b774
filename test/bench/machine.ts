import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, release, totalmem, type } from 'node:os';
import { delimiter, join } from 'node:path';

/** What a run can use here. */
export interface Machine {
  readonly facts: Facts;
  /** Programs by path; those that are not here are missing. */
  readonly tools: Readonly<Partial<Record<Tool, string>>>;
  /** Goes before the command of a subject, and puts it on its core; empty where that cannot be done. */
  readonly pin: readonly string[];
}

export interface Facts {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly pinning: string;
}

export type Tool = 'wrk' | 'nginx' | 'taskset' | 'autocannon';

/** Looks around, and moves this process, with everything it starts later, away from the subjects' core. */
export function exploreMachine(): Machine {
  const tools: Partial<Record<Tool, string>> = {};
  for (const tool of ['wrk', 'nginx', 'taskset'] as const) {
    const path = findProgram(tool);
    if (path !== undefined) tools[tool] = path;
  }
  const autocannon = findAutocannon();
  if (autocannon !== undefined) tools.autocannon = autocannon;
  const pins = tools.taskset === undefined ? undefined : divideCores(tools.taskset);
  const facts = {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()} ${process.arch}`,
    node: process.version,
    pinning: pins === undefined ? 'none' : `subject on core ${pins.subject}, all else on ${pins.others.join(',')}`,
  };
  return {
    facts,
    tools,
    pin: pins === undefined || tools.taskset === undefined ? [] : [tools.taskset, '-c', String(pins.subject)],
  };
}

function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

function findAutocannon(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve('autocannon');
  } catch {
    return undefined;
  }
}

interface Pins {
  readonly subject: number;
  readonly others: readonly number[];
}

/** The last core that this process may use is the subjects'. Needs Linux and two cores. */
function divideCores(taskset: string): Pins | undefined {
  if (!existsSync('/proc/self/status')) return undefined;
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  const cores = list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_unused, index) => first + index);
  });
  const subject = cores.at(-1);
  const others = cores.slice(0, -1);
  if (subject === undefined || others.length === 0) return undefined;
  const moved = spawnSync(taskset, ['-acp', others.join(','), String(process.pid)], { stdio: 'ignore' });
  return moved.status === 0 ? { subject, others } : undefined;
}
