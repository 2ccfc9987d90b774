import type { SettingNote } from './setting-note.ts';
import type { Variables } from './variables.ts';

const MOST_WORKERS = 64;
/** More than that is only taken where it is asked for. */
const MOST_AUTOMATIC = 16;

/** How many processes serve: a number, or as many as the machine has room for. */
export type WorkerCount = number | 'auto';

/** Reads `GW_WORKERS`. What cannot be read stops the start: a typing error must not leave cores idle, or take all of them. */
export function readWorkers(variables: Variables, notes: SettingNote[]): WorkerCount {
  const text = variables['GW_WORKERS']?.trim() ?? '';
  if (text === '') return 1;
  if (text.toLowerCase() === 'auto') return 'auto';
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MOST_WORKERS) return count;
  notes.push({ level: 'fatal', message: `GW_WORKERS is "${text}"; set 1 to ${MOST_WORKERS}, or auto` });
  return 1;
}

export interface Machine {
  readonly os: string;
  /** Threads that may run at the same time, by the operating system and by the quota of its control group. */
  readonly parallelism: number;
}

/** How many there are on this machine. */
export function workersOn({ os, parallelism }: Machine, count: WorkerCount): number {
  if (os === 'win32') return 1;
  return count === 'auto' ? Math.max(1, Math.min(parallelism, MOST_AUTOMATIC)) : count;
}
