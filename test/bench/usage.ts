/** What a process has used so far, as the operating system counts it. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Linux gives /proc its times in hundredths of a second, whatever the kernel's own tick (man 5 proc, sysconf _SC_CLK_TCK). */
const MICROSECONDS_PER_TICK = 10_000;
const hasProc = existsSync('/proc/self/stat');
const countsThreads = existsSync('/proc/self/schedstat');

/** User and system time of all its threads; of those that have ended only where the system does not count threads by the nanosecond. */
export function cpuMicroseconds(pid: number): number {
  if (!hasProc) return parsePsTime(ps(pid, 'time'));
  if (countsThreads)
    return readdirSync(`/proc/${pid}/task`).reduce(
      (sum, thread) => sum + threadMicroseconds(`/proc/${pid}/task/${thread}/schedstat`),
      0,
    );
  // The name, in parentheses, may hold anything; utime and stime are fields 14 and 15, the twelfth and thirteenth after it.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MICROSECONDS_PER_TICK;
}

/** The first number is the time on a processor in nanoseconds (Linux, Documentation/scheduler/sched-stats.rst). */
function threadMicroseconds(file: string): number {
  return Number.parseInt(readFileSync(file, 'utf8'), 10) / 1000;
}

/** Memory in use now, in MB. */
export function residentMb(pid: number): number {
  return hasProc ? statusKb(pid, 'VmRSS') / 1024 : Number(ps(pid, 'rss')) / 1024;
}

/** The most memory it ever had, in MB; where the system does not say, what it has now. */
export function peakResidentMb(pid: number): number {
  return hasProc ? statusKb(pid, 'VmHWM') / 1024 : residentMb(pid);
}

function statusKb(pid: number, field: string): number {
  return Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

function ps(pid: number, field: string): string {
  return spawnSync('ps', ['-o', `${field}=`, '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
}

/** `[[days-]hours:]minutes:seconds[.hundredths]` as microseconds. */
function parsePsTime(text: string): number {
  const [clock = '', days = '0'] = text.split('-').toReversed();
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1_000_000;
}
